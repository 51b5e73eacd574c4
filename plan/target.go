package plan

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the targets: how good tables must be, the noise that this allows, and the least budget that buys it.

// Target is how good a table is asked to be, and whether it will be: its margin at a confidence of each cell, or of all
// cells at once.
type Target struct {
	Margin     string `json:"margin"`
	Confidence string `json:"confidence"`
	AllCells   bool   `json:"all_cells,omitempty"`
	// Relative is how the margin was asked for where that is a percentage of a cell of some size, such as "5% of 1000".
	Relative string `json:"relative,omitempty"`
	// Reached is the margin of the widest cell at that confidence; for all cells at once, at the confidence that each of
	// them needs for all to have it together (Bonferroni 1936).
	Reached float64 `json:"reached"`
}

// String is the target in words, such as "±500, 95% sure of each cell".
func (t Target) String() string {
	of := "each cell"
	if t.AllCells {
		of = "all cells at once"
	}
	sure := t.Confidence
	if share, err := budget.ParseRat(t.Confidence); err == nil {
		v, _ := share.Float64()
		sure = budget.Percent(v)
	}
	margin := "±" + t.Margin
	if t.Relative != "" {
		margin += " (" + t.Relative + ")"
	}
	return fmt.Sprintf("%s, %s sure of %s", margin, sure, of)
}

// decimal writes an exact number as a decimal where it is one of few digits.
func decimal(x *big.Rat) string {
	const digits = 12
	text := x.FloatString(digits)
	if short, ok := new(big.Rat).SetString(text); !ok || short.Cmp(x) != 0 {
		return x.RatString()
	}
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}

// relative is how a target's margin was asked for where that is a percentage, "" where it is a number.
func relative(t *spec.Target) string {
	if t.At == nil {
		return ""
	}
	return decimal(new(big.Rat).Mul(t.Share, big.NewRat(100, 1))) + "% of " + decimal(t.At)
}

// goal is a margin and the confidence that each cell is to have it with.
type goal struct{ margin, confidence float64 }

// goal is that of a table's target, false for none.
func (t *table) goal() (goal, bool) {
	asked := t.marginal.Target
	if asked == nil {
		return goal{}, false
	}
	g := goal{}
	g.margin, _ = asked.Margin.Float64()
	confidence := asked.Confidence
	if asked.AllCells {
		miss := new(big.Rat).Sub(big.NewRat(1, 1), confidence)
		miss.Quo(miss, big.NewRat(max(t.possible(), 1), 1))
		confidence = miss.Sub(big.NewRat(1, 1), miss)
	}
	g.confidence, _ = confidence.Float64()
	return g, true
}

// variance is the largest of normal noise that keeps a goal.
func (g goal) variance() float64 {
	z := budget.NormalQuantile((1 - g.confidence) / 2)
	return float64(g.margin/z) * float64(g.margin/z)
}

// gridBits is the number of fractional bits of a mechanism's parameter.
const gridBits = 12

// parameter is the largest parameter of a noise, on the grid that parameters lie on, whose margin keeps a goal; nil where
// there is none.
func (g goal) parameter(noise budget.Kind) *big.Rat {
	if g.margin < 1 {
		return nil // the least noise there is moves a count by one
	}
	at := func(steps int64) *big.Rat { return big.NewRat(steps, 1<<gridBits) }
	keeps := func(steps int64) bool {
		one := big.NewInt(1)
		m := budget.Mechanism{Kind: noise, Parameter: at(steps), L1: one, L2Squared: one}
		margin, _ := m.Margin(g.confidence)
		return float64(margin) <= g.margin
	}
	low, high := int64(1), int64(2)
	if !keeps(low) {
		return nil
	}
	for high < 1<<60 && keeps(high) {
		low, high = high, high*2
	}
	for high-low > max(1, low>>40) {
		if middle := low + (high-low)/2; keeps(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return at(low)
}

// designForTargets adds the designs that keep the targets of the group's tables, with the ε or ρ that each measurement
// needs. Their error is the ρ that they cost.
func (g *group) designForTargets(r *spec.Release, noise budget.Kind, tighten float64) error {
	goals := make([]goal, len(g.tables))
	for i, t := range g.tables {
		asked, ok := t.goal()
		if !ok {
			return fmt.Errorf("table %s has no target, and its leaf gets what targets need", t.path)
		}
		asked.margin = float64(asked.margin * tighten)
		goals[i] = asked
	}
	laplace, ranged := noise == budget.DiscreteLaplace, g.ranged() || g.summed() && g.several()
	switch {
	case laplace && ranged && r.Budget.Delta != nil:
		return nil
	case !ranged || laplace:
		work := g.directForTargets
		if g.summed() || ranged { // or another leaf asks for ranges of its columns
			work = g.rangedForTargets
		}
		each, err := work(r, noise, goals)
		if err != nil {
			return err
		}
		g.designs = append(g.designs, each)
	}
	if !laplace && (len(g.tables) > 1 || g.several() || ranged) {
		d, why, err := g.residualsForTargets(r, goals)
		switch {
		case err != nil:
			return err
		case why != "" && ranged:
			return &fault{"", "the tables along whose columns counts are added up cannot be measured: " + why, "fewer attributes or coarser levels"}
		case why != "":
			g.reasons = append(g.reasons, Alternative{Kind: Residuals, Noise: noise, Why: why})
		default:
			g.designs = append(g.designs, d)
		}
	}
	return nil
}

// rangedForTargets measures every table by itself, in portions where its columns have ranges, well enough by the normal
// law of what many draws add up to.
func (g *group) rangedForTargets(r *spec.Release, noise budget.Kind, goals []goal) (design, error) {
	all := design{kind: Direct, noise: noise}
	for i, t := range g.tables {
		alone := &group{leaf: g.leaf, place: g.place, tables: []*table{t}, chains: g.chains, minimise: g.minimise, needed: true}
		d, err := alone.direct(r, alone.all(), Direct, noise)
		if err != nil {
			return d, err
		}
		w, of, err := alone.estimated(&d, d.variances())
		if err != nil {
			return d, err
		}
		_, peak := w.Variance(0, of)
		epsilon := math.Sqrt(peak / goals[i].variance())
		for j := range d.planned {
			d.planned[j].needs = new(big.Rat).SetFloat64(float64(epsilon * d.parts[j]))
			if d.planned[j].needs == nil || d.planned[j].needs.Sign() <= 0 {
				return d, unreachable(r, t)
			}
		}
		all.planned = append(all.planned, d.planned...)
		all.spread += d.spread / float64(epsilon*epsilon)
	}
	all.error = cost(all.planned)
	return all, nil
}

// directForTargets measures every table by itself, just well enough.
func (g *group) directForTargets(r *spec.Release, noise budget.Kind, goals []goal) (design, error) {
	d, err := g.direct(r, g.all(), Direct, noise)
	if err != nil {
		return d, err
	}
	variances := make([]float64, len(goals))
	for i, asked := range goals {
		p := &d.planned[i]
		parameter := asked.parameter(noise)
		if parameter == nil {
			return d, unreachable(r, g.tables[i])
		}
		if noise == budget.DiscreteLaplace {
			p.needs = new(big.Rat).Quo(new(big.Rat).SetInt(p.l1), parameter)
		} else {
			p.needs = new(big.Rat).Quo(new(big.Rat).SetInt(p.l2Squared), parameter)
			p.needs.Quo(p.needs, big.NewRat(2, 1))
		}
		m := budget.Mechanism{Kind: noise, Parameter: parameter, L1: p.l1, L2Squared: p.l2Squared}
		variances[i] = m.Variance()
	}
	if err := g.predict(&d, g.all(), variances); err != nil {
		return d, err
	}
	d.error = cost(d.planned)
	return d, nil
}

// residualsForTargets measures what the tables share once, with the least cost for which all targets are kept.
func (g *group) residualsForTargets(r *spec.Release, goals []goal) (d design, why string, err error) {
	w, why := g.residualWorkload(r, &d)
	if why != "" {
		return d, why, nil
	}
	bounds := make([]float64, len(goals))
	for i, asked := range goals {
		bounds[i] = asked.variance()
	}
	variances, _, err := w.Within(bounds)
	if err != nil {
		return d, "", err
	}
	for i, v := range variances {
		steps := math.Floor(float64(v * (1 << gridBits)))
		if steps < 1 {
			return d, "a target is finer than the least noise on " + d.planned[i].id(), nil
		}
		parameter := new(big.Rat).SetFloat64(steps)
		parameter.Quo(parameter, big.NewRat(1<<(gridBits-1), 1)) // 2σ²
		d.planned[i].needs = parameter.Quo(new(big.Rat).SetInt(d.planned[i].l2Squared), parameter)
	}
	g.count(&d, w, variances)
	d.error = cost(d.planned)
	return d, "", nil
}

// cost is what measurements for targets need, as a ρ.
func cost(all []planned) float64 {
	sum := new(big.Rat)
	for _, p := range all {
		sum.Add(sum, p.charge(false))
	}
	f, _ := sum.Float64()
	return f
}

// charge is what measurements for targets need, of ε in a pure budget, else of ρ.
func (b *blueprint) charge(all []planned) *big.Rat {
	sum := new(big.Rat)
	for _, p := range all {
		sum.Add(sum, p.charge(b.pure))
	}
	return sum
}

// unreachable is the error for a target that no noise on integers keeps.
func unreachable(r *spec.Release, t *table) error {
	return r.Problem("marginals."+t.marginal.Name+".target", spec.Problem{
		Message:  fmt.Sprintf("no noise keeps a margin of %s on every cell of %s", decimal(t.marginal.Target.Margin), t.path),
		Expected: "a margin of 1 or more, as noise is whole numbers",
	})
}

// aim says of every table with a target what margin it will have: of the widest cell, by the law of its noise.
func (p *Plan) aim(tables []*table) error {
	if !slices.ContainsFunc(tables, func(t *table) bool { return t.marginal.Target != nil }) {
		return nil
	}
	estimates, err := p.Estimates()
	if err != nil {
		return err
	}
	reached := func(i int, confidence float64) float64 {
		if m, ok := p.Measurement(p.Tables[i].Statistics[0].Measurement); ok {
			margin, _ := m.Mechanism.Margin(confidence)
			return float64(margin)
		}
		for _, e := range estimates {
			if marginal := slices.Index(e.Tables, i); marginal >= 0 {
				return e.intervals(marginal, 0, math.Sqrt(e.Largest(marginal, e.Variances)), confidence, laws{}).margin
			}
		}
		return math.Inf(1)
	}
	for i, t := range tables {
		asked, ok := t.goal()
		if !ok {
			continue
		}
		target := t.marginal.Target
		p.Tables[i].Target = &Target{
			Margin: decimal(target.Margin), Confidence: decimal(target.Confidence), AllCells: target.AllCells, Relative: relative(target),
			Reached: budget.RoundUp(reached(i, asked.confidence), significant),
		}
	}
	return nil
}

// ratio is the margin that is reached over the one that is asked for.
func (t Target) ratio() float64 {
	asked, err := budget.ParseRat(t.Margin)
	if err != nil || asked.Sign() <= 0 {
		return math.Inf(1)
	}
	margin, _ := asked.Float64()
	return t.Reached / margin
}

// missed tells that a table will not be as good as its target asks.
func (t Table) missed() bool { return t.Target != nil && t.Target.ratio() > 1+1e-6 }

// missed lists the tables that will not be as good as their targets ask.
func (p *Plan) missed() []Table {
	var out []Table
	for _, t := range p.Tables {
		if t.missed() {
			out = append(out, t)
		}
	}
	return out
}

// missedInNeeded is the least ratio of a target to the margin that is reached, of the tables of leaves that get what their
// targets need: 1 where none is missed.
func (p *Plan) missedInNeeded() float64 {
	needed := p.neededLeaves()
	ratio := 1.0
	for i, t := range p.Tables {
		if t.missed() && needed[p.leafOf(i)] {
			ratio = min(ratio, 1/t.Target.ratio())
		}
	}
	return ratio
}

// errTooLittle is the error for a budget that is less than its targets need.
var errTooLittle = errors.New("the budget is less than its targets need")

// TooLittle is the error for a budget with which targets are missed. Least is the smallest that meets them all, in the
// terms of Key; "" where none was found. Nothing has been planned.
type TooLittle struct {
	Key     string   // epsilon or rho
	Asked   string   // the budget's own
	Least   string   // rounded up
	Missed  []Table  // with the budget as it is; none where it does not even pay for what is needed
	Binds   []string // the tables whose targets are met with nothing to spare by the least budget
	problem error
}

// Error is the problem where it stands in the spec.
func (e *TooLittle) Error() string { return e.problem.Error() }

// Unwrap is the problem in the spec.
func (e *TooLittle) Unwrap() error { return e.problem }

// refuse says what budget would do.
func refuse(r *spec.Release, missed []Table, why error) error {
	e := &TooLittle{Key: key(r.Budget), Missed: missed}
	problem := spec.Problem{Message: "the budget is less than the targets of its leaves need"}
	if len(missed) > 0 {
		var each []string
		for _, t := range missed {
			each = append(each, fmt.Sprintf("%s would have ±%s, its target is ±%s", t.Path, budget.DecimalNearest(t.Target.Reached, 4), t.Target.Margin))
		}
		const listed = 5
		if more := len(each) - listed; more > 0 {
			each = append(each[:listed], fmt.Sprintf("and %d more", more))
		}
		problem.Message = "targets would be missed: " + strings.Join(each, "; ")
	} else if why != nil && !errors.Is(why, errTooLittle) {
		return why
	}
	s, err := Solve(r)
	if err != nil {
		problem.Expected = "wider margins, or fewer tables with targets: " + err.Error()
	} else {
		e.Least, e.Binds = s.Amount, s.Binds
		problem.Expected = fmt.Sprintf("%s: %s or more (the smallest that meets every target; it is set by %s), or wider margins", e.Key, s.Amount, strings.Join(s.Binds, ", "))
	}
	e.problem = r.Problem("budget."+e.Key, problem)
	return e
}

// key is which amount of a budget is solved for.
func key(b spec.Budget) string {
	if b.Epsilon != nil {
		return "epsilon"
	}
	return "rho"
}

// neededLeaves are the leaves that get what their targets need, by their paths.
func (p *Plan) neededLeaves() map[string]bool {
	needed := map[string]bool{}
	for _, l := range p.Leaves {
		needed[l.Path] = l.Needed
	}
	return needed
}

// leafOf is the leaf that pays for a table.
func (p *Plan) leafOf(table int) string {
	for _, m := range p.Release().Marginals {
		if m.Name == p.Tables[table].Marginal {
			return m.Leaf
		}
	}
	return ""
}
