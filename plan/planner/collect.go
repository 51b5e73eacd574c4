package planner

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/local"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/document"
)

// This file plans a collection: which randomiser each question gets, and whether a device answers one question or all.

// inquiry is a question of a collection in the making.
type inquiry struct {
	*workload.Table
	cells   int64 // categories that a report chooses among, but for those that make up a prime
	epsilon *big.Rat
	reports counted.Reports
	share   float64        // of the respondents who answer it
	needs   float64        // the share that its target takes, 0 without one
	order   *summationAxis // of a question whose categories are summed up along one attribute
	texts   *textSearch    // of a question for texts that nobody lists
}

// planCollection plans the questions of a collection. Every device answers one question, which it draws, or all
// questions, with ε divided equally, if that leaves no question with a larger variance, or else misses a target.
//
// Guarantee: the reports of a respondent are ε-locally differentially private together: of one question, by the
// randomiser of ε, as which question is drawn does not depend on the answers; or of all, whose ε add up to ε.
// Neighbours: any two sets of answers of one respondent. Theorem: docs/proofs/local.md.
func planCollection(r *spec.Release, tables []*workload.Table) (*plan.Plan, error) {
	if err := checkOneAnswer(r, tables); err != nil {
		return nil, err
	}
	one, err := drawnInquiries(r, tables)
	if err != nil {
		return nil, err
	}
	best, missed := one, missedInquiry(r, one)
	switch hasTexts := slices.ContainsFunc(one, func(q inquiry) bool { return q.texts != nil }); {
	case len(one) > 1 && !hasTexts:
		if all, err := fullInquiries(r, tables); err == nil && missedInquiry(r, all) == nil &&
			(missed != nil || noneWorse(r, all, one)) {
			best, missed = all, nil
		}
	case len(one) == 1 && len(one[0].formShares()) == 1:
		one[0].reports.Chance = 0 // nothing is drawn
	}
	if missed != nil {
		return nil, missed
	}
	p := collectionPlan(r, best)
	p.Guarantee.Shuffled, err = shuffledOf(r.Collection)
	return p, err
}

// newInquiry returns the question of a table, at ε, without bands.
func newInquiry(r *spec.Release, t *workload.Table, epsilon *big.Rat) (inquiry, error) {
	q := inquiry{Table: t, cells: t.Cells, epsilon: epsilon, share: 1}
	var err error
	if column := r.Table(t.Marginal.Table).Column(t.Marginal.Asked()); column != nil {
		if column.Lattice.PointCount() < 2 {
			return q, r.Problem("marginals."+t.Marginal.Name+".stats", document.Problem{
				Message: fmt.Sprintf("table %s asks for the numbers of %s, of which there is one", t.Path,
					column.Name),
				Expected: "a range of two values at least"})
		}
		if column.Lattice.PointCount() > counted.MostNumbers {
			return q, r.Problem("marginals."+t.Marginal.Name+".stats", document.Problem{
				Message: fmt.Sprintf("table %s asks for the numbers of %s, of which there are %s: devices have a "+
					"list of them",
					t.Path, column.Name, budget.Group(int64(column.Lattice.PointCount()))),
				Expected: fmt.Sprintf("a range with a larger step, of at most %d values", counted.MostNumbers)})
		}
		if q.reports, err = numberReports(epsilon, column, t.Cells); err == nil && !q.reports.HasSums() {
			return q, r.Problem("marginals."+t.Marginal.Name+".by", document.Problem{
				Message: fmt.Sprintf("table %s asks for the numbers of %s in %s cells: sums of permuted reports have no law", t.Path,
					column.Name, budget.Group(t.Cells)),
				Expected: fmt.Sprintf("at most %d cells, by a coarser level", counted.MostInSet/2)})
		}
		q.cells *= max(1, q.reports.Points)
	} else if found, ok := t.Texts(); ok {
		q.cells = local.TextCategories
		if q.reports, err = counted.NewReports(epsilon, local.TextCategories); err == nil {
			q.reports.Length = t.Discovers[0].Domain.Discover().MaxLength
			q.searchTexts(found, r.Collection.Expect)
		}
	} else {
		q.reports, err = counted.NewReports(epsilon, t.Cells)
	}
	if err != nil {
		err = r.Problem("marginals."+t.Marginal.Name, document.Problem{
			Message: fmt.Sprintf("table %s asks its respondents a question of %s categories", t.Path,
				budget.Group(q.cells)),
			Expected: fmt.Sprintf("2 to %d categories, and an ε that probabilities of 48 bits show",
				local.MaxCategories)})
	}
	if err == nil && q.HasSums() && !q.reports.HasSums() {
		key := "cumulative"
		if len(t.Marginal.Ranges) > 0 {
			key = "ranges"
		}
		err = r.Problem("marginals."+t.Marginal.Name+"."+key, document.Problem{
			Message: fmt.Sprintf("table %s adds up along %s categories: sums of permuted reports have no law", t.Path,
				budget.Group(t.Cells)),
			Expected: fmt.Sprintf("at most %d categories, by a coarser level", counted.MostInSet)})
	}
	q.order = orderOf(r, q)
	return q, err
}

// drawnInquiries returns the questions if every device draws the one that it answers. They have equal shares of the
// respondents, or shares by the weights of their marginals, so that none is worse off than by itself with such a share;
// but a question gets what its target needs, and the others share the rest.
func drawnInquiries(r *spec.Release, tables []*workload.Table) ([]inquiry, error) {
	all := make([]inquiry, len(tables))
	needed := 0.0
	for i, t := range tables {
		var err error
		if all[i], err = newInquiry(r, t, r.Collection.Epsilon); err != nil {
			return nil, err
		}
		all[i].chooseBands(float64(r.Collection.Expect) / float64(len(tables)))
		all[i].needs = all[i].neededShare(r.Collection.Expect)
		needed += all[i].needs
	}
	if needed >= 1 { // the targets are missed, or leave nothing
		for i := range all {
			all[i].share = all[i].needs / needed
		}
	} else {
		shareOut(all)
	}
	setChances(all)
	return all, nil
}

// shareOut divides the respondents among the questions, which need less than all of them.
func shareOut(all []inquiry) {
	fixed := make([]bool, len(all))
	for again := true; again; {
		again = false
		left, sum := 1.0, 0.0
		for i := range all {
			if fixed[i] {
				left -= all[i].needs
			} else {
				sum += all[i].Weight
			}
		}
		for i := range all {
			if fixed[i] {
				all[i].share = all[i].needs
				continue
			}
			if all[i].share = float64(left*all[i].Weight) / sum; all[i].share < all[i].needs {
				fixed[i], again = true, true
			}
		}
	}
}

// setChances turns the shares into probabilities of 48 bits, which add up to 1.
func setChances(all []inquiry) {
	left, largest := int64(1)<<local.ChanceBits, 0
	for i := range all {
		all[i].setChances(all[i].share)
		left -= all[i].reports.Drawn()
		if all[i].share > all[largest].share {
			largest = i
		}
	}
	all[largest].reports.Chance += left
	for i := range all {
		all[i].share = float64(all[i].reports.Drawn()) / (1 << local.ChanceBits)
	}
}

// setChances sets the probabilities of the question's forms.
func (q *inquiry) setChances(share float64) {
	chance := func(of float64) int64 { return max(1, int64(math.Floor(float64(of*(1<<local.ChanceBits))))) }
	forms := q.formShares()
	q.reports.Chance = chance(float64(share * forms[0]))
	for i := range q.reports.Bands {
		q.reports.Bands[i].Chance = chance(float64(share * forms[i+1]))
	}
	for i := range q.reports.Prefixes {
		q.reports.Prefixes[i].Chance = chance(float64(share * forms[i+1]))
	}
}

// fullInquiries returns the questions if every device answers all of them.
func fullInquiries(r *spec.Release, tables []*workload.Table) ([]inquiry, error) {
	all := make([]inquiry, len(tables))
	each := new(big.Rat).Quo(r.Collection.Epsilon, big.NewRat(int64(len(tables)), 1))
	for i, t := range tables {
		var err error
		if all[i], err = newInquiry(r, t, each); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// evenShare is the part of the respondents in an average cell if all cells have equally many; half of them in a table
// that counts up.
func (q inquiry) evenShare() float64 {
	if q.HasSums() {
		return 0.5
	}
	return 1 / float64(q.Cells)
}

// respondentsAsked returns about how many of the given respondents answer the question; for texts that nobody lists,
// how many answer the form whose whole texts are counted.
func (q inquiry) respondentsAsked(respondents int64) int64 {
	share := q.share
	if q.texts != nil {
		share = float64(share * q.formShares()[0])
	}
	return max(1, int64(math.Round(float64(share*float64(respondents)))))
}

// variance returns the variance of the estimated number of respondents whose answer is in some cells (one or, in a
// table that counts up, half of all) if that is the part f of all respondents.
func (q inquiry) variance(f float64, respondents int64) float64 {
	law := local.Count{Randomiser: q.reports.Randomiser(), Respondents: respondents,
		Reports: q.respondentsAsked(respondents), Cells: q.reports.Points}
	if q.HasSums() {
		law.Cells = max(1, q.cells/2)
	}
	if law.Cells == q.cells {
		return 0 // every respondent is in the one cell
	}
	deviation := law.Deviation(float64(f * float64(respondents)))
	return float64(deviation * deviation)
}

// evenDeviation returns the standard error of the estimated number of respondents in an average cell, if all cells have
// equally many.
func (q inquiry) evenDeviation(respondents int64) float64 {
	if len(q.reports.Bands) > 0 {
		return q.meanDeviation(q.order.displayedSums(), respondents)
	}
	return math.Sqrt(q.variance(q.evenShare(), respondents))
}

// largestVariance returns the largest variance of the estimate, whatever the answers are, or more: the variance is a
// parabola in the part f.
func (q inquiry) largestVariance(respondents int64) float64 {
	if len(q.reports.Bands) > 0 {
		return q.largestOfBands(respondents)
	}
	none, half, all := q.variance(0, respondents), q.variance(0.5, respondents), q.variance(1, respondents)
	most := max(none, half, all)
	if bend := none + all - float64(2*half); bend < 0 { // it opens downwards, and its vertex is where its slope is 0
		if f := float64((float64(3*none)-float64(4*half)+all)/4) / bend; f > 0 && f < 1 {
			most = max(most, q.variance(f, respondents))
		}
	}
	return most
}

// neededShare returns the least share of the respondents with which the question meets its target; 0 if it has none,
// and more than 1 if all of them are not enough.
func (q inquiry) neededShare(respondents int64) float64 {
	goal, ok := q.Goal()
	if !ok {
		return 0
	}
	q.share = 1
	if most := q.largestVariance(respondents); most > goal.Variance() || len(q.reports.Bands) > 0 {
		return most / goal.Variance() // with bands it is in proportion to 1/share
	}
	low, high := 0.0, 1.0
	for high-low > float64(0x1p-40*high) {
		if q.share = low + float64((high-low)/2); q.largestVariance(respondents) > goal.Variance() {
			low = q.share
		} else {
			high = q.share
		}
	}
	return high
}

// noneWorse reports whether no question has a larger variance in an average cell, and in the worst one, than the same
// question among others.
func noneWorse(r *spec.Release, all, others []inquiry) bool {
	n := r.Collection.Expect
	for i, q := range all {
		if q.askedDeviation(n) > others[i].askedDeviation(n) || q.largestVariance(n) > others[i].largestVariance(n) ||
			q.meanError(n) > others[i].meanError(n) {
			return false
		}
	}
	return true
}

// fewestAsked is how many respondents a question must be asked of, for it to be answered at all.
const fewestAsked = 10

// missedInquiry returns the error for the first target that the expected respondents do not meet, nil if all are met.
func missedInquiry(r *spec.Release, all []inquiry) error {
	n := r.Collection.Expect
	for _, q := range all {
		if q.texts != nil && q.detectionLimit(n) >= n {
			return r.Problem("marginals."+q.Marginal.Name, document.Problem{
				Message: fmt.Sprintf("%s are too few to find texts for %s: even a text that all of them have could be missed",
					budget.Plural(n, "respondent"), q.Path),
				Expected: "more respondents, a larger epsilon, a smaller max_length, or fewer questions"})
		}
		if asked := float64(float64(q.share*q.formShares()[0]) * float64(n)); asked < fewestAsked {
			return r.Problem("marginals."+q.Marginal.Name, document.Problem{
				Message: fmt.Sprintf("only about %s of %s would send the reports that %s is counted by: the targets "+
					"and weights of other questions, and its own other forms, leave no more",
					budget.DecimalNearest(asked, 2), budget.Plural(n, "respondent"), q.Path),
				Expected: "more respondents, wider targets, or weights that are less unequal"})
		}
		goal, ok := q.Goal()
		most := q.largestVariance(n)
		if !ok || most <= goal.Variance()*(1+1e-9) {
			continue
		}
		return r.Problem("marginals."+q.Marginal.Name+".target", document.Problem{
			Message: fmt.Sprintf("at ε = %s, %s reach ±%s in %s", budget.FormatRat(r.Collection.Epsilon),
				budget.Plural(n, "respondent"), budget.DecimalNearest(marginOf(most, goal.Confidence), 4), q.Path),
			Expected: "a wider margin, a larger epsilon, or fewer questions"})
	}
	return nil
}

// collectionPlan writes the plan of a collection.
func collectionPlan(r *spec.Release, all []inquiry) *plan.Plan {
	p := plan.NewEmpty(r)
	p.Cost = budget.Cost{Epsilon: r.Collection.Epsilon}
	p.Guarantee = plan.Guarantee{Definition: "pure", Epsilon: budget.FormatRat(r.Collection.Epsilon),
		Protects: r.Privacy.Protects, Neighbours: string(r.Privacy.Neighbours), MaxRows: 1,
		Account: r.Privacy.Account, FurtherAccounts: r.Privacy.FurtherAccounts}
	p.Leaves = []plan.Leaf{{Share: "1", Amount: p.Cost, Tables: len(all)}}
	group := strategy.Group{Kind: strategy.DrawnQuestions, Noise: budget.SubsetSelection, Measurements: len(all)}
	if all[0].reports.Chance == 0 {
		group.Kind = strategy.AllQuestions
	}
	squares, cells, size := 0.0, int64(0), plan.Size{}
	for _, q := range all {
		table := q.describe(r)
		p.Tables = append(p.Tables, table)
		p.Measurements = append(p.Measurements, q.measurement())
		group.Tables = append(group.Tables, table.Path)
		s := table.Statistics[0].StandardError
		weight, bytes := q.cells, q.reports.WithBands(q.cells)*plan.BytesPerCell
		if q.texts != nil {
			weight, bytes = 1, r.Collection.Expect*plan.BytesPerText
		}
		squares, cells = squares+float64(float64(s*s)*float64(weight)), cells+weight
		size.Cells, size.Bytes = size.Cells+table.Cells, size.Bytes+bytes
	}
	group.RMSE = budget.RoundUp(math.Sqrt(squares/float64(cells)), plan.Significant)
	p.Strategies = []strategy.Group{group}
	p.Size = size
	return p
}

// shuffledOf returns what shuffling adds to the promise of a collection, nil for nothing.
func shuffledOf(c *spec.Collection) (*plan.Shuffled, error) {
	if !c.Shuffled() {
		return nil, nil
	}
	epsilon, err := local.Shuffled(c.Epsilon, c.Honest, c.Delta)
	return &plan.Shuffled{Honest: c.Honest, Delta: budget.FormatRat(c.Delta),
		Epsilon: budget.RoundUp(epsilon, plan.Significant)}, err
}

// marginOf returns the margin of a normal error of this variance.
func marginOf(variance, confidence float64) float64 {
	return float64(budget.NormalQuantile((1-confidence)/2) * math.Sqrt(variance))
}

// measurement returns the measurement of a question: how many reports hold each category.
func (q inquiry) measurement() plan.Measurement {
	m := plan.Measurement{ID: q.Path, Query: q.Query(), Cells: q.reports.WithBands(q.cells), Selection: selection.All{},
		Mechanism: budget.Mechanism{Kind: budget.SubsetSelection, Parameter: q.epsilon}}
	if q.texts != nil {
		m.Cells, m.Selection = 0, q.texts.Texts
	}
	m.Query.Counted = q.reports
	return m
}

// describe returns the table of a question with its accuracy for the expected respondents.
func (q inquiry) describe(r *spec.Release) plan.Table {
	t, n := workload.NewTable(r, q.Table), r.Collection.Expect
	s := &t.Statistics[0]
	even, most := q.evenDeviation(n), math.Sqrt(q.largestVariance(n))
	s.Measurement, s.StandardError = q.Path, budget.RoundUp(even, plan.Significant)
	if most > even*(1+1e-9) {
		s.Uneven = budget.RoundUp(most, plan.Significant)
	}
	s.Margin = budget.RoundUp(marginOf(float64(most*most), s.Confidence), plan.Significant)
	s.Median = budget.RoundUp(marginOf(float64(even*even), 0.5), plan.Significant)
	s.Attained = s.Confidence
	if q.order != nil && q.order.sums == residual.Ranges {
		s.OfRanges = budget.RoundUp(q.askedDeviation(n), plan.Significant)
	}
	if q.texts != nil {
		t.Texts.DetectionLimit, t.Texts.Respondents, t.Texts.Most = q.detectionLimit(n), n, q.texts.Followed
	}
	if column := r.Table(t.From).Column(q.reports.Of); column != nil {
		q.setQuality(t.Figures, column, n)
	}
	if goal, ok := q.Goal(); ok {
		asked := q.Marginal.Target
		t.Target = &plan.Target{Margin: budget.Decimal(asked.Margin), Confidence: budget.Decimal(asked.Confidence),
			AllCells: asked.AllCells, Relative: workload.Relative(asked),
			Reached: budget.RoundUp(marginOf(float64(most*most), goal.Confidence), plan.Significant)}
	}
	return t
}
