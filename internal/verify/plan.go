package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/contour"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/memory"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/planner"
)

// checkPlan plans the spec in the plan file again and compares, and reads the words of the plan.
func (v *verifier) checkPlan(context.Context) (string, error) {
	text, err := v.readListed(measured.PlanFile)
	if err != nil {
		return "", err
	}
	p, planning := planner.Read(text)
	if planning != nil {
		if p, err = compiled.Read(text); err != nil {
			return "", v.planFault(err)
		}
	}
	if v.manifestText != nil && (v.manifest.PlanHash != p.Hash() || v.manifest.Release != p.Name) {
		return "", published.Faultf(measured.PlanFile, "is not the plan that manifest.json names")
	}
	worded, err := v.readWords(p)
	if v.plan = p; err == nil {
		v.plan = worded
	}
	if planning != nil {
		return "", v.planFault(planning)
	}
	if err != nil {
		return "", err
	}
	v.planFollows = true
	return fmt.Sprintf("%s, hash %s, made again from its spec",
		budget.Plural(int64(len(p.Measurements)), "measurement"),
		p.Hash()[:16]), nil
}

// readWords returns the plan with the words of the release.
func (v *verifier) readWords(p *compiled.Compiled) (*compiled.Compiled, error) {
	text, err := v.readListed(measured.WordsFile)
	if err != nil {
		return nil, err
	}
	if p, err = measured.WithWords(p, text); err != nil {
		return nil, published.Faultf(measured.WordsFile, "%v", err)
	}
	return p, nil
}

// planFault returns the fault that the plan is not what this version makes of its spec.
func (v *verifier) planFault(err error) error {
	why := err.Error()
	if errors.Is(err, plan.ErrEdited) {
		why = "it is not, byte for byte, what its own spec leads to: it was edited, or made by another version"
	}
	return published.Faultf(measured.PlanFile, "cannot be recomputed by this version (%s): %s%s", published.Software,
		why,
		v.versionHint())
}

// versionHint names the software that published the release if it is another version, and is "" otherwise.
func (v *verifier) versionHint() string {
	if v.manifestText == nil || v.manifest.Software == published.Software {
		return ""
	}
	return fmt.Sprintf(" (the release was published by %s: verify it with that version)", v.manifest.Software)
}

// checkMeasurements reads the answer to every question of the plan and the rounds of its adaptive methods. Each file
// must be in the only form in which this measurement, or these choices, can be written with its integers, plan and
// status.
func (v *verifier) checkMeasurements(context.Context) (string, error) {
	if v.plan == nil {
		return "", &notDone{"needs a plan that can be read"}
	}
	if err := memory.Check(memory.Bytes(v.plan.Plan()), memory.Available(0)); err != nil {
		return "", &notDone{err.Error()}
	}
	s := &measured.Sealed{Plan: v.plan}
	hash, cells := v.plan.Hash(), int64(0)
	for _, m := range v.plan.Measurements {
		one, err := v.readMeasured(s, m, hash)
		if err != nil {
			return "", err
		}
		s.Measured = append(s.Measured, one)
		cells += int64(one.Values.Len())
	}
	says := "one for each measurement of the plan"
	for _, method := range v.plan.Synthetic {
		if !method.Adaptive() {
			s.Rounds = append(s.Rounds, measured.Rounds{})
			continue
		}
		rounds, err := v.readRounds(s, method, hash)
		if err != nil {
			return "", err
		}
		s.Rounds = append(s.Rounds, rounds)
		for _, r := range rounds.All {
			cells += r.Measured.Measurement.Cells
		}
		says += fmt.Sprintf(", and %s for the microdata of %s", budget.Plural(int64(len(rounds.All)), "round"),
			method.Table)
	}
	for _, m := range v.plan.Models {
		training, err := v.readTraining(s, m)
		if err != nil {
			return "", err
		}
		for _, answer := range training.Rounds {
			cells += int64(len(answer))
		}
		cells += int64(len(training.HeldOut))
		s.Training = append(s.Training, training)
		says += fmt.Sprintf(", and %s for the model %s", budget.Plural(int64(len(training.Rounds)), "round"), m.Name)
	}
	v.sealed = s
	return fmt.Sprintf("%s, %s", budget.Plural(cells, "integer"), says), nil
}

// readMeasured reads the answer to a question and stores the status of its file in s.
func (v *verifier) readMeasured(s *measured.Sealed, m plan.Measurement, planHash string) (one measured.Measured,
	err error) {
	name := measured.Path(m.ID)
	b, err := v.readListed(name)
	if err != nil {
		return one, err
	}
	one, status, err := published.Decode(b, m, planHash)
	if err != nil {
		return one, published.Faultf(name, "%v", err)
	}
	again, err := measured.Encode(one, planHash, status)
	if err != nil {
		return one, err
	}
	switch {
	case !bytes.Equal(again, b):
		return one, published.Faultf(name, "is not in the form in which measurements are written")
	case v.manifestText != nil && status != v.manifest.Status:
		return one, published.Faultf(name, "is marked %q, the manifest %q", status, v.manifest.Status)
	}
	s.Status = status
	return one, nil
}

// readTraining reads the answers to the rounds of a model, and stores their status in s.
func (v *verifier) readTraining(s *measured.Sealed, m plan.Model) (measured.Training, error) {
	name := measured.TrainingPath(m)
	b, err := v.readListed(name)
	if err != nil {
		return measured.Training{}, err
	}
	t, err := measured.DecodeTraining(b, m)
	if err != nil {
		return t, published.Faultf(name, "%v", err)
	}
	if v.manifestText != nil && t.Status != v.manifest.Status {
		return t, published.Faultf(name, "is marked %q, the manifest %q", t.Status, v.manifest.Status)
	}
	s.Status = t.Status
	return t, nil
}

// readRounds reads the rounds of an adaptive method, which must be ones that the plan allows, and the answer to each
// choice.
func (v *verifier) readRounds(s *measured.Sealed, method plan.Synthetic, planHash string) (measured.Rounds, error) {
	name := measured.RoundsPath(method.Table)
	b, err := v.readListed(name)
	if err != nil {
		return measured.Rounds{}, err
	}
	rounds, err := measured.DecodeRounds(b, v.plan.Plan(), method)
	if err != nil {
		return measured.Rounds{}, published.Faultf(name, "%v", err)
	}
	for i, r := range rounds.All {
		if rounds.All[i].Measured, err = v.readMeasured(s, r.Measured.Measurement, planHash); err != nil {
			return measured.Rounds{}, err
		}
	}
	return rounds, nil
}

const (
	// decisive bounds the relative excess over δ up to which the second accountant's
	// figure plus its error counts as a judgement: the plan meets its δ with some
	// room, but an ε that is stated in seven digits leaves none.
	decisive = 1e-3
	// rounding bounds the relative error of the second accountant's own arithmetic.
	rounding = 1e-9
)

// checkLoss adds up the privacy loss of the plan's mechanisms: exactly for ε and ρ,
// and for an ε at a δ by the accountant that shares no code with the planner's.
//
// Guarantee: after a nil error the mechanisms of the plan, fixed in advance and run
// on the same data, are together within the plan's guarantee and its charge.
// Neighbours: those that the plan's sensitivities are for. Theorems: ε adds
// (Dwork, McSherry, Nissim & Smith 2006), ρ adds (Bun & Steinke 2016, lemma 2.3),
// and the hockey-stick divergence by [contour.Delta]. Argument:
// docs/proofs/verify.md.
func (v *verifier) checkLoss(context.Context) (string, error) {
	if v.plan == nil {
		return "", &notDone{"needs a plan that can be read"}
	}
	return v.lossCheck()(v.plan.Mechanisms())
}

// checkUnsampledLoss is checkLoss for mechanisms that see all units.
func (v *verifier) checkUnsampledLoss(steps []budget.Mechanism) (string, error) {
	g := v.plan.Guarantee
	if err := checkBlocks(v.plan); err != nil {
		return "", err
	}
	epsilon, rho, err := sumLosses(steps)
	if err != nil {
		return "", published.Faultf(measured.PlanFile, "%v", err)
	}
	within := func(what string, sum *big.Rat, limits ...*big.Rat) error {
		for _, limit := range limits {
			if limit == nil || sum == nil || sum.Cmp(limit) > 0 {
				return published.Faultf(measured.PlanFile,
					"its mechanisms add up to more than the %s that it promises and is charged for", what)
			}
		}
		return nil
	}
	switch g.Definition {
	case "pure":
		return fmt.Sprintf("ε adds up to %s, promised %s", budget.DecimalUp(orZero(epsilon), 6), g.Epsilon),
			within("ε", epsilon, amountOf(g.Epsilon), v.plan.Cost.Epsilon)
	case "zcdp":
		if err := within("ρ", rho, amountOf(g.Rho), v.plan.Cost.Rho); err != nil {
			return "", err
		}
		says := fmt.Sprintf("ρ adds up to %s, promised %s", budget.DecimalUp(rho, 6), g.Rho)
		for _, e := range g.Equivalents {
			judged, err := judgeLoss(steps, e.Epsilon, e.Delta)
			if err != nil {
				return "", err
			}
			says += fmt.Sprintf("; %s at δ = %s %s", describe.Bound(e), e.Delta, judged)
		}
		return says, nil
	case "approximate":
		if err := within("ρ", rho, amountOf(g.Rho), v.plan.Cost.Rho); err != nil {
			return "", err
		}
		limit := amountOf(g.Epsilon)
		if limit == nil {
			return "", published.Faultf(measured.PlanFile, "it promises no ε")
		}
		e, _ := limit.Float64()
		left, selected, err := deltaForNoise(v.plan)
		if err != nil {
			return "", err
		}
		judged, err := judgeLoss(steps, e, left)
		judged += selected
		return fmt.Sprintf("%s %s", describe.Budget(g), judged), err
	}
	return "", published.Faultf(measured.PlanFile, "its guarantee is of definition %q", g.Definition)
}

// judgeLoss checks mechanisms against an ε at a δ with the second accountant and, if that one cannot decide, with the
// planner's.
func judgeLoss(steps []budget.Mechanism, epsilon float64, delta string) (string, error) {
	exact := amountOf(delta)
	if exact == nil {
		return "", published.Faultf(measured.PlanFile, "its δ %q is no number", delta)
	}
	d, _ := exact.Float64()
	second, err := contour.Delta(steps, epsilon)
	switch {
	case errors.Is(err, contour.ErrCannotJudge):
	case err != nil:
		return "", published.Faultf(measured.PlanFile, "%v", err)
	case second.Delta-second.Error > d*(1+rounding):
		return "", published.Faultf(measured.PlanFile,
			"its mechanisms have δ = %g at ε = %g, more than the %s that it promises", second.Delta, epsilon, delta)
	case second.Delta+second.Error <= d*(1+decisive):
		return "holds by the second accountant (a contour integral), which finds δ = " +
			budget.DecimalNearest(second.Delta,
				4), nil
	}
	loss, err := budget.Compose(steps...)
	if err != nil {
		return "", published.Faultf(measured.PlanFile, "%v", err)
	}
	bound, err := loss.EpsilonAt(exact)
	if err != nil {
		return "", published.Faultf(measured.PlanFile, "%v", err)
	}
	if bound.Value > epsilon {
		return "", published.Faultf(measured.PlanFile, "its mechanisms have ε = %g at δ = %s, more than it promises",
			bound.Value, delta)
	}
	return "holds by the planner's own accountant; the second one cannot judge these mechanisms", nil
}

// checkBlocks returns an error unless the block of every adaptive method, which the plan's loss counts, covers its
// rounds: for MST all of them, which the plan fixes; for AIM the first one, as the rounds that were made are checked
// against the block when they are read ([measured.Allowed]). ρ adds up over them although each is chosen after the
// answers before it (Bun & Steinke 2016, lemma 2.3).
func checkBlocks(p *compiled.Compiled) error {
	for _, s := range p.Synthetic {
		if !s.Adaptive() {
			continue
		}
		for _, m := range []budget.Mechanism{s.Select, s.Noise, s.Block} {
			if err := m.Validate(); err != nil {
				return published.Faultf(measured.PlanFile, "%v", err)
			}
		}
		if s.Select.Kind != budget.ExponentialMechanism || s.Block.Kind != budget.AdaptiveBlock {
			return published.Faultf(measured.PlanFile, "its microdata of %s are chosen by %q and counted as %q",
				s.Table,
				s.Select.Kind, s.Block.Kind)
		}
		rounds := adaptive.RoundMechanisms{Select: s.Select, Noise: s.Noise}.Rho()
		if s.Method == plan.MST {
			rounds.Mul(rounds, new(big.Rat).SetInt64(int64(s.Rounds)))
		}
		if rounds.Cmp(s.Block.Rho()) > 0 {
			return published.Faultf(measured.PlanFile,
				"the rounds of its microdata of %s add up to more than the block that its loss counts", s.Table)
		}
	}
	return nil
}

// sumLosses adds up ε, nil if a mechanism has none, and ρ, both exactly.
func sumLosses(steps []budget.Mechanism) (epsilon, rho *big.Rat, err error) {
	epsilon, rho = new(big.Rat), new(big.Rat)
	for _, m := range steps {
		if err := m.Validate(); err != nil {
			return nil, nil, err
		}
		rho.Add(rho, m.Rho())
		one, err := m.Epsilon()
		if err != nil {
			epsilon = nil
		}
		if epsilon != nil {
			epsilon.Add(epsilon, one)
		}
	}
	return epsilon, rho, nil
}

// amountOf parses an exact number of a plan. It returns nil for anything else.
func amountOf(text string) *big.Rat {
	r, err := budget.ParseRat(text)
	if err != nil {
		return nil
	}
	return r
}

func orZero(r *big.Rat) *big.Rat {
	if r == nil {
		return new(big.Rat)
	}
	return r
}
