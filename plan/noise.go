package plan

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the law of the noise under ε and δ: what the spec asks for, and what the other law would give, and cost
// an account, which adds up ρ.

// OtherNoise is what a release of ε and δ would have with another law of noise, as `noise:` under `budget` asks for it.
type OtherNoise struct {
	Noise budget.Kind `json:"noise"` // discrete-gaussian or discrete-laplace
	// Partly is set where some tables have no way of their own with this noise, and would keep discrete Gaussian noise.
	Partly bool `json:"partly,omitempty"`
	// Charge is the ρ that the account would be charged, in four digits rounded up; absent where the release cannot be
	// planned with this noise.
	Charge string `json:"charge,omitempty"`
	// Error is the error of all tables over that of this plan, in four digits: the root of the sum over all cells of weight ×
	// variance or, where the budget minimises the largest of these, the root of that. Tables of leaves that get what their
	// targets need are left out; absent where there are no others.
	Error float64 `json:"error,omitempty"`
	// Levels says what becomes of tables that show one column at several levels where that is not as in this plan: "apart"
	// where they would not agree, "agree" where they would.
	Levels string `json:"levels,omitempty"`
	// Why says why the release cannot be planned with this noise.
	Why string `json:"why,omitempty"`
}

// The values of [OtherNoise.Levels].
const (
	levelsApart = "apart"
	levelsAgree = "agree"
)

// otherDigits is how many significant digits are said of another law of noise: with Laplace noise the budget is sized by rough
// compositions.
const otherDigits = 4

// noiseLaw is a law of noise, as a spec asks for it and as a mechanism has it.
type noiseLaw struct {
	asked spec.Noise
	kind  budget.Kind
}

// eitherNoise are the kinds of noise under ε and δ by their names in a spec.
var eitherNoise = []noiseLaw{{spec.GaussianNoise, budget.DiscreteGaussian}, {spec.LaplaceNoise, budget.DiscreteLaplace}}

// withNoise is a release whose budget of ε and δ asks for a law of noise.
func withNoise(r *spec.Release, law spec.Noise) *spec.Release {
	out := *r
	out.Budget.Noise = law
	return &out
}

// gaussian is a release whose budget, if it can be spent on either law, asks for Gaussian noise.
func gaussian(r *spec.Release) *spec.Release {
	if r.Budget.Delta == nil {
		return r
	}
	return withNoise(r, spec.GaussianNoise)
}

// otherDraft is a release as planned with another law of noise than its budget asks for, or why it cannot be.
type otherDraft struct {
	law   noiseLaw
	draft *draftPlan
	err   error
}

// otherDrafts plans a release with every other law: none for a budget that can be spent on one law alone. inner is the release
// as its measurements are planned.
func otherDrafts(r, inner *spec.Release) []otherDraft {
	if inner.Budget.Delta == nil {
		return nil
	}
	var out []otherDraft
	for _, law := range eitherNoise {
		if law.asked == inner.Budget.Noise {
			continue
		}
		rough := law.kind == budget.DiscreteLaplace // whose composition takes long
		d, err := (&draftPlan{about: rough}).measurable(r, withNoise(inner, law.asked), func(string, *draftPlan) {})
		out = append(out, otherDraft{law, d, err})
	}
	return out
}

// otherNoises compares this draft with those of other laws: none where the law changes no table's noise.
func (d *draftPlan) otherNoises(others []otherDraft) []OtherNoise {
	var out []OtherNoise
	for _, other := range others {
		kind := other.law.kind
		if !slices.ContainsFunc(d.kinds(), func(k budget.Kind) bool { return k != kind }) {
			continue
		}
		switch missed := (&missedTargets{}); {
		case errors.As(other.err, &missed):
			out = append(out, OtherNoise{Noise: kind, Why: "targets would be missed"})
		case errors.Is(other.err, errTooLittle):
			out = append(out, OtherNoise{Noise: kind, Why: "what targets need is more than ε and δ allow"})
		case other.err != nil:
			out = append(out, OtherNoise{Noise: kind, Why: "no noise of that law fits the tables and the budget"})
		case slices.Contains(other.draft.kinds(), kind) && !slices.Equal(other.draft.kinds(), d.kinds()):
			out = append(out, d.compared(other.draft, kind))
		}
	}
	return out
}

// kinds are the kinds of noise of the groups.
func (d *draftPlan) kinds() []budget.Kind {
	out := make([]budget.Kind, len(d.division.taken))
	for i, taken := range d.division.taken {
		out[i] = taken.noise
	}
	return out
}

// otherwise is how many tables have another noise than the budget asks for.
func (d *draftPlan) otherwise() int {
	all := noises(d.blueprint.release.Budget)
	if len(all) > 1 {
		return 0
	}
	tables := 0
	for i, g := range d.blueprint.groups {
		if d.division.taken[i].noise != all[0] {
			tables += len(g.tables)
		}
	}
	return tables
}

// compared says what another draft, with a law of noise, has and costs.
func (d *draftPlan) compared(other *draftPlan, kind budget.Kind) OtherNoise {
	out := OtherNoise{Noise: kind, Charge: budget.DecimalUp(other.plan.Cost.Rho, otherDigits)}
	out.Partly = slices.ContainsFunc(other.kinds(), func(k budget.Kind) bool { return k != kind })
	if apart := other.plan.Sums == LevelsSeparate; apart != (d.plan.Sums == LevelsSeparate) {
		out.Levels = levelsAgree
		if apart {
			out.Levels = levelsApart
		}
	}
	if now := d.sharedError(); now > 0 {
		out.Error = nearest(math.Sqrt(other.sharedError() / now))
	}
	return out
}

// nearest is a ratio to [otherDigits] significant digits.
func nearest(ratio float64) float64 {
	out, err := strconv.ParseFloat(strconv.FormatFloat(ratio, 'e', otherDigits-1, 64), 64)
	if err != nil {
		return ratio
	}
	return out
}

// name says which noise it is, and for what.
func (o OtherNoise) name() string {
	name := noiseAsked(o.Noise).Law() + " noise for every table"
	if o.Partly {
		name += " that can have it"
	}
	return name
}

// noiseAsked is the law of a kind of noise, as a spec asks for it.
func noiseAsked(kind budget.Kind) spec.Noise {
	if kind == budget.DiscreteLaplace {
		return spec.LaplaceNoise
	}
	return spec.GaussianNoise
}

// would says what the noise would give, and cost instead of a charge in ρ.
func (o OtherNoise) would(charge *big.Rat) string {
	if o.Why != "" {
		return "is not possible: " + o.Why
	}
	const same = 5e-4 // a relative difference that nobody sees
	more := ""
	switch {
	case o.Error == 0:
	case math.Abs(o.Error-1) < same:
		more = "have about the same error and "
	case o.Error > 1:
		more = fmt.Sprintf("have %s more error and ", budget.Percent(o.Error-1))
	default:
		more = fmt.Sprintf("have %s less error and ", budget.Percent(1-o.Error))
	}
	levels := ""
	switch o.Levels {
	case levelsApart:
		levels = "; but tables that show one column at several levels would not agree"
	case levelsAgree:
		levels = "; and tables that show one column at several levels would agree"
	}
	return fmt.Sprintf("would %sbe charged ρ %s instead of %s%s", more, o.Charge, budget.DecimalUp(charge, otherDigits), levels)
}

// explainNoise says what another law of noise would give and cost, and which tables have not the noise that is asked for.
func (p *Plan) explainNoise(b *strings.Builder) {
	p.explainKept(b)
	lines := make([]string, len(p.OtherNoise))
	for i, other := range p.OtherNoise {
		lines[i] = other.name() + " " + other.would(p.Cost.Rho)
		if other.Why == "" {
			lines[i] += fmt.Sprintf(" (choose it with noise: %s under budget)", noiseAsked(other.Noise))
		}
		lines[i] += "."
	}
	if len(lines) > 0 {
		fmt.Fprintf(b, "\n%s\n", strings.Join(lines, " "))
	}
}

// explainKept says which parts of the release have Gaussian noise where Laplace noise is asked for.
func (p *Plan) explainKept(b *strings.Builder) {
	if kept := p.keptGaussian(); len(kept) > 0 {
		fmt.Fprintf(b, "\nGaussian noise all the same, as under ε and δ Laplace noise is not possible for them: %s.\n", strings.Join(kept, "; "))
	}
}

// keptGaussian are the parts of a release of ε and δ that have Gaussian noise though Laplace noise is asked for, with the
// reason of each.
func (p *Plan) keptGaussian() []string {
	asked := p.Release().Budget
	if asked.Noise != spec.LaplaceNoise || asked.Delta == nil {
		return nil
	}
	var out []string
	tables := map[string]Table{}
	for _, t := range p.Tables {
		tables[t.Path] = t
	}
	for _, s := range p.Strategies {
		if s.Noise != budget.DiscreteGaussian {
			continue
		}
		why := "sums along a column of several levels"
		switch t := tables[s.Tables[0]]; {
		case t.Top != nil:
			why = "chosen cells"
		case t.Discovered != nil:
			why = "groups that nobody listed, of which a unit has many"
		}
		out = append(out, fmt.Sprintf("%s (%s)", listed(s.Tables), why))
	}
	for _, s := range p.Synthetic {
		if s.Adaptive() {
			out = append(out, fmt.Sprintf("microdata of %s (rounds)", s.Table))
		}
	}
	return out
}

// checkNoise refuses a plan that was asked for Laplace noise and has none.
func (p *Plan) checkNoise() error {
	if kept := p.keptGaussian(); len(kept) > 0 && !slices.ContainsFunc(p.Strategies, func(s Strategy) bool { return s.Noise == budget.DiscreteLaplace }) {
		return p.Release().Problem("budget.noise", spec.Problem{
			Message:  "nothing in this release can have Laplace noise under epsilon and delta: " + strings.Join(kept, "; "),
			Expected: "noise: gaussian, or leave it out, or a budget of epsilon alone",
		})
	}
	return nil
}
