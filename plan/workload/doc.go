// Package workload holds what a release asks for, before anything is decided.
//
// It owns the tables of a release with their cells, the parts that figures other than counts are computed from, the
// columns as chains of levels, and how much one unit contributes to each answer. Its results depend on the spec only,
// and are shared: nobody writes to them once they are made.
//
// It reads the spec only. It never divides a budget and never chooses a mechanism: package optimise does, and package
// planner combines both.
package workload
