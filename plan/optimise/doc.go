// Package optimise turns a workload into designs, and divides the budget among them.
//
// It owns the choice of a design: which tables are measured by themselves, what several tables share and is measured
// once, which kind of noise each group gets, and which part of its leaf each group gets. Its results depend on the
// release and its workload alone.
//
// It never sees data, and never promises an error: it predicts errors in order to compare designs. Package planner
// promises errors, from the measurements as they are written into the plan.
package optimise
