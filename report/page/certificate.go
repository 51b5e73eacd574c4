package page

// This file holds the tables of the certificate, and what is said around them.

import (
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
)

// NoApprovals is said where nobody signed.
func (r View) NoApprovals() string {
	switch r.Status {
	case report.Rehearsal:
		return "none: a rehearsal is of made-up data, and asks for none"
	case report.Practice:
		return "none, and none are asked for: nobody has approved what was spent of a practice account"
	}
	return "none stand in the ledger's entry of the debit; whether the account asks for any, its policy tells"
}

// WholeLoss names the row of the whole release by what differs.
func (r View) WholeLoss() string {
	g := r.Guarantee
	return "one " + g.Protects + words.Either(g.Neighbours == "add-remove", " in the data or not, with all attributes",
		" with all attributes, replaced by any other") + " (the whole release)"
}

// folded is a run of neighbouring parts that lose the same, as one line of a page.
func folded(parts []report.LossOf) []report.LossOf {
	var out []report.LossOf
	for from := 0; from < len(parts); {
		to := from + 1
		for to < len(parts) && sameLoss(parts[to], parts[from]) {
			to++
		}
		one := parts[from]
		if more := to - from - 1; more > 0 {
			one.Of += fmt.Sprintf(" and %d more", more)
		}
		out = append(out, one)
		from = to
	}
	return out
}

func sameLoss(l report.LossOf, m report.LossOf) bool {
	return l.Epsilon == m.Epsilon && l.Rho == m.Rho && l.Tables == m.Tables && slices.Equal(l.At, m.At)
}

// foldedSensitivities are sensitivities that say the same, each once with the first measurement and how many more there
// are.
func foldedSensitivities(all []report.Sensitivity) []report.Sensitivity {
	var out []report.Sensitivity
	saying := map[report.Sensitivity]int64{}
	for _, s := range all {
		said := report.Sensitivity{Of: s.Of, Text: s.Text}
		if saying[said]++; saying[said] == 1 {
			out = append(out, report.Sensitivity{Measurement: s.Measurement, Of: s.Of, Text: s.Text})
		}
	}
	for i, s := range out {
		more := saying[report.Sensitivity{Of: s.Of, Text: s.Text}] - 1
		out[i].Measurement += words.When(more > 0, " and "+budget.Group(more)+" more")
	}
	return out
}
