package compiled

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
	"github.com/dprelease/dprelease/plan/boosting"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/fitting"
	"github.com/dprelease/dprelease/plan/limit"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

// This file checks the shape of a plan that was read: whether its parts fit each other and its spec, so that no
// reader of them has to check.

// Read compiles a plan.json. It returns an error as [plan.Read] does, for bytes that are not canonical, and for a
// plan whose parts do not fit together, such as a measurement with another number of answers than its question has.
// It does not check that the planner would make this plan; verification does.
func Read(b []byte) (*Compiled, error) {
	p, err := plan.Read(b)
	if err != nil {
		return nil, err
	}
	c := Of(p)
	c.workload, err = checkedWorkload(p)
	if c.text != string(b) {
		err = errors.New("it is not in canonical form")
	}
	if err != nil {
		return nil, editedError(err)
	}
	return c, nil
}

// checkedWorkload works out the workload of a plan's spec. It returns an error unless the plan's parts fit that and
// each other.
func checkedWorkload(p *plan.Plan) (*Workload, error) {
	w, err := newWorkload(p)
	if err != nil {
		return nil, err
	}
	return w, w.checkPlan(p)
}

// editedError returns the error for a plan of which something is wrong.
func editedError(err error) error {
	return fmt.Errorf("%w after it was made (%w): make it again with `dprelease plan`", plan.ErrEdited, err)
}

// checkPlan returns an error unless the tables are those that the spec asks for, and the measurements are complete
// ones of them and of the microdata.
func (w *Workload) checkPlan(p *plan.Plan) error {
	tables := w.Tables
	if len(p.Tables) != len(tables) {
		return fmt.Errorf("it has %d tables, its spec asks for %d", len(p.Tables), len(tables))
	}
	measured := map[string]plan.Measurement{}
	for _, m := range p.Measurements {
		if _, twice := measured[m.ID]; twice {
			return fmt.Errorf("measurement %s is there twice", m.ID)
		}
		if !m.Noisy() {
			return fmt.Errorf("measurement %s has no noise", m.ID)
		}
		measured[m.ID] = m
	}
	itself := map[string]bool{}
	for _, t := range w.Parts {
		m, ok := measured[t.Path]
		if !ok || !measuresPart(t, p.Release(), m) {
			return fmt.Errorf("measurement %s is not as the spec asks for it", t.Path)
		}
		itself[t.Path] = true
	}
	for i, t := range p.Tables {
		if err := checkTable(t, workload.NewTable(p.Release(), tables[i])); err != nil {
			return fmt.Errorf("table %s: %w", tables[i].Path, err)
		}
		m, ok := measured[t.Path]
		own := ok && m.Cells == answersIn(p, m, t.Cells) && m.Impossible == t.Impossible && t.GivesOut(m.Selection) &&
			reflect.DeepEqual(m.Query.WithoutRandomiser(), tables[i].Query())
		if id := t.Statistics[0].Measurement; ok != own || id != "" && (id != t.Path || !own) {
			return fmt.Errorf("table %s: measurement %s%s does not measure it", t.Path, id, m.ID)
		}
		itself[t.Path] = own
	}
	for i, t := range p.Tables {
		if t.Invariant != DecidingInvariant(p, t, tables[i]) {
			return fmt.Errorf("table %s: its public figures are not those of the spec", t.Path)
		}
	}
	if !reflect.DeepEqual(Invariants(p), p.Invariants) {
		return fmt.Errorf("its public figures are not those of the spec")
	}
	if err := checkTotals(p); err != nil {
		return err
	}
	if err := checkOtherNoise(p); err != nil {
		return err
	}
	if err := w.checkModels(p); err != nil {
		return err
	}
	if consistent, err := fitting.Consistencies(p, tables); err != nil || !reflect.DeepEqual(consistent, p.Consistent) {
		return fmt.Errorf("its counts are not made to add up as the spec asks for it")
	}
	return w.checkMeasurements(p, itself)
}

// answersIn returns how many answers a measurement has for so many cells of its table.
func answersIn(p *plan.Plan, m plan.Measurement, cells int64) int64 {
	if reports, ok := m.Reports(); ok {
		return reports.WithBands(cells * reports.PerCell(p.Release().Table(m.Query.Table)))
	}
	return cells
}

// measuresPart reports whether a measurement is the part's. The budget decides where the ends of its intervals are
// drawn, and whether quantiles are read from a distribution, and from which, so these may differ.
func measuresPart(t *workload.Table, r *spec.Release, m plan.Measurement) bool {
	q := m.Query
	if m.Selection.Kind() != t.Selection.Kind() {
		return false
	}
	q.Counted = t.Counted
	if !reflect.DeepEqual(q, t.Query()) {
		return false
	}
	if t.Counted.Kind().Traits().Drawn {
		return measuresDrawn(t, r, m)
	}
	return m.Cells == t.Cells && reflect.DeepEqual(m.Query.Counted, t.Counted)
}

// measuresDrawn reports whether a measurement is of a part's quantiles, drawn with the ends of their intervals, or of
// bins that they can be read from.
func measuresDrawn(t *workload.Table, r *spec.Release, m plan.Measurement) bool {
	wanted := t.Quantiles()
	switch got := m.Query.Counted.(type) {
	case counted.Bins:
		return got.Column == wanted.Column && got.Weight == wanted.Weight && t.CanDistribute(r, false) &&
			got.Check(r.Table(m.Query.Table)) == nil && m.Cells == t.Groups()*got.PerCell(r.Table(m.Query.Table))
	case counted.Quantiles:
		wanted.Shift, wanted.Beyond = got.Shift, got.Beyond
		return m.Cells == t.Cells && got.Shift > 0 && got.Beyond >= 0 && reflect.DeepEqual(got, wanted)
	}
	return false
}

// checkTable compares a table with the one that the spec asks for.
func checkTable(t plan.Table, wanted plan.Table) error {
	if t.Path != wanted.Path || t.Marginal != wanted.Marginal || t.From != wanted.From ||
		!slices.Equal(t.By, wanted.By) ||
		t.Cells != wanted.Cells || t.Impossible != wanted.Impossible {
		return fmt.Errorf("it is not as the spec asks for it")
	}
	if len(t.Statistics) != 1 || t.Statistics[0].Name != wanted.Statistics[0].Name {
		return fmt.Errorf("it does not hold one count")
	}
	if !slices.EqualFunc(t.Figures, wanted.Figures, plan.Figure.MatchesRequest) || t.Show != wanted.Show ||
		t.Weighted != wanted.Weighted || t.PerUnit != wanted.PerUnit {
		return fmt.Errorf("its figures are not as the spec asks for them")
	}
	if !t.SelectsAs(wanted) {
		return fmt.Errorf("it does not give out the cells that the spec asks for")
	}
	s := t.Statistics[0]
	if !(s.Confidence > 0 && s.Confidence < 1) || !(s.Margin >= 0) || math.IsInf(s.Margin, 1) {
		return fmt.Errorf("its intervals are none")
	}
	return nil
}

// checkTotals checks that the measurements are those of the strategies and of the microdata.
func checkTotals(p *plan.Plan) error {
	left := len(p.Measurements)
	if !slices.Contains([]strategy.Summing{strategy.RangedPerLeaf, strategy.RangedEverywhere, strategy.CellByCell,
		strategy.LevelsSeparate},
		p.Sums) {
		return fmt.Errorf("there is no way %q to measure columns of sums", p.Sums)
	}
	for _, text := range []string{p.Guarantee.Epsilon, p.Guarantee.Delta, p.Guarantee.Rho, p.Guarantee.PlainRho,
		p.Guarantee.DeltaMeasured} {
		if _, err := budget.ParseRat(text); text != "" && err != nil {
			return fmt.Errorf("its guarantee has no number: %q", text)
		}
	}
	if parts := workload.Reserved(p) != nil; parts != (p.Guarantee.DeltaMeasured != "") {
		return fmt.Errorf("its guarantee does not say which part of δ is for measurements")
	}
	for _, s := range p.Strategies {
		if len(s.Tables) == 0 {
			return fmt.Errorf("a strategy is of no table")
		}
		if s.Measurements < 0 || s.Measurements > left {
			return fmt.Errorf("its strategies do not have its measurements")
		}
		left -= s.Measurements
	}
	for _, s := range p.Synthetic {
		if err := checkMicrodata(s); err != nil {
			return err
		}
		left -= s.Measured()
	}
	for _, m := range p.Models {
		if err := checkModel(p.Release(), m); err != nil {
			return err
		}
	}
	if left != 0 {
		return fmt.Errorf("its measurements are not those of its strategies and of its microdata")
	}
	return nil
}

// checkOtherNoise returns an error unless the plan mentions other laws of noise only if its budget can be spent on
// them, each once, with figures or with a reason.
func checkOtherNoise(p *plan.Plan) error {
	for i, o := range p.OtherNoise {
		known := slices.ContainsFunc(NoiseUnder(p.Release()), func(law NoiseLaw) bool {
			return law.Kind == o.Noise &&
				law.Requested != p.Release().Budget.Noise
		})
		twice := slices.ContainsFunc(p.OtherNoise[:i],
			func(other strategy.OtherNoise) bool { return other.Noise == o.Noise })
		if p.Release().Budget.Delta == nil || !known || twice {
			return fmt.Errorf("there is no other noise %q for its budget", o.Noise)
		}
		charge, err := budget.ParseRat(o.Charge)
		if possible := err == nil && charge.Sign() > 0; possible == !o.Why.IsZero() || !(o.Error >= 0) ||
			math.IsInf(o.Error, 1) ||
			!slices.Contains([]string{"", strategy.LevelsDisagree, strategy.LevelsAgree}, o.Levels) {
			return fmt.Errorf("what it says of %s noise is no charge and error", o.Noise)
		}
	}
	return nil
}

// checkMicrodata returns an error unless the rounds are ones that a method makes: with no more candidates than can be
// listed, and within the block.
func checkMicrodata(s plan.Synthetic) error {
	if s.Files < 0 {
		return fmt.Errorf("the microdata of %s have less than no files", s.Table)
	}
	if !s.Adaptive() {
		wanted := plan.Synthetic{Table: s.Table, Method: s.Method, Why: s.Why, By: s.By, Derived: s.Derived,
			Rows:   s.Rows,
			RowsOf: s.RowsOf, Files: s.Files}
		if len(s.By) < 2 || !reflect.DeepEqual(s, wanted) {
			return fmt.Errorf("the microdata of %s are of tables alone, and ask for more", s.Table)
		}
		return nil
	}
	switch {
	case s.Given < 0 || s.Given > len(s.By)-1 || (s.Given > 0) != (s.Parent != "") || s.Given > 0 && s.Rows != 0:
		return fmt.Errorf("the microdata of %s are linked to no parent as microdata can be", s.Table)
	case s.Method != plan.MST && s.Method != plan.AIM:
		return fmt.Errorf("there is no method %q for the microdata of %s", s.Method, s.Table)
	case len(s.By) < 2 || s.Ways < 2 || s.Ways > adaptive.DefaultRoundColumns || s.Ways > len(s.By) ||
		s.Method == plan.MST &&
			s.Ways != 2 || len(s.By) > adaptive.MaxCandidates || adaptive.CandidateCount(s) > adaptive.MaxCandidates:
		return fmt.Errorf("the microdata of %s have no such candidates", s.Table)
	case (s.LargestModel == nil) != (s.Method == plan.MST) || s.LargestModel != nil &&
		*s.LargestModel != adaptive.MaxModelSize():
		return fmt.Errorf("the model of the microdata of %s has another size", s.Table)
	case s.Select.Kind != budget.ExponentialMechanism || !s.Noise.Kind.Normal() ||
		s.Block.Kind != budget.AdaptiveBlock:
		return fmt.Errorf("the microdata of %s are made by other mechanisms", s.Table)
	case s.Rounds < 1 || adaptive.Block(s.Rounds, s.Select, s.Noise).Parameter.Cmp(s.Block.Parameter) > 0:
		return fmt.Errorf("the rounds of the microdata of %s are beyond their cap", s.Table)
	}
	return nil
}

// checkModel returns an error unless a model has the rounds that its method asks, with Gaussian noise, which all
// holders draw if there are several.
func checkModel(r *spec.Release, m plan.Model) error {
	var shares budget.Shares
	if r.Holders != nil {
		shares = r.Holders.Shares()
	}
	wanted := []plan.ModelRounds{{Asks: plan.SquareSums, Times: 1}, {Asks: plan.Products, Times: 1}}
	switch {
	case len(m.By) == 0 || len(m.By) > boosting.MostColumns:
		return fmt.Errorf("model %s has no such columns", m.Name)
	case m.Additive() && m.Schedule != nil && m.Schedule.Check() == nil && m.Descent == nil:
		wanted = []plan.ModelRounds{{Asks: plan.CountsOfColumn, Times: len(m.By) + 1},
			{Asks: plan.ResidualSums, Times: m.Schedule.Epochs * m.Tables()}}
	case m.Descends() && m.Descent != nil && m.Descent.Check() == nil && m.Schedule == nil && m.Class >= 0:
		wanted = []plan.ModelRounds{{Asks: plan.CountsOfTarget, Times: 1},
			{Asks: plan.GradientSums, Times: m.Descent.Gradients()}}
		if m.Local() {
			shares = budget.Shares{}
		}
	case m.Schedule != nil || m.Descent != nil || m.Method != spec.LinearModel && m.Method != spec.LogisticModel:
		return fmt.Errorf("model %s is by a method that this version does not know", m.Name)
	}
	if !slices.EqualFunc(m.Rounds, wanted, func(r, w plan.ModelRounds) bool {
		return r.Asks == w.Asks && r.Times == w.Times && r.Noise.Kind.Normal() && r.Noise.Shares == shares
	}) {
		return fmt.Errorf("model %s has other rounds than its method asks", m.Name)
	}
	if m.Adaptive() {
		shape, err := plan.NewEmpty(r).Shape(m)
		if err == nil {
			err = shape.Check()
		}
		if err != nil {
			return fmt.Errorf("model %s: %w", m.Name, err)
		}
	}
	return nil
}

// checkModels returns an error unless the models are those that the spec asks for, in its order: those that are fitted
// to rows, of which the planner decides only rounds, schedule and descent, and those that are made of tables.
func (w *Workload) checkModels(p *plan.Plan) error {
	fitted, made := p.Models, p.TableModels
	for i := range p.Release().Models {
		requested := &p.Release().Models[i]
		of, wanted := &fitted, workload.NewModel(p.Release(), requested)
		if requested.FromTables {
			from, err := workload.TablesOfPairs(p.Release(), w.Tables, wanted.Table, wanted.Columns())
			if err != nil {
				return fmt.Errorf("model %s: %w", requested.Name, err)
			}
			of, wanted.From = &made, from
		}
		if len(*of) == 0 {
			return fmt.Errorf("it lacks the model %s", requested.Name)
		}
		m := (*of)[0]
		*of = (*of)[1:]
		if !requested.FromTables {
			if m.Descent != nil && m.Descent.Steps != max(requested.Steps, 1) {
				return fmt.Errorf("model %s has steps that the spec does not ask for", requested.Name)
			}
			m.Rounds, m.Schedule, m.Descent = nil, nil, nil
		}
		if !reflect.DeepEqual(m, wanted) {
			return fmt.Errorf("model %s is not as the spec asks for it", requested.Name)
		}
	}
	if len(fitted)+len(made) > 0 {
		return fmt.Errorf("it has a model that its spec does not ask for")
	}
	return nil
}

// checkMeasurements returns an error unless every measurement has one question on columns that tables or microdata
// have, and as many answers as that question.
func (w *Workload) checkMeasurements(p *plan.Plan, itself map[string]bool) error {
	for i, m := range p.Measurements {
		levels, err := m.Query.Levels(p.Release())
		if err != nil {
			return fmt.Errorf("measurement %s: %w", m.ID, err)
		}
		if hasTwice(m.Query.Factors) {
			return fmt.Errorf("measurement %s has a column twice", m.ID)
		}
		if err := cmp.Or(m.Check(p.Release().Table(m.Query.Table)), m.CheckBands(p.Release())); err != nil {
			return fmt.Errorf("measurement %s: %w", m.ID, err)
		}
		kind, given := m.Query.Counted.Kind().Traits(), giving[m.Selection.Kind()]
		switch {
		case !itself[m.ID] && !(kind.AsRows && given.shared && m.Query.PerUnit == (spec.PerUnit{})):
			return fmt.Errorf("measurement %s is of no table", m.ID)
		case kind.SeveralAnswers || given.unlisted:
			continue // compared with its part, or its table
		}
		shared := i < len(p.TableMeasurements()) && !itself[m.ID]
		if cells, ok := answerCount(w.Chains[m.Query.Table], m.Leaf, m.Query, levels, shared,
			given.most); !ok || cells != m.Cells {
			return fmt.Errorf("measurement %s has not as many answers as its question", m.ID)
		}
	}
	for i, s := range p.Synthetic {
		for k, m := range p.ColumnsOf(i) {
			if m.ID != s.Column(k) || len(m.Query.Factors) != 1 || m.Query.Factors[0] != s.By[k] {
				return fmt.Errorf("the microdata of %s are not measured column by column", s.Table)
			}
		}
	}
	return nil
}

// giving lists, by selection, how many answers there may be, or that no plan knows their number, and whether several
// tables can share them.
var giving = [selection.Kinds]struct {
	most             int64
	unlisted, shared bool
}{
	selection.KindAll:    {most: limit.Cells, shared: true},
	selection.KindAbove:  {most: limit.SparseCells},
	selection.KindTop:    {most: limit.SparseCells},
	selection.KindGroups: {unlisted: true},
	selection.KindTexts:  {unlisted: true},
}

// hasTwice reports whether two factors are of one column.
func hasTwice(factors []plan.Factor) bool {
	for i, f := range factors {
		if slices.ContainsFunc(factors[:i], func(other plan.Factor) bool { return other.Attribute == f.Attribute }) {
			return true
		}
	}
	return false
}

// answerCount returns how many answers a query has. It reports false for a query that is not valid: a shared one must
// be on axes of the chains, as counts or residuals; any other must be of counts.
func answerCount(c workload.Chains, leaf string, q plan.Query, levels []*domain.Level, shared bool, most int64) (int64,
	bool) {
	n := int64(1)
	for i, f := range q.Factors {
		size := int64(levels[i].Size())
		axis, ok := c.Axis(leaf, spec.Attribute{Column: f.Attribute, Level: f.Level})
		switch {
		case f.Classes != "", shared && !ok || !shared && f.Basis != plan.Identity:
			return 0, false
		case f.Basis == plan.Residual || f.Basis == plan.Ranges:
			size = int64(c.Columns[axis.Column].Integers(axis.Level))
			if _, ranged := c.Columns[axis.Column].Ranging(); ranged != (f.Basis == plan.Ranges) {
				return 0, false
			}
		case f.Basis != plan.Identity:
			return 0, false
		}
		if size < 1 || n > most/size {
			return 0, false
		}
		n *= size
	}
	return n, true
}
