// Package workload holds what a release asks for, before anything is decided.
//
// It owns the tables of a release with their cells, the parts that figures beside counts rest on, the columns as
// chains of levels, and how far one unit can move each answer. What it returns is the same for the same spec, and is
// shared: nobody writes to it once it is made.
//
// It reads the spec alone. It never divides a budget and never chooses a mechanism: package optimise does, and
// package planner puts both together.
package workload
