// Package optimise turns a workload into designs, and divides the budget among
// them: which tables are measured by themselves, what several tables share and is
// measured once, which kind of noise each group gets, and which part of its leaf.
//
// It is pure: what it returns depends on the release and its workload alone. It
// predicts errors in order to compare designs, and promises none: package planner
// does, from the measurements as they are written into the plan.
package optimise
