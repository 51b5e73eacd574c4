package maker

// This file makes the certificate: what an auditor needs to know about a release in addition to its guarantee and
// budget.

import (
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/notes"
	"github.com/dprelease/dprelease/spec/language"
)

// certificateOf makes the certificate of a report that is otherwise complete.
func certificateOf(c *compiled.Compiled, r *report.Report, from sources, paid receipt,
	approvals []report.Approval) (report.Certificate, error) {
	loss, err := describe.StatedLoss(c)
	if err != nil {
		return report.Certificate{}, err
	}
	l := r.In()
	account := accountOf(l, paid)
	return report.Certificate{
		Assumptions: notes.Assumptions(r),
		GivenAway:   append([]string{}, describe.Invariants(l, c.Plan().Invariants)...),
		Loss:        statedLoss(l, loss),
		Mechanisms:  noisesOf(c.Plan()),

		Sensitivities: sensitivitiesOf(c.Plan()),
		Approvals:     append([]report.Approval{}, approvals...),
		Account:       account,
		Hazards:       notes.Hazards(r, account, len(paid.Also) > 0),
	}, nil
}

func statedLoss(l *language.Language, of *describe.Loss) report.Loss {
	out := report.Loss{Methods: []string{}, Tables: make([]report.LossOf, len(of.Tables)),
		Attributes: make([]report.LossOf, len(of.Attributes))}
	part := func(one describe.LossLine) report.LossOf {
		p := report.LossOf{Of: one.Of, Tables: one.Tables, Epsilon: one.Pure, Rho: one.Rho,
			At: make([]report.EpsilonAt, len(one.Epsilons))}
		for i, e := range one.Epsilons {
			p.At[i] = report.EpsilonAt{Delta: e.Delta, Epsilon: e.Epsilon}
			if method := l.Text(e.Method); !slices.Contains(out.Methods, method) {
				out.Methods = append(out.Methods, method)
			}
		}
		return p
	}
	out.Whole = part(of.Whole)
	out.Whole.Of = l.Text(out.Whole.Of)
	for i, one := range of.Tables {
		out.Tables[i] = part(one)
	}
	for i, one := range of.Attributes {
		out.Attributes[i] = part(one)
	}
	return out
}

// The methods of computing ε at a δ, as package budget has them, and what the whole loss is of.
var _ = []string{
	language.Key("the whole release"),
	language.Key("sum of pure epsilons"), language.Key("zCDP converted by Canonne, Kamath & Steinke 2020"),
	language.Key("Gaussian loss in closed form (Balle & Wang 2018)"),
	language.Key("privacy loss distributions, connecting the dots (Doroshenko, Ghazi, Kamath, Kumar & Manurangsi 2022)"),
}

// noisesOf returns the plan's mechanisms, each once, in the order of their first use, followed by the block of every
// adaptive method, and by those of the rounds of models, with how many rounds there are.
func noisesOf(p *plan.Plan) []report.Noise {
	var all []report.Noise
	at := map[string]int{}
	for _, m := range p.Measurements {
		key := fmt.Sprint(m.Mechanism)
		i, ok := at[key]
		if !ok {
			i, at[key] = len(all), len(all)
			noise := report.Noise{Mechanism: mechanismOf(m.Mechanism), Shifts: [][]int64{}}
			for _, shift := range m.Mechanism.Shifts {
				noise.Shifts = append(noise.Shifts, shift)
			}
			all = append(all, noise)
		}
		all[i].Measurements = append(all[i].Measurements, m.ID)
		all = append(all, selectionsByKind[m.Selection.Kind()].mechanisms(languageOf(p), m)...)
	}
	for _, s := range p.Synthetic {
		if !s.Adaptive() {
			continue
		}
		all = append(all, report.Noise{Mechanism: mechanismOf(s.Block), Shifts: [][]int64{}, Measurements: []string{
			languageOf(p).Text("microdata/%s, all rounds together, at most %s", s.Table, budget.Group(int64(s.Rounds))),
		}})
	}
	for _, m := range p.Models {
		for _, r := range m.Rounds {
			noise := report.Noise{Mechanism: mechanismOf(r.Noise), Shifts: [][]int64{}, Measurements: []string{
				fmt.Sprintf("%s/%s × %d", m.Path(), r.Asks, r.Times)}}
			for _, shift := range r.Noise.Shifts {
				noise.Shifts = append(noise.Shifts, shift)
			}
			all = append(all, noise)
		}
	}
	return all
}

// mechanismOf returns a mechanism with its numbers as text.
func mechanismOf(m budget.Mechanism) report.Mechanism {
	out := report.Mechanism{Kind: string(m.Kind), Parameter: budget.FormatRat(m.Parameter), Shares: m.Shares}
	if m.L1 != nil && m.L2Squared != nil {
		out.L1, out.L2Squared = m.L1.String(), m.L2Squared.String()
	}
	return out
}

// accountOf says what the receipt reveals about the account.
func accountOf(l *language.Language, paid receipt) report.Account {
	a := report.Account{Comparisons: paid.Comparisons, Witnessed: paid.Witnessed}
	switch {
	case paid.Status == report.Rehearsal:
	case a.Comparisons > 0:
		a.Sentence = l.Text(
			"Before this release results on the account were compared with the truth %s: what was learned from that "+
				"is in no budget.",
			l.Times(a.Comparisons))
	default:
		a.Sentence = l.Text("No comparison of results with the truth was recorded on the account before this release.")
	}
	return a
}
