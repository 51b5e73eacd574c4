// Package planner makes plans. [New] plans a release: it works out the workload,
// has it divided into designs, predicts how good each published cell will be, and
// says what the whole guarantees. [Load] does so for a spec on the disk. [Read] and
// [Verify] plan the spec inside a plan again, and fail on a plan that is not what
// its spec leads to.
//
// The package reads public things only: the spec and its public files. Nothing that
// it makes depends on the machine: the same spec gives the same plan.json, byte for
// byte, everywhere.
package planner
