package report

// This file holds the hazards: the ways in which differential privacy goes wrong in practice, each with the release's
// answer.

import "slices"

// Hazard is one hazard with its answer. The list follows the subjects of NIST SP 800-226, "Guidelines for Evaluating
// Differential Privacy Guarantees" (2025), in our own words.
type Hazard struct {
	Hazard     string   `json:"hazard"`
	Answer     string   `json:"answer"`
	AnsweredBy Answerer `json:"by"`
}

// Answerer says who answers for a hazard.
type Answerer string

const (
	// AnsweredByPlan is answered by the plan and the program.
	AnsweredByPlan Answerer = "met"
	// LeftToOffice is answered by how the office works, which a release cannot show.
	LeftToOffice Answerer = "office"
	// LeftToApprovers is left to those who approve or read the release.
	LeftToApprovers Answerer = "weigh"
)

// Weighed returns the hazards that are left to those who approve or read the release.
func (c Certificate) Weighed() []Hazard {
	return slices.DeleteFunc(slices.Clone(c.Hazards), func(h Hazard) bool { return h.AnsweredBy != LeftToApprovers })
}
