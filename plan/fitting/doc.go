// Package fitting works out in which order the published counts of one confidential table are made to add up, if the
// spec asks for consistent integers.
//
// It owns that order: which margins two tables share, which of them are fixed before which, and what public figures
// decide. Package synth fits the counts along its steps.
//
// It reads a plan, and never sees a count.
package fitting
