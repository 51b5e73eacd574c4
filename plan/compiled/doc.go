// Package compiled holds a plan with what follows from it, read-only.
//
// It owns how the plan's tables are put together from the measurements (estimates), with which weights a sum of cells
// rests on each noisy integer (bearings), the laws of their errors, and whether the parts of a plan that was read fit
// together.
//
// It never decides anything: the same plan gives the same values. It never plans and never sees a count.
package compiled
