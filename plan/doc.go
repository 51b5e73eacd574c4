// Package plan holds a plan as data: which integer queries are asked of the confidential tables, which exact noise
// each answer gets, what that costs, and how accurate every published cell will be.
//
// It owns [Plan], which package planner writes once and everything after it reads. Its canonical bytes are plan.json,
// and their SHA-256 is the hash that debits, noise and published files are bound to. [Measurement] is the one
// currency that kernels, noise, accounting, estimation and report meet in; [Synthetic] fixes what may be measured for
// microdata if that is chosen from the answers so far.
//
// It never plans and never verifies: [Read] decodes a plan.json, package compiled checks that its parts fit together,
// and package planner that it is what its spec leads to.
package plan
