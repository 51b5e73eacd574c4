package notes

// This file says what a report states about a secret sample of the units.

import (
	"fmt"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
)

// sampleSentence says that only a sample of the units is measured, "" if all are.
func sampleSentence(p *plan.Plan) string {
	if !p.Sample.Partial() {
		return ""
	}
	return fmt.Sprintf("Each %s was measured with a probability of %s alone, drawn in secret, once for the whole release: who was drawn, and how many were, is in no file and is erased.%s",
		p.Guarantee.Protects, shareOf(p),
		words.When(p.Cost.Rho != nil,
			" The account counts in ρ, which a sample does not lessen, and is charged for those who were drawn."))
}

// sampleNote says that the errors include the sampling error.
func sampleNote(p *plan.Plan) []report.Note {
	if !p.Sample.Partial() {
		return nil
	}
	return []report.Note{{Heading: "Intervals include the error of a secret sample",
		Text: fmt.Sprintf("Counts are of %s of the units, drawn at random and in secret, and are divided by that share. The standard errors and intervals here are those of the noise and of this draw together. They are approximate where a cell has few rows, and say nothing of how the data themselves were collected.",
			shareOf(p))}}
}

// includeSampling states that the errors of a release include both noise and sampling.
func includeSampling(a *report.Accuracy, p *plan.Plan) {
	if !p.Sample.Partial() {
		return
	}
	a.Sentence = strings.Replace(a.Sentence, "at least ", "about ", 1)
	a.Sentence = strings.Replace(a.Sentence, "before sampling and response error",
		"before what sampling error the data themselves have and response error", 1)
	a.More = append(a.More, fmt.Sprintf(
		"These errors are of the noise and of the secret sample of %s of the units together; large counts have larger ones, and the margin is that of the largest.",
		shareOf(p)))
}

func shareOf(p *plan.Plan) string {
	f, _ := p.Sample.Rate().Float64()
	return budget.Percent(f)
}
