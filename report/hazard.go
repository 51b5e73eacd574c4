package report

// This file holds the hazards: the ways in which differential privacy goes wrong in practice, each with the release's
// answer.

import "slices"

// Hazard is one hazard with its answer. The list follows the subjects of NIST SP 800-226, "Guidelines for Evaluating
// Differential Privacy Guarantees" (2025), in our own words.
type Hazard struct {
	Hazard string `json:"hazard"`
	Answer string `json:"answer"`
	By     By     `json:"by"`
}

// By says who answers for a hazard.
type By string

const (
	// Met is answered by the plan and the program.
	Met By = "met"
	// Office is answered by how the office works, which a release cannot show.
	Office By = "office"
	// Weigh is left to those who approve or read the release.
	Weigh By = "weigh"
)

// Weighed returns the hazards that are left to those who approve or read the release.
func (c Certificate) Weighed() []Hazard {
	return slices.DeleteFunc(slices.Clone(c.Hazards), func(h Hazard) bool { return h.By != Weigh })
}
