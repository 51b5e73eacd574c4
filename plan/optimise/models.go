package optimise

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/boosting"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/design"
	"github.com/dprelease/dprelease/plan/limit"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

// This file holds the planning of models: how many rounds each has, and what noise its leaf buys for them.

// usualRows is how many rows a model is planned for if the spec does not say how many are expected.
const usualRows = 1 << 15

// Model is a model while it is planned.
type Model struct {
	requested *spec.Model
	leaf      int
	cells     int64 // combinations of categories
}

// ExpandModels returns the models that a spec asks for. It returns an error for a model that cannot be counted.
func ExpandModels(r *spec.Release) ([]Model, error) {
	var all []Model
	for i := range r.Models {
		if r.Models[i].FromTables {
			continue
		}
		m := Model{requested: &r.Models[i], cells: 1,
			leaf: slices.IndexFunc(r.Budget.Leaves, func(l spec.Leaf) bool { return l.Path == r.Models[i].Leaf })}
		if m.leaf < 0 {
			return nil, fmt.Errorf("model %s: the budget has no leaf %q", m.requested.Name, m.requested.Leaf)
		}
		columns := workload.NewModel(r, m.requested).Columns()
		levels, err := plan.Query{Table: m.requested.Table, Factors: columns}.Levels(r)
		if err != nil {
			return nil, fmt.Errorf("model %s: %w", m.requested.Name, err)
		}
		for _, l := range levels {
			if m.cells > limit.SparseCells/int64(max(l.Size(), 1)) {
				return nil, fmt.Errorf(
					"model %s: its columns have more than 2^62 combinations of categories: use coarser levels or "+
						"fewer columns under `by`",
					m.requested.Name)
			}
			m.cells *= int64(l.Size())
		}
		if err := m.checkCategories(r, levels); err != nil {
			return nil, err
		}
		for _, pair := range m.requested.Pairs {
			if cells := int64(levels[pair[0]].Size()) * int64(levels[pair[1]].Size()); cells > boosting.MostCategories {
				by := m.requested.By
				return nil, workload.LocateFault(r, "models."+m.requested.Name, &workload.Fault{Key: "pairs",
					Message: fmt.Sprintf("the pair of %s and %s has %s combinations of categories", by[pair[0]],
						by[pair[1]], budget.Group(cells)),
					Expected: fmt.Sprintf("at most %s: use coarser levels", budget.Group(boosting.MostCategories))})
			}
		}
		all = append(all, m)
	}
	return all, nil
}

// checkCategories returns an error for a model in rounds with a column of too many categories.
func (m Model) checkCategories(r *spec.Release, levels []*domain.Level) error {
	named := workload.NewModel(r, m.requested)
	for i, l := range levels {
		if !named.Adaptive() || l.Size() <= boosting.MostCategories {
			continue
		}
		key := "by"
		if i == len(named.By) {
			key = "predict"
		}
		return workload.LocateFault(r, "models."+named.Name, &workload.Fault{Key: key,
			Message: fmt.Sprintf("%s has %s categories", named.Columns()[i], budget.Group(int64(l.Size()))),
			Expected: fmt.Sprintf("at most %s: a coarser level, or a smaller range",
				budget.Group(boosting.MostCategories))})
	}
	return nil
}

// TableModels returns the regressions that a spec wants made of its tables. It returns an error if no table has two of
// their columns.
func TableModels(r *spec.Release, tables []*workload.Table) (all []plan.Model, err error) {
	for i := range r.Models {
		if !r.Models[i].FromTables {
			continue
		}
		m := workload.NewModel(r, &r.Models[i])
		if m.From, err = workload.TablesOfPairs(r, tables, m.Table, m.Columns()); err != nil {
			return nil, workload.LocateFault(r, "models."+m.Name, err)
		}
		d, err := plan.NewEmpty(r).Design(m)
		if err != nil {
			return nil, err
		}
		if work := workOfTables(d); work > mostTableWork {
			return nil, workload.LocateFault(r, "models."+m.Name, &workload.Fault{Key: "from",
				Message:  "the tables of pairs of its columns are too large to make a regression of",
				Expected: "coarser levels or fewer columns: two columns of 30 categories each are as much as there may be"})
		}
		all = append(all, m)
	}
	return all, nil
}

// mostTableWork bounds [workOfTables]: some minutes.
const mostTableWork = 1 << 30

// workOfTables returns about how many steps it takes to follow the noise of the tables of all pairs of columns through
// a regression: of each pair its cells, times the square of the number of its products of features.
func workOfTables(d *design.Design) (work float64) {
	features := func(c design.Column) float64 {
		if c.IsNumber() {
			return 1
		}
		return float64(c.Size())
	}
	for i, a := range d.Columns() {
		for _, b := range d.Columns()[i+1:] {
			products := float64(features(a) * features(b))
			work += float64(float64(products*products) * float64(a.Size()*b.Size()))
		}
	}
	return work
}

// Memory returns about how many bytes the rows of a model take while it is fitted: each as a cell of the joint
// histogram, with a count, and as a category of each column, with a score.
func (m Model) Memory(r *spec.Release) int64 {
	const bytesPerCell, bytesPerRow = 2 * 8, 2 * 4
	return min(m.expectedRows(r), m.cells) * int64(bytesPerCell+bytesPerRow+len(m.requested.By)+1)
}

// expectedRows returns how many rows a model is planned for.
func (m Model) expectedRows(r *spec.Release) int64 {
	if rows := r.Table(m.requested.Table).ExpectedRows(); rows > 0 {
		return rows
	}
	return usualRows
}

// spendLeaf divides the ρ of a leaf among the rounds of a model.
func (m Model) spendLeaf(r *spec.Release, amount *big.Rat) (plan.Model, error) {
	out := workload.NewModel(r, m.requested)
	var err error
	switch {
	case out.Additive():
		err = m.spendOnRounds(&out, r, amount)
	case out.Descends():
		err = m.spendOnGradients(&out, r, amount)
	default:
		err = m.spendOnMoments(&out, r, amount)
	}
	if err != nil {
		return out, fmt.Errorf("model %s: %w", out.Name, err)
	}
	return out, nil
}

// spendOnMoments divides the ρ of a leaf between the two vectors of moments of a regression, so that the noise of
// products has [design.NoiseRatio] of the variance of that of squares.
//
// Guarantee: both together are ρ-zCDP with ρ at most the amount. Neighbours: the release's own. Argument:
// docs/proofs/regression.md.
func (m Model) spendOnMoments(out *plan.Model, r *spec.Release, amount *big.Rat) error {
	d, err := plan.NewEmpty(r).Design(*out)
	if err != nil {
		return err
	}
	change := changeOf(r, out.Table)
	diagonal, products := d.Diagonal(change), d.OffDiagonal(change)
	squares := new(big.Rat).SetInt(diagonal.L2Squared)
	weighted := new(big.Rat).Quo(new(big.Rat).SetInt(products.L2Squared), new(big.Rat).SetFloat64(design.NoiseRatio))
	ofSquares := new(big.Rat).Mul(amount, squares.Quo(squares, new(big.Rat).Add(squares, weighted)))
	for _, one := range []struct {
		asks plan.ModelQuestion
		by   design.Sensitivity
		rho  *big.Rat
	}{{plan.SquareSums, diagonal, ofSquares}, {plan.Products, products, new(big.Rat).Sub(amount, ofSquares)}} {
		noise, err := modelNoise(r, sensitivityOf(one.by), one.rho)
		if err != nil {
			return err
		}
		out.Rounds = append(out.Rounds, plan.ModelRounds{Asks: one.asks, Times: 1, Noise: noise})
	}
	return nil
}

// changeOf returns what a privacy unit can change in a table.
func changeOf(r *spec.Release, table string) design.Change {
	all, _ := counted.Unit{Table: r.Table(table), Neighbours: r.Privacy.Neighbours, Cells: 2}.Rows()
	change := design.Change{Added: all}
	if r.Privacy.Neighbours == spec.Replace {
		change.Removed = all
	}
	return change
}

// sensitivityOf returns the sensitivity of sums of features.
func sensitivityOf(s design.Sensitivity) *counted.Sensitivity {
	return &counted.Sensitivity{L1: s.L1, L2Squared: s.L2Squared, LargestFactor: s.Largest}
}

// spendOnGradients divides the ρ of a leaf among the rounds of gradient descent: a part for the count of rows, and the
// rest equally among the gradients. The noise of a local model is not shared: each holder draws all of it.
//
// Guarantee: all rounds together are ρ-zCDP with ρ at most the amount, and no more private than their mechanisms one
// after another, whatever each round asks. Neighbours: the release's own. Theorem: Zhu, Dong & Wang 2022, theorem 10,
// as the mechanism of each round is fixed beforehand. Argument: docs/proofs/models.md.
func (m Model) spendOnGradients(out *plan.Model, r *spec.Release, amount *big.Rat) error {
	d, err := plan.NewEmpty(r).Design(*out)
	if err != nil {
		return err
	}
	rho, _ := amount.Float64()
	descent := boosting.NewDescent(math.Sqrt(2*rho), m.expectedRows(r), len(out.By), max(m.requested.Steps, 1))
	out.Descent = &descent
	counts := new(big.Rat).Mul(amount, big.NewRat(boosting.DescentCountPercent, 100))
	each := new(big.Rat).Sub(amount, counts)
	each.Quo(each, big.NewRat(int64(descent.Gradients()), 1))
	unit := counted.Unit{Table: r.Table(out.Table), Neighbours: r.Privacy.Neighbours, Cells: 2}
	noise := func(by *counted.Sensitivity, rho *big.Rat) (budget.Mechanism, error) {
		if out.Local() {
			return noiseFor(budget.DefaultLaw(false), by, rho)
		}
		return modelNoise(r, by, rho)
	}
	count, err := noise(unit.Counts(), counts)
	if err != nil {
		return err
	}
	sum, err := noise(sensitivityOf(d.Gradient(boosting.Bound, changeOf(r, out.Table))), each)
	if err != nil {
		return err
	}
	out.Rounds = []plan.ModelRounds{{Asks: plan.CountsOfTarget, Times: 1, Noise: count},
		{Asks: plan.GradientSums, Times: descent.Gradients(), Noise: sum}}
	return nil
}

// spendOnRounds divides the ρ of a leaf among the rounds of an additive model: equally among the counts of all columns,
// which get a tenth together, and equally among the sums of residuals of all columns and pairs.
//
// Guarantee: all rounds together are ρ-zCDP with ρ at most the amount, and no more private than their mechanisms one
// after another, whatever each round asks. Neighbours: the release's own. Theorem: Zhu, Dong & Wang 2022, theorem 10,
// as the mechanism of each round is fixed beforehand; one row moves one answer, by at most [boosting.Bound]. Argument:
// docs/proofs/models.md.
func (m Model) spendOnRounds(out *plan.Model, r *spec.Release, amount *big.Rat) error {
	rho, _ := amount.Float64()
	schedule := boosting.NewSchedule(math.Sqrt(2*rho), m.expectedRows(r), out.Tables())
	out.Schedule = &schedule
	counts := new(big.Rat).Mul(amount, big.NewRat(boosting.CountPercent, 100))
	residuals := new(big.Rat).Sub(amount, counts)
	columns, rounds := len(out.By)+1, schedule.Epochs*out.Tables()
	unit := counted.Unit{Table: r.Table(out.Table), Neighbours: r.Privacy.Neighbours, Cells: 2}
	count, err := modelNoise(r, unit.Counts(), counts.Quo(counts, big.NewRat(int64(columns), 1)))
	if err != nil {
		return err
	}
	sum, err := modelNoise(r, residualSensitivity(unit), residuals.Quo(residuals, big.NewRat(int64(rounds), 1)))
	if err != nil {
		return err
	}
	out.Rounds = []plan.ModelRounds{{Asks: plan.CountsOfColumn, Times: columns, Noise: count},
		{Asks: plan.ResidualSums, Times: rounds, Noise: sum}}
	return nil
}

// modelNoise returns the noise that a ρ buys for the answers of a model. Several holders draw it in shares, each of at
// least [budget.LeastGaussianShare]: a ρ that would buy less noise is not all spent.
func modelNoise(r *spec.Release, by *counted.Sensitivity, rho *big.Rat) (budget.Mechanism, error) {
	m, err := noiseFor(budget.DefaultLaw(false), by, rho)
	if err != nil || r.Holders == nil {
		return m, err
	}
	m.Shares = r.Holders.Shares()
	if least := big.NewRat(budget.LeastGaussianShare*int64(m.Shares.Needed), 1); m.Parameter.Cmp(least) < 0 {
		m.Parameter = least
	}
	return m, m.Validate()
}

// residualSensitivity returns the sensitivity of sums to which each row adds an integer from −Bound to Bound, in one of
// them.
func residualSensitivity(u counted.Unit) *counted.Sensitivity {
	most := big.NewInt(boosting.Bound)
	all, each := u.Rows()
	extent := counted.Extent{Least: new(big.Int).Neg(most), Most: most}
	return counted.SumSensitivity(u.Neighbours, extent, all, each, u.Cells)
}
