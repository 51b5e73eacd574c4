// Package fitting works out in which order the published counts of one
// confidential table are made to add up, where the spec asks for consistent
// integers: which margins two tables share, which of them are fixed before which,
// and what public figures decide.
//
// It sees a plan and no counts; package synth fits counts along the steps.
package fitting
