// Package compiled holds a plan with what follows from it, read-only.
//
// It owns how the plan's tables are estimated from the measurements, the weights of a sum of cells on each noisy
// integer (contributions), the laws of their errors, and whether the parts of a plan that was read fit together.
//
// It never decides anything: the same plan gives the same values. It never plans and never sees a count.
package compiled
