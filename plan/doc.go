// Package plan turns a release spec into a plan: which integer queries are
// asked of the confidential tables, which exact noise each answer gets, what
// that costs, and how good every published cell will be.
//
// The package reads public things only (the spec and its code books). It never
// sees a confidential byte, and nothing that it writes depends on the machine:
// the same spec gives the same plan.json, byte for byte, everywhere. It hands
// out [Measurement], the one currency that kernels, noise, accounting,
// estimation and report meet in, and [Synthetic], which fixes for microdata what
// may be measured where that is chosen from the answers so far.
//
// Use [New] to plan a release, [Read] to load a plan that somebody made, and
// [Plan.Verify] before confidential data is touched on the strength of one.
package plan
