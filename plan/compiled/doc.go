// Package compiled holds what follows from a plan and is read-only: how its tables
// are put together from the measurements (estimates), with which weights a sum of
// cells rests on each noisy integer (bearings), the laws of their errors, and
// whether the parts of a plan that was read fit together.
//
// Nothing here is decided: the same plan gives the same values. The package never
// plans and never sees a count.
package compiled
