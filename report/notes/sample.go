package notes

// This file says what a report states about a secret sample of the units.

import (
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
)

// sampleSentence says that only a sample of the units is measured, "" if all are.
func sampleSentence(l *language.Language, p *plan.Plan) string {
	if !p.Sample.Partial() {
		return ""
	}
	return l.Text("Each %s was measured only with a probability of %s. The sample was drawn in secret, once for the "+
		"whole release. Who was drawn, and how many were, is in no file and is erased.",
		p.Guarantee.Protects, shareOf(l, p)) +
		words.When(p.Cost.Rho != nil,
			" "+l.Text("The account counts in ρ, which a sample does not reduce, and is charged the ρ of those who "+
				"were drawn."))
}

// sampleNote says that the errors include the sampling error.
func sampleNote(l *language.Language, p *plan.Plan) []report.Note {
	if !p.Sample.Partial() {
		return nil
	}
	return []report.Note{{Heading: l.Text("Intervals include the error of a secret sample"),
		Text: l.Text("Counts are made from %s of the units, drawn at random and in secret, and are divided by that "+
			"share. The standard errors and intervals here cover the noise and this draw together. They are "+
			"approximate where a cell has few rows, and say nothing about how the data themselves were collected.",
			shareOf(l, p))}}
}

// includeSampling adds that the errors of a release include both noise and sampling.
func includeSampling(l *language.Language, a *report.Accuracy, p *plan.Plan) {
	if !p.Sample.Partial() {
		return
	}
	a.More = append(a.More, l.Text("These errors cover the noise and the secret sample of %s of the units together. "+
		"Large counts have larger errors, and the margin is for the largest count.",
		shareOf(l, p)))
}

func shareOf(l *language.Language, p *plan.Plan) string {
	f, _ := p.Sample.Rate().Float64()
	return l.Percent(f)
}
