package plan

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/canonical"
	"github.com/dprelease/dprelease/plan/boosting"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/design"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

// This file holds the models of a plan: what is asked to fit each, in rounds that are all fixed beforehand.

// Model is a model that predicts a column of a table from others. What each round asks depends on the answers before
// it; how many rounds there are, how far one row moves an answer and how much noise it gets do not.
type Model struct {
	Name   string           `json:"name"`
	Table  string           `json:"table"`
	Leaf   string           `json:"leaf,omitempty"` // of the budget, which pays for nothing else
	Method spec.ModelMethod `json:"method"`
	Target Factor           `json:"target"`
	// Class is the category of the target whose probability is predicted; -1 if the target is predicted as a number.
	Class int `json:"class"`
	// Link is log if scores add up to the logarithm of a number's mean; "" if the target decides the link: logit of a
	// category, identity of a number.
	Link boosting.Link `json:"link,omitempty"`
	By   []Factor      `json:"by"` // the columns of the model, in order
	// Pairs are the pairs of columns that have a table of scores of their own, by their indices in By.
	Pairs [][2]int `json:"pairs,omitempty"`
	// From are the tables that a regression is made of, one for each pair of its columns, the pairs in the order
	// (0, 1), (0, 2), …, (1, 2), …; nil if it is fitted to rows, in rounds.
	From []string `json:"from,omitempty"`
	// Rounds are what is asked, in order.
	Rounds []ModelRounds `json:"rounds,omitempty"`
	// Schedule is how an additive model is fitted, and Descent how a regression is by gradient descent.
	Schedule *boosting.Schedule `json:"schedule,omitempty"`
	Descent  *boosting.Descent  `json:"descent,omitempty"`
	// Test is the share of rows that are held out, an exact fraction; "" for none. They are counted by bins of their
	// scores as often as residuals are summed up, with the same noise. No row is in both, so this costs nothing more.
	Test string `json:"test,omitempty"`
}

// ModelRounds are successive rounds of a model with one mechanism.
type ModelRounds struct {
	// Asks is what each of these rounds asks.
	Asks ModelQuestion `json:"asks"`
	// Times is how many rounds there are.
	Times int `json:"times"`
	// Noise is the noise on the answer of each.
	Noise budget.Mechanism `json:"noise"`
}

// ModelQuestion names what a round of a model asks.
type ModelQuestion string

const (
	// CountsOfColumn asks for the number of rows with each category of a column.
	CountsOfColumn ModelQuestion = "counts"
	// ResidualSums asks for the sums of the residuals of the model so far, by group of categories of a column.
	ResidualSums ModelQuestion = "residuals"
	// CountsOfTarget asks for the number of rows with each category of the target, and GradientSums for the sums of
	// each feature times the residual of the model so far.
	CountsOfTarget ModelQuestion = "target"
	GradientSums   ModelQuestion = "gradient"
	// SquareSums asks for the sums of squares of the features of a regression, and Products for the sums of their
	// products.
	SquareSums ModelQuestion = "squares"
	Products   ModelQuestion = "products"
)

// AllModels returns the models in the order of the spec, in which they are published: those that are fitted in rounds,
// and those that are made of tables.
func (p *Plan) AllModels() []Model {
	all := slices.Concat(p.Models, p.TableModels)
	place := func(m Model) int {
		return slices.IndexFunc(p.Release().Models, func(of spec.Model) bool { return of.Name == m.Name })
	}
	slices.SortStableFunc(all, func(a, b Model) int { return cmp.Compare(place(a), place(b)) })
	return all
}

// Columns returns the columns whose rows a model is fitted to: those it predicts from, and then the target.
func (m Model) Columns() []Factor { return append(slices.Clone(m.By), m.Target) }

// Tables returns the number of tables of scores of an additive model: one for each column and for each pair.
func (m Model) Tables() int { return len(m.By) + len(m.Pairs) }

// Path returns the name of a model in messages and folders.
func (m Model) Path() string { return "models/" + m.Name }

// File returns the slash-separated path of the published model within a release.
func (m Model) File() string { return m.Path() + ".json" }

// Mechanisms returns the mechanism of every round, in order.
func (m Model) Mechanisms() []budget.Mechanism {
	var all []budget.Mechanism
	for _, r := range m.Rounds {
		all = append(all, slices.Repeat([]budget.Mechanism{r.Noise}, r.Times)...)
	}
	return all
}

// checkRounds returns an error for numbers of rounds that no model has, or that are too many to be listed.
func (m Model) checkRounds() error {
	if len(m.Rounds) > 2 { // no method has more
		return fmt.Errorf("model %s has too many kinds of rounds", m.Name)
	}
	for _, r := range m.Rounds {
		if r.Times < 1 || r.Times > boosting.MostEpochs*(boosting.MostColumns+boosting.MostPairs) {
			return fmt.Errorf("model %s has %d rounds of one kind", m.Name, r.Times)
		}
	}
	return nil
}

// RoundCount returns how many rounds there are.
func (m Model) RoundCount() int {
	n := 0
	for _, r := range m.Rounds {
		n += r.Times
	}
	return n
}

// Sealed returns how many answers are sealed, without the counts of held-out rows. Of a local model they are the sum of
// the holders' counts, and the sum of their updates in each round of averaging.
func (m Model) Sealed() int {
	if m.Local() {
		return 1 + m.Descent.Rounds
	}
	return m.RoundCount()
}

// Draws returns by how many holders, each by itself, the noise of a model is drawn.
func (p *Plan) Draws(m Model) int {
	if !m.Local() || p.Guarantee.Holders == nil {
		return 1
	}
	return len(p.Guarantee.Holders.TookPart())
}

// Round returns what a round asks and with which noise. Rounds are numbered from 0.
func (m Model) Round(number int) (ModelRounds, bool) {
	for _, r := range m.Rounds {
		if number < 0 {
			break
		}
		if number < r.Times {
			return r, true
		}
		number -= r.Times
	}
	return ModelRounds{}, false
}

// Shape returns what is fixed of a model before the data are seen, and how its rounds are asked, if these depend on
// each other.
func (p *Plan) Shape(m Model) (*boosting.Shape, error) {
	if m.Descent != nil {
		return p.ExactDescent(m, *m.Descent)
	}
	s, err := p.ExactShape(m, *m.Schedule)
	if err != nil {
		return nil, err
	}
	s.CountVariance, s.SumVariance = m.Rounds[0].Noise.Variance(), m.Rounds[1].Noise.Variance()
	return s, nil
}

// ExactShape returns the shape of a model of the same columns and target that is fitted by a schedule without noise.
func (p *Plan) ExactShape(m Model, schedule boosting.Schedule) (*boosting.Shape, error) {
	levels, err := Query{Table: m.Table, Factors: m.By}.Levels(p.Release())
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", m.Name, err)
	}
	s := &boosting.Shape{Link: boosting.Logit, Schedule: schedule, Seed: m.Seed()}
	t := p.Release().Table(m.Table)
	for i, l := range levels {
		c := t.Column(m.By[i].Attribute)
		s.Columns = append(s.Columns, boosting.Column{Categories: l.Size(), Ordered: c.Domain.Ranged()})
	}
	s.Pairs = m.Pairs
	if m.Class < 0 {
		s.Link = cmp.Or(m.Link, boosting.Identity)
	}
	if s.Outcomes, err = p.Outcomes(m); err != nil {
		return nil, fmt.Errorf("model %s: %w", m.Name, err)
	}
	return s, nil
}

// ExactDescent returns the shape of a regression of the same columns and target that is fitted by gradient descent
// without noise.
func (p *Plan) ExactDescent(m Model, descent boosting.Descent) (*boosting.Shape, error) {
	s, err := p.ExactShape(m, boosting.Schedule{})
	if err != nil {
		return nil, err
	}
	s.Descent = descent
	s.Design, err = p.Design(m)
	return s, err
}

// Outcomes returns the outcome of each category of the target of a model: 1 for the class whose probability is
// predicted and 0 for the others, or integers.
func (p *Plan) Outcomes(m Model) ([]int64, error) {
	levels, err := Query{Table: m.Table, Factors: []Factor{m.Target}}.Levels(p.Release())
	if err != nil {
		return nil, err
	}
	if m.Class < 0 {
		return integersOf(levels[0])
	}
	outcomes := make([]int64, levels[0].Size())
	if m.Class >= len(outcomes) {
		return nil, fmt.Errorf("%s has no category %d", m.Target, m.Class)
	}
	outcomes[m.Class] = 1
	return outcomes, nil
}

// Design returns what is fixed of a regression before the data are seen. A column with a range of integers is a number,
// unless it has categories for unknown or missing values; any other is a category.
func (p *Plan) Design(m Model) (*design.Design, error) {
	levels, err := Query{Table: m.Table, Factors: m.Columns()}.Levels(p.Release())
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", m.Name, err)
	}
	t := p.Release().Table(m.Table)
	var columns []design.Column
	for i, f := range m.Columns() {
		c := design.Column{Name: f.String()}
		of := t.Column(f.Attribute)
		number := of.Domain.Ranged() && of.Domain.Declared() == levels[i].Size() && f.Level == "" &&
			of.Type == domain.Integer
		if number && (i < len(m.By) || m.Class < 0) {
			if c.Values, err = integersOf(levels[i]); err != nil {
				return nil, fmt.Errorf("model %s: %s: %w", m.Name, f, err)
			}
		} else {
			for _, category := range levels[i].Categories {
				c.Categories = append(c.Categories, category.Code)
			}
		}
		columns = append(columns, c)
	}
	d, err := design.New(columns, m.Class)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", m.Name, err)
	}
	return d, nil
}

// ModelAnswers returns the most integers that answer the rounds of a model.
func (p *Plan) ModelAnswers(m Model) (int64, error) {
	if !m.Adaptive() {
		d, err := p.Design(m)
		if err != nil {
			return 0, err
		}
		diagonal, products := d.Lengths()
		return int64(diagonal) + int64(products), nil
	}
	s, err := p.Shape(m)
	if err != nil {
		return 0, err
	}
	if d := s.Design; d != nil { // of a local model a holder's own answers, and an update of twice the length each
		answers := 3 * int64(m.RoundCount()) * int64(d.Features())
		return answers + 2*int64(s.Categories(s.Target())) + 2*boosting.ScoreBins, nil
	}
	answers := int64(m.RoundCount())*boosting.MostGroups + 2*boosting.ScoreBins
	for _, size := range s.Sizes() {
		answers += int64(size)
	}
	return answers, nil
}

// Additive reports whether a model is a sum of tables of scores.
func (m Model) Additive() bool { return m.Method == spec.AdditiveModel }

// Adaptive reports whether what each round of a model asks depends on the answers before it.
func (m Model) Adaptive() bool { return m.Additive() || m.Descends() }

// Descends reports whether a model is fitted by gradient descent.
func (m Model) Descends() bool { return m.Method == spec.GradientModel || m.Local() }

// Local reports whether each holder fits a model by itself between sums over all holders, with all of the noise.
func (m Model) Local() bool { return m.Method == spec.FederatedModel }

// integersOf returns the integers that the categories of a level are.
func integersOf(l *domain.Level) ([]int64, error) {
	all := make([]int64, l.Size())
	for i, c := range l.Categories {
		n, err := strconv.ParseInt(c.Code, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is no integer", c.Code)
		}
		all[i] = n
	}
	return all, nil
}

// Seed returns public bytes that belong to the model, from which the groups of its rounds are derived.
func (m Model) Seed() [sha256.Size]byte {
	return sha256.Sum256(canonical.Must(json.Marshal(m)))
}

// Rows returns the question whose answer a model is fitted to: the number of rows with each combination of categories
// that occurs. It is never given out, and nothing but the rounds of the model reads it.
func (p *Plan) Rows(m Model) (Measurement, error) {
	levels, err := Query{Table: m.Table, Factors: m.Columns()}.Levels(p.Release())
	if err != nil {
		return Measurement{}, fmt.Errorf("model %s: %w", m.Name, err)
	}
	cells := int64(1)
	for _, l := range levels {
		cells *= int64(l.Size())
	}
	return Measurement{ID: m.Path() + "/rows", Leaf: m.Leaf, Cells: cells,
		Query:     Query{Table: m.Table, Factors: m.Columns(), Counted: counted.Rows{}},
		Mechanism: m.Rounds[0].Noise, Selection: selection.Above{Threshold: 1}}, nil
}
