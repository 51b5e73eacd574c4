// Package workload holds what a release asks for, before anything is decided: its
// tables with their cells, the parts that figures beside counts rest on, the
// columns as chains of levels, and how far one unit can move each answer.
//
// It reads the spec alone. It neither divides a budget nor chooses a mechanism:
// package optimise does, and package planner puts both together. What it returns is
// the same for the same spec, and is shared: nobody writes to it once it is made.
package workload
