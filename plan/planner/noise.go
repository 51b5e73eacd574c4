package planner

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/optimise"
	"github.com/dprelease/dprelease/plan/phrase"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/document"
)

// This file holds the law of the noise under ε and δ: what the spec asks for, and what the other law would give and
// cost an account, which adds up ρ.

// withNoise returns a release whose budget of ε and δ asks for a law of noise.
func withNoise(r *spec.Release, law spec.Noise) *spec.Release {
	out := *r
	out.Budget.Noise = law
	return &out
}

// withGaussian returns a release that asks for Gaussian noise if its budget can be spent on either law.
func withGaussian(r *spec.Release) *spec.Release {
	if r.Budget.Delta == nil {
		return r
	}
	return withNoise(r, spec.NoiseOf(budget.DefaultLaw(false)))
}

// otherDraft is a release as planned with another law of noise than its budget asks for, or the reason why it cannot
// be.
type otherDraft struct {
	law   compiled.NoiseLaw
	draft *draftPlan
	err   error
}

// isPlannedLast reports whether a law is planned only once it is known that the release is planned with another one.
// That is the Gaussian law if the spec leaves the law open: if the plan has Gaussian noise only, it would be the same
// again.
func isPlannedLast(law compiled.NoiseLaw, b spec.Budget) bool {
	return !law.Kind.Pure() && b.Noise == ""
}

// otherDrafts plans a release with every other law that is wanted; with none for a budget that can be spent on one
// law only. inner is the release as its measurements are planned.
func otherDrafts(r, inner *spec.Release, wanted func(law compiled.NoiseLaw) bool) []otherDraft {
	if inner.Budget.Delta == nil {
		return nil
	}
	var out []otherDraft
	for _, law := range compiled.NoiseUnder(r) {
		if law.Requested == inner.Budget.Noise || !wanted(law) {
			continue
		}
		rough := law.Kind.Pure() // whose composition takes long
		d, err := (&draftPlan{about: rough}).planMeasurements(r, withNoise(inner, law.Requested),
			func(string, *draftPlan) {})
		out = append(out, otherDraft{law, d, err})
	}
	return out
}

// otherNoises compares this draft with those of other laws. It returns nothing for a law that changes no table's
// noise.
func (d *draftPlan) otherNoises(others []otherDraft) []strategy.OtherNoise {
	var out []strategy.OtherNoise
	for _, other := range others {
		kind := other.law.Kind
		if !d.differsFrom(kind) {
			continue
		}
		switch missed := (&missedTargets{}); {
		case errors.As(other.err, &missed):
			out = append(out, strategy.OtherNoise{Noise: kind, Why: phrase.New(phrase.TargetsMissed)})
		case errors.Is(other.err, optimise.ErrTooLittle):
			out = append(out, strategy.OtherNoise{Noise: kind, Why: phrase.New(phrase.NeedsTooMuch)})
		case other.err != nil:
			out = append(out, strategy.OtherNoise{Noise: kind, Why: phrase.New(phrase.NoNoiseThatFits)})
		case slices.Contains(other.draft.noiseKinds(), kind) && !slices.Equal(other.draft.noiseKinds(), d.noiseKinds()):
			out = append(out, d.compareNoise(other.draft, kind))
		}
	}
	return out
}

// differsFrom reports whether some group has another kind of noise.
func (d *draftPlan) differsFrom(kind budget.Kind) bool {
	return slices.ContainsFunc(d.noiseKinds(), func(k budget.Kind) bool { return k != kind })
}

// noiseKinds returns the kinds of noise of the groups.
func (d *draftPlan) noiseKinds() []budget.Kind {
	out := make([]budget.Kind, len(d.division.ChosenDesigns))
	for i, taken := range d.division.ChosenDesigns {
		out[i] = taken.Noise
	}
	return out
}

// unrequestedNoise returns how many tables have another noise than the budget asks for.
func (d *draftPlan) unrequestedNoise() int {
	all := optimise.Noises(d.blueprint.Release.Budget)
	if len(all) > 1 {
		return 0
	}
	tables := 0
	for i, g := range d.blueprint.Groups {
		if d.division.ChosenDesigns[i].Noise != all[0] {
			tables += len(g.Tables)
		}
	}
	return tables
}

// compareNoise states the error and cost of another draft, with a law of noise.
func (d *draftPlan) compareNoise(other *draftPlan, kind budget.Kind) strategy.OtherNoise {
	out := strategy.OtherNoise{Noise: kind, Charge: budget.DecimalUp(other.plan.Cost.Rho, describe.OtherDigits)}
	out.Partly = other.differsFrom(kind)
	if apart := other.plan.Sums == strategy.LevelsSeparate; apart != (d.plan.Sums == strategy.LevelsSeparate) {
		out.Levels = strategy.LevelsAgree
		if apart {
			out.Levels = strategy.LevelsDisagree
		}
	}
	if now := d.sharedObjective(); now > 0 {
		out.Error = roundRatio(math.Sqrt(other.sharedObjective() / now))
	}
	return out
}

// roundRatio returns a ratio to [describe.OtherDigits] significant digits.
func roundRatio(ratio float64) float64 {
	out, err := strconv.ParseFloat(strconv.FormatFloat(ratio, 'e', describe.OtherDigits-1, 64), 64)
	if err != nil {
		return ratio
	}
	return out
}

// checkNoise returns an error if the spec asks for noise that is priced in ε and the plan has none.
func checkNoise(p *plan.Plan) error {
	if kept := describe.KeptGaussian(p); p.Release().Holders == nil && len(kept) > 0 &&
		!slices.ContainsFunc(p.Strategies, func(s strategy.Group) bool { return s.Noise.Pure() }) {
		return p.Release().Problem("budget.noise", document.Problem{
			Message: fmt.Sprintf("nothing in this release can have %s noise under epsilon and delta: %s",
				p.Release().Budget.Noise.Law(), strings.Join(kept, "; ")),
			Expected: "noise: gaussian, or leave it out, or a budget of epsilon alone",
		})
	}
	return nil
}
