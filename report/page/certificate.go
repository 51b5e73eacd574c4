package page

// This file shows the tables of the certificate, and the sentences around them.

import (
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
)

// NoApprovals is the text if nobody signed.
func (r View) NoApprovals() string {
	l := r.In()
	switch r.Status {
	case report.Rehearsal:
		return l.Text("none: a rehearsal uses made-up data and asks for none")
	case report.Practice:
		return l.Text("none: a practice account asks for none")
	}
	return l.Text("none in the ledger's entry of the debit; the policy of the account says whether it asks for any")
}

// NoExactFigures is the text if no public figure is published exactly.
func (r View) NoExactFigures() string {
	l := r.In()
	return words.Either(len(report.PathsWhere(r.Tables, report.Table.RulesOut)) > 0,
		l.Text("none but the zeros of impossible cells"), l.Text("none"))
}

// approvedText says for when a signature stands: for the debit of that day, or until a day.
func approvedText(l *language.Language, debited string, a report.Approval) string {
	return words.Either(a.Until != "", l.Text("standing, until %s", l.Date(a.Until)),
		l.Text("debit of %s", l.Date(debited)))
}

// answerers says on what the answer to a hazard rests.
var answerers = map[report.Answerer]string{
	report.AnsweredByPlan:  language.Key("plan"),
	report.LeftToOffice:    language.Key("office"),
	report.LeftToApprovers: language.Key("to be weighed"),
}

// HazardsInOrder returns all hazards, those to be weighed first.
func (r View) HazardsInOrder() []report.Hazard {
	weighed := r.Certificate.Weighed()
	return append(weighed, slices.DeleteFunc(slices.Clone(r.Certificate.Hazards),
		func(h report.Hazard) bool { return h.AnsweredBy == report.LeftToApprovers })...)
}

// WeighedText says who weighs hazards, "" if none has to be.
func (r View) WeighedText() string {
	return words.When(len(r.Certificate.Weighed()) > 0,
		r.In().Text("Those to be weighed come first: whoever approves or reads the release judges them."))
}

// WholeLoss names the row of the whole release by what differs between neighbours.
func (r View) WholeLoss() string {
	l, g := r.In(), r.Guarantee
	return words.Either(g.Neighbours == "add-remove",
		l.Text("one %s in the data or not, with all attributes (the whole release)", g.Protects),
		l.Text("one %s with all attributes, replaced by any other (the whole release)", g.Protects))
}

// TableLoss explains the losses of tables, and names the methods of computing ε.
func (r View) TableLoss() string {
	l := r.In()
	text := words.Either(r.Together(),
		l.Text("This is the privacy loss of all measurements that a table is made from, rounded up. Tables share "+
			"measurements, so these losses must not be added."),
		l.Text("This is the privacy loss of each table alone, rounded up.")) +
		words.When(len(r.Models) > 0, " "+l.Text("A model counts as a table."))
	switch methods := r.Certificate.Loss.Methods; len(methods) {
	case 0:
		return text
	case 1:
		return text + " " + l.Text("ε is computed by this method: %s.", methods[0])
	default:
		return text + " " + l.Text("ε is the smallest bound that these methods give: %s.",
			strings.Join(methods, "; "))
	}
}

// foldLosses merges each run of neighbouring parts with the same loss into one line of a page.
func foldLosses(l *language.Language, parts []report.LossOf) []report.LossOf {
	var out []report.LossOf
	for from := 0; from < len(parts); {
		to := from + 1
		for to < len(parts) && sameLoss(parts[to], parts[from]) {
			to++
		}
		one := parts[from]
		if more := to - from - 1; more > 0 {
			one.Of = l.Text("%s and %d more", one.Of, more)
		}
		out = append(out, one)
		from = to
	}
	return out
}

func sameLoss(l report.LossOf, m report.LossOf) bool {
	return l.Epsilon == m.Epsilon && l.Rho == m.Rho && l.Tables == m.Tables && slices.Equal(l.At, m.At)
}

// foldedSensitivities merges equal sensitivities into one with the first measurement and the number of others.
func foldedSensitivities(l *language.Language, all []report.Sensitivity) []report.Sensitivity {
	var out []report.Sensitivity
	count := map[report.Sensitivity]int64{}
	for _, s := range all {
		key := report.Sensitivity{Of: s.Of, Text: s.Text}
		if count[key]++; count[key] == 1 {
			out = append(out, report.Sensitivity{Measurement: s.Measurement, Of: s.Of, Text: s.Text})
		}
	}
	for i, s := range out {
		if more := count[report.Sensitivity{Of: s.Of, Text: s.Text}] - 1; more > 0 {
			out[i].Measurement = l.Text("%s and %s more", s.Measurement, budget.Group(more))
		}
	}
	return out
}
