package planner

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/parallel"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/fitting"
	"github.com/dprelease/dprelease/plan/optimise"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the passes of the planner, each of which works out one thing from those before it.

// New plans a release. It returns an error if the release uses a part of the language that is not built, if its
// tables clash or are too large to count, or if its budget is too small for exact noise of a finite scale. The error
// is [*BudgetTooSmall] if the budget is too small for its targets.
//
// New plans a copy of the release, made from its text, so nobody else holds it while it is planned. A release that
// does not agree with its text has a plan, but one that cannot be verified.
func New(r *spec.Release) (*compiled.Compiled, error) {
	own, err := r.ReadAgain()
	if err == nil && own.EqualButWords(r) {
		return planOwned(own)
	}
	d, err := passes(r, nil)
	if err != nil {
		return nil, err
	}
	return d.compiled(), nil
}

// passes plans a release in small steps, each of which works out one thing from those before it. It calls trace, if
// there is one, after each.
func passes(r *spec.Release, trace func(pass string, d *draftPlan)) (*draftPlan, error) {
	done := func(pass string, d *draftPlan) {
		if trace != nil {
			trace(pass, d)
		}
	}
	if r.Collection != nil {
		return collectionPasses(r, done)
	}
	inner, err := withInnerBudget(r)
	if err != nil {
		return nil, err
	}
	var d *draftPlan
	var last, others []otherDraft
	err = parallel.Both(func() error {
		others = otherDrafts(r, inner, func(law compiled.NoiseLaw) bool { return !isPlannedLast(law, inner.Budget) })
		return nil
	}, func() (err error) {
		if d, err = (&draftPlan{}).planMeasurements(r, inner, done); err == nil {
			last = otherDrafts(r, inner, func(law compiled.NoiseLaw) bool {
				return isPlannedLast(law, inner.Budget) && d.differsFrom(law.Kind)
			})
		}
		return err
	})
	if missed := (&missedTargets{}); errors.As(err, &missed) {
		return nil, missedTargetsError(r, missed.tables, nil)
	} else if errors.Is(err, optimise.ErrTooLittle) {
		return nil, missedTargetsError(r, nil, err)
	} else if err != nil {
		return nil, err
	}
	p := d.plan
	if err := checkHolders(p); err != nil {
		return nil, err
	}
	p.Strategies = d.blueprint.Strategies(d.division, d.uniform)
	if err := checkNoise(p); err != nil {
		return nil, err
	}
	p.OtherNoise = d.otherNoises(append(last, others...))
	done("strategies", d)
	if p.Guarantee, err = guaranteeOf(r, inner.Budget, p); err != nil {
		return nil, err
	}
	done("guarantee", d)
	// Whatever led to the measurements, they cost no more than is charged, in δ too.
	if _, err := describe.CostsOf(p); err != nil {
		return nil, err
	}
	if p.Consistent, err = fitting.Consistencies(p, d.tables); err != nil {
		return nil, err
	}
	assessTables(p)
	return d, nil
}

// collectionPasses is passes for a collection.
func collectionPasses(r *spec.Release, done func(string, *draftPlan)) (d *draftPlan, err error) {
	if len(r.Unbuilt) > 0 {
		return nil, notBuilt(r)
	}
	d = &draftPlan{}
	if d.tables, err = workload.Expand(r); err != nil {
		return nil, err
	}
	done("tables", d)
	if d.plan, err = planCollection(r, d.tables); err != nil {
		return nil, err
	}
	done("predictions", d)
	done("guarantee", d)
	if d.plan.Consistent, err = fitting.Consistencies(d.plan, d.tables); err != nil {
		return nil, err
	}
	return d, checkNames(d.plan)
}

// notBuilt returns the error for a release that uses a part of the language that is not built.
func notBuilt(r *spec.Release) error {
	return fmt.Errorf("%s: %s is not supported by this version", r.Unbuilt[0].Path, r.Unbuilt[0].Feature)
}

// planMeasurements plans the measurements of a release, where inner has the budget inside a sample and without
// selections. It returns [*missedTargets] or [optimise.ErrTooLittle] if the budget is too small for the targets, and
// an error if a table cannot be published as the spec asks for it.
func (d *draftPlan) planMeasurements(r, inner *spec.Release, done func(string, *draftPlan)) (*draftPlan, error) {
	d, err := d.meetTargets(inner, done)
	if err != nil {
		return nil, err
	}
	p := d.plan
	if missed := missedTables(p); len(missed) > 0 {
		return nil, &missedTargets{missed}
	}
	if p.TableModels, err = optimise.TableModels(r, d.tables); err != nil {
		return nil, err
	}
	if err := checkNames(p); err != nil {
		return nil, err
	}
	chargeAllUnits(p, r)
	if err := d.forecastCells(); err != nil {
		return nil, err
	}
	markInvariants(p, d.tables)
	p.Invariants = compiled.Invariants(p)
	if err := refusePublicShares(p); err != nil {
		return nil, err
	}
	return d, checkInvariants(p)
}

// missedTargets is the error for a budget with which tables miss their targets.
type missedTargets struct{ tables []plan.Table }

// Error states the number of tables.
func (e *missedTargets) Error() string {
	return fmt.Sprintf("%s would miss the target", budget.Plural(int64(len(e.tables)), "table"))
}

// withInnerBudget returns a release with the budget of its measurements: on a sample of the units, and without the
// part of selections.
func withInnerBudget(r *spec.Release) (*spec.Release, error) {
	inner, err := workload.OnSample(r)
	if err != nil {
		return nil, err
	}
	return workload.OnSelections(inner), nil
}

// draftPlan is a plan in the making, with what it is made from.
type draftPlan struct {
	plan      *plan.Plan
	tables    []*workload.Table // the published ones
	parts     []*workload.Table // what figures other than counts are computed from
	drafts    []optimise.Microdata
	models    []optimise.Model
	blueprint *optimise.Blueprint
	division  *optimise.Division
	uniform   []*optimise.Division // with one kind of noise for all groups
	rough     bool                 // see [optimise.Blueprint.RhoConversionOnly]
	about     bool                 // see [optimise.Blueprint.RoughCompositions]
	over      int                  // guarded tables that remain worse than by themselves
	estimates []compiled.Estimate  // of the plan
}

// compiled returns the plan, which nobody writes to from then on, with what was worked out from it.
func (d *draftPlan) compiled() *compiled.Compiled { return compiled.WithEstimates(d.plan, d.estimates) }

const (
	// tighter is the largest factor by which margins are tightened if a leaf's targets are missed because of the
	// lattice that noise lies on.
	tighter = 1 - 1.0/2048
	// mostTighter bounds how many times that happens.
	mostTighter = 100
)

// meetTargets plans all but the descriptions, and tightens the noise of leaves of targets until these are met.
func (d *draftPlan) meetTargets(r *spec.Release, done func(string, *draftPlan)) (*draftPlan, error) {
	if len(r.Unbuilt) > 0 {
		return nil, notBuilt(r)
	}
	var err error
	if d.tables, err = workload.Expand(r); err != nil {
		return nil, err
	}
	if d.parts, err = workload.PartsOf(r, d.tables); err != nil {
		return nil, err
	}
	if d.drafts, err = optimise.ExpandSynthetic(r, d.tables); err != nil {
		return nil, err
	}
	if d.models, err = optimise.ExpandModels(r); err != nil {
		return nil, err
	}
	done("tables", d)
	tighten := 1.0
	chosen := !slices.ContainsFunc(d.parts, isOfQuantiles)
	for range mostTighter {
		if !chosen { // by the amounts of quantiles in a draft where all are drawn
			chosen, d.rough = true, true
			if first, err := d.bestVariant(withGaussian(r), tighten); err == nil { // otherwise all remain drawn
				if err := first.chooseWays(optimise.Noises(r.Budget)); err != nil {
					return nil, err
				}
			}
			d.rough = false
		}
		best, err := d.bestVariant(r, tighten)
		if err != nil {
			return nil, err
		}
		for _, pass := range []string{"designs", "division", "measurements", "predictions"} {
			done(pass, best)
		}
		ratio := missedInNeeded(best.plan)
		switch {
		case ratio >= 1 && d.about:
			return best, nil
		case ratio >= 1:
			return best, best.assessQuantiles()
		}
		tighten = float64(tighten * min(ratio, tighter))
	}
	return nil, errors.New("no noise was found with which all targets are met: widen the narrowest, or give the leaf a share")
}

// bestVariant returns the best of the variants.
func (d *draftPlan) bestVariant(r *spec.Release, tighten float64) (best *draftPlan, err error) {
	var little error
	for i, how := range d.variants(r) {
		if how == strategy.LevelsSeparate &&
			(best == nil || !best.needsSeparateLevels() && best.unrequestedNoise() == 0) {
			continue
		}
		trial, err := d.planVariant(r, tighten, how)
		switch {
		case errors.Is(err, optimise.ErrTooLittle):
			little = err
			continue
		case err != nil && i == 0:
			return nil, err
		case err != nil: // there are other ways
			continue
		}
		if best == nil || trial.isBetter(best) {
			best = trial
		}
	}
	if best == nil {
		return nil, little
	}
	return best, nil
}

// needsSeparateLevels reports whether residuals of nested levels leave a guarded table worse than by itself, so that
// other ways have to be tried.
func (d *draftPlan) needsSeparateLevels() bool {
	for i, g := range d.blueprint.Groups {
		if !g.Needed && g.HasSeparableLevels() && len(g.Tables) > 1 &&
			d.division.ChosenDesigns[i].Kind != strategy.Residuals {
			return true
		}
	}
	return d.over > 0
}

// isBetter reports whether a draft is better than another: more tables have the requested noise or, with equally
// many, its objective is smaller or, if targets decide that, its cost.
func (d *draftPlan) isBetter(other *draftPlan) bool {
	const rounding = 1 - 1e-6
	if d.unrequestedNoise() != other.unrequestedNoise() {
		return d.unrequestedNoise() < other.unrequestedNoise()
	}
	if !slices.ContainsFunc(d.plan.Leaves, func(l plan.Leaf) bool { return !l.Needed }) {
		if d.blueprint.Pure {
			return d.plan.Cost.Epsilon.Cmp(other.plan.Cost.Epsilon) < 0
		}
		return d.plan.Cost.Rho.Cmp(other.plan.Cost.Rho) < 0
	}
	if d.over != other.over {
		return d.over < other.over
	}
	return d.objective() < float64(other.objective()*rounding)
}

// planVariant plans the measurements of one variant, and predicts the accuracy of the tables.
func (d *draftPlan) planVariant(r *spec.Release, tighten float64, how strategy.Summing) (*draftPlan, error) {
	out := &draftPlan{tables: d.tables, parts: d.parts, drafts: d.drafts, models: d.models, about: d.about}
	var err error
	if out.blueprint, err = optimise.NewBlueprint(r, d.tables, d.parts, d.drafts, d.models, tighten, how); err != nil {
		return nil, err
	}
	out.blueprint.RhoConversionOnly, out.blueprint.RoughCompositions = d.rough, d.about
	for attempt := 0; ; attempt++ {
		if err := out.resolve(r, how); err != nil {
			return nil, err
		}
		worse, err := out.worseTables()
		if err != nil {
			return nil, err
		}
		if !out.blueprint.GuardTighter(worse, attempt) {
			out.over = len(worse)
			return out, nil
		}
	}
}

// resolve divides the budget among the measurements, and predicts the accuracy of the tables.
func (d *draftPlan) resolve(r *spec.Release, how strategy.Summing) error {
	p := plan.NewEmpty(r)
	p.Sums, p.Sample = how, workload.SampleOf(r)
	d.plan = p
	var err error
	if d.division, d.uniform, err = d.blueprint.ChooseNoise(); err != nil {
		return err
	}
	p.Cost, p.Leaves = d.division.Cost, d.division.Leaves
	if err := optimise.Spend(p, d.blueprint, d.division.Measurements); err != nil {
		return err
	}
	p.Size = d.size()
	for _, t := range d.tables {
		p.Tables = append(p.Tables, workload.NewTable(r, t))
	}
	w := compiled.Workload{Tables: d.tables, Parts: d.parts, Chains: d.blueprint.Chains}
	if d.estimates, err = w.Estimates(p); err != nil {
		return err
	}
	if d.about {
		err = predictErrors(p, d.estimates, func(*compiled.Estimate, int, float64, float64, *plan.Statistic) {})
	} else {
		err = predict(p, d.estimates)
	}
	if err != nil {
		return err
	}
	predictTargets(p, d.tables, d.estimates)
	return nil
}

// objective returns what the budget minimises, over all tables as they will be.
func (d *draftPlan) objective() float64 {
	return d.objectiveOf(func(int) bool { return true })
}

// sharedObjective returns the objective over the tables whose leaves have a share. Other leaves have what their
// targets need.
func (d *draftPlan) sharedObjective() float64 {
	return d.objectiveOf(func(leaf int) bool { return !d.plan.Leaves[leaf].Needed })
}

// objectiveOf returns the objective over the tables of some leaves, given by index.
func (d *draftPlan) objectiveOf(counts func(leaf int) bool) float64 {
	var out float64
	for i, t := range d.plan.Tables {
		if !counts(d.tables[i].Leaf) {
			continue
		}
		s, weight := t.Statistics[0], d.tables[i].Weight
		if d.blueprint.Release.Budget.Minimise == spec.LeastLargest {
			most := max(s.StandardError, s.Uneven)
			out = max(out, float64(weight*most)*most)
		} else {
			each := s.StandardError
			if s.OfRanges > 0 {
				each = s.OfRanges
			}
			out += float64(float64(float64(weight*each)*each) * float64(d.tables[i].Possible()))
		}
	}
	return out
}

// size returns what measuring requires.
func (d *draftPlan) size() plan.Size {
	var published, counted, rounds int64
	for _, t := range d.tables {
		if t.SomeCells() {
			published += t.Possible()
		} else {
			published += t.Cells
		}
	}
	for _, m := range d.division.Measurements {
		counted += forecasts[m.Selection.Kind()].held(m)
	}
	for _, s := range d.drafts {
		for _, cells := range s.Columns {
			counted += cells
		}
		rounds += adaptive.Memory(s.Named(), s.Sizes())
	}
	for _, m := range d.models {
		rounds += m.Memory(d.blueprint.Release)
	}
	return plan.Size{Cells: published, Bytes: counted*plan.BytesPerCell + rounds}
}
