// Package planner makes plans.
//
// It owns the way from a spec to its plan. [New] plans a release: it works out the workload, has it divided into
// designs, predicts the accuracy of each published cell, and states what the whole guarantees. [Load] does so for a
// spec on the disk. [Read] and [Verify] plan the spec inside a plan again, and return an error for a plan that is not
// what its spec leads to.
//
// It never reads a confidential byte: it sees the spec and its public files. It never depends on the machine: the
// same spec gives the same plan.json, byte for byte, everywhere.
package planner
