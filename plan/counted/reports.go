package counted

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/budget/local"
	"github.com/dprelease/dprelease/plan/hierarchy"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

// Reports counts, for each category of a question, the reports that hold it. The respondents' devices made the reports
// by subset selection, each of the answer to this question, before anything was collected.
type Reports struct {
	// Form is how a report is written.
	Form Form `json:"form"`
	// Categories, Support and Keep are the numbers of the randomiser ([local.Randomiser]).
	Categories int64 `json:"categories"`
	Support    int64 `json:"support"`
	Keep       int64 `json:"keep"`
	// Of is the column whose numbers are asked for, in each cell, "" for none, and Points how many evenly spread
	// points of its range, the ends among them, there are: a device rounds a number to one of the two points next to
	// it, at random, so that the mean is the number. A category of the randomiser is a cell with a point, the points
	// of a cell next to one another.
	Of     string `json:"of,omitempty"`
	Points int64  `json:"points,omitempty"`
	// Chance is the probability, in units of 2^−48, with which a device draws this question as the one that it answers;
	// 0 where every device answers all questions.
	Chance int64 `json:"chance,omitempty"`
	// Along is the attribute along which the question also has coarser forms, "" for none, and Bands are these, by
	// width. A device that draws one of them reports that instead.
	Along string  `json:"along,omitempty"`
	Bands []Bands `json:"bands,omitempty"`
	// Length is the most characters of a text, in a question for texts that nobody lists, 0 for other questions.
	// Prefixes are then the questions for first characters, of which a device draws one or the question itself. All
	// have its randomiser.
	Length   int64    `json:"length,omitempty"`
	Prefixes []Prefix `json:"prefixes,omitempty"`
}

// Prefix is a question for the first characters of a text.
type Prefix struct {
	Length int64 `json:"length"`
	Chance int64 `json:"chance"`
}

// Bands is a coarser form of a question: a category is a band of Width neighbouring ones along an attribute, the last
// of which may be narrower. Reports are sets.
type Bands struct {
	Width      int64 `json:"width"`
	Categories int64 `json:"categories"`
	Support    int64 `json:"support"`
	Keep       int64 `json:"keep"`
	Chance     int64 `json:"chance"`
}

// Randomiser returns the randomiser of the devices that draw the bands.
func (b Bands) Randomiser() local.Randomiser {
	return local.Randomiser{Categories: b.Categories, Support: b.Support, Keep: b.Keep}
}

// Form is how a report is written.
type Form string

const (
	// Set lists the categories of a report as bits. The randomiser has the categories of the question.
	Set Form = "set"
	// Permuted names them by two numbers: the report holds category v if (a·v + b) mod P < w, for the prime P of the
	// randomiser's categories, the least that is not below the question's, and its support w.
	Permuted Form = "permuted"
)

// MostInSet is the largest number of categories that are sent as bits: 64 bytes.
const MostInSet = 512

// MostNumbers is the largest number of values of a column whose numbers are asked for: devices have a list of them.
const MostNumbers = 1 << 16

// NewReports returns the reports of a question of so many categories at ε, without a chance. It returns an error as
// [local.New] does.
func NewReports(epsilon *big.Rat, categories int64) (Reports, error) {
	form, asked := Set, categories
	if categories > MostInSet {
		form, asked = Permuted, primeFrom(categories)
	}
	r, err := local.New(epsilon, asked)
	return Reports{Form: form, Categories: r.Categories, Support: r.Support, Keep: r.Keep}, err
}

// PointValues returns the numbers that the points stand for, in the column's unit.
func (r Reports) PointValues(l *domain.Lattice) []float64 {
	step, _ := l.Step.Float64()
	values := make([]float64, r.Points)
	for j := range values {
		along := float64(float64(l.Last-l.First)*float64(j)) / float64(r.Points-1)
		values[j] = float64(step * (float64(l.First) + along))
	}
	return values
}

// primeFrom returns the least prime that is at least n.
func primeFrom(n int64) int64 {
	for !big.NewInt(n).ProbablyPrime(0) { // which is exact for numbers below 2^64
		n++
	}
	return n
}

// Randomiser returns the randomiser of the devices.
func (r Reports) Randomiser() local.Randomiser {
	return local.Randomiser{Categories: r.Categories, Support: r.Support, Keep: r.Keep}
}

// HasSums reports whether sums of cells have a law: three categories of a permuted report are not as independent as
// those of a set.
func (r Reports) HasSums() bool { return r.Form == Set }

// Bits returns the length of a report in bits, before it is packed into bytes.
func (r Reports) Bits() int64 {
	if r.Form == Permuted {
		return 64
	}
	return r.Categories
}

// WithBands adds to the categories of a question those of its bands.
func (r Reports) WithBands(categories int64) int64 {
	for _, b := range r.Bands {
		categories += b.Categories
	}
	return categories
}

// errOtherQuestion is the error for reports that are not the question's.
var errOtherQuestion = errors.New("asks for reports of another question")

// checkTexts returns an error unless the question is one for texts that nobody lists: it has no cells, and the
// questions for first characters ask for ever more of them, and at last for all.
func (r Reports) checkTexts(cells int64) error {
	last := int64(0)
	for _, s := range r.Prefixes {
		if s.Length <= last || s.Chance < 1 || s.Chance > 1<<local.ChanceBits {
			return errOtherQuestion
		}
		last = s.Length
	}
	if cells != 0 || last != r.Length || r.Chance < 1 || r.Of != "" || len(r.Bands) > 0 {
		return errOtherQuestion
	}
	return nil
}

// CheckQuestion returns an error unless the reports fit a question with so many categories, counted over all its forms,
// and cost at most ε. It does not compare bands with the column: [Reports.CheckBands] does.
func (r Reports) CheckQuestion(categories int64, epsilon *big.Rat) error {
	if r.Chance < 0 || r.Chance > 1<<local.ChanceBits || r.Drawn() > 1<<local.ChanceBits {
		return errOtherQuestion
	}
	for _, b := range r.Bands {
		if b.Categories < 1 || b.Categories > MostInSet || b.Chance < 1 || b.Chance > 1<<local.ChanceBits {
			return errOtherQuestion
		}
		if err := b.Randomiser().Check(epsilon); err != nil {
			return err
		}
	}
	categories -= r.WithBands(0)
	if r.Length != 0 || len(r.Prefixes) > 0 {
		if err := r.checkTexts(categories); err != nil {
			return err
		}
		categories = local.TextCategories
	}
	wanted, err := NewReports(epsilon, categories)
	if err != nil {
		return err
	}
	if r.Form != wanted.Form || r.Categories != wanted.Categories {
		return errOtherQuestion
	}
	return r.Randomiser().Check(epsilon)
}

// CheckBands returns an error unless the bands fit a question: their widths are powers of two in ascending order, there
// are as many of each as the question has, devices draw them, and reports are sets.
func (r Reports) CheckBands(q hierarchy.Question) error {
	width := int64(1)
	for _, b := range r.Bands {
		wider := b.Width > width && b.Width < int64(2*q.Size) && b.Width&(b.Width-1) == 0 && b.Categories > 1
		if !wider || b.Categories != int64(q.Bands(int(b.Width))) || r.Chance < 1 || !r.HasSums() || r.Of != "" {
			return errOtherQuestion
		}
		width = b.Width
	}
	return nil
}

// Levels returns the levels of the question: its categories, and its bands, with so many reports to each.
func (r Reports) Levels(reports []int64) []hierarchy.Level {
	levels := []hierarchy.Level{{Width: 1, Randomiser: r.Randomiser(), Reports: reports[0]}}
	for i, b := range r.Bands {
		levels = append(levels, hierarchy.Level{Width: int(b.Width), Randomiser: b.Randomiser(), Reports: reports[i+1]})
	}
	return levels
}

// OfLevels divides what was counted of the reports into that of the levels, and says how many reports each has: all
// have as many categories as the randomiser's support.
func (r Reports) OfLevels(supports []int64) (levels [][]int64, reports []int64) {
	add := func(categories, support int64) {
		levels, supports = append(levels, supports[:categories]), supports[categories:]
		sum := int64(0)
		for _, n := range levels[len(levels)-1] {
			sum += n
		}
		reports = append(reports, sum/support)
	}
	add(r.Categories, r.Support)
	for _, b := range r.Bands {
		add(b.Categories, b.Support)
	}
	return levels, reports
}

// CheckCounts returns an error unless this can be what was counted of so many reports, of which one at least answers
// the question by its categories: a set has as many of them as the support says, in each form. A permuted report has as
// many at most, as others make up a prime.
func (r Reports) CheckCounts(supports []int64, reports int64) error {
	if !r.HasSums() {
		return checkPermuted(supports, r.Support, reports)
	}
	levels, each := r.OfLevels(supports)
	for h, level := range r.Levels(each) {
		sum := int64(0)
		for _, n := range levels[h] {
			if n < 0 || n > each[h] {
				return errNoCounts
			}
			sum += n
		}
		if sum != level.Support*level.Reports {
			return errNoCounts
		}
		reports -= level.Reports
	}
	if reports != 0 || each[0] < 1 {
		return errNoCounts
	}
	return nil
}

// checkPermuted returns an error unless so many permuted reports can hold the categories so often.
func checkPermuted(supports []int64, support, reports int64) error {
	left := new(big.Int).Mul(big.NewInt(support), big.NewInt(reports))
	for _, n := range supports {
		if left.Sub(left, big.NewInt(n)); n < 0 || n > reports || left.Sign() < 0 {
			return errNoCounts
		}
	}
	return nil
}

// errNoCounts is the error for counts that no reports have.
var errNoCounts = errors.New("holds counts that no reports to its question have")

// PrefixLengths returns the lengths of the questions for first characters.
func (r Reports) PrefixLengths() (lengths []int64) {
	for _, prefix := range r.Prefixes {
		lengths = append(lengths, prefix.Length)
	}
	return lengths
}

// Drawn returns the probability with which a device draws the question, in any of its forms, in units of 2^−48; 0 where
// every device answers all questions.
func (r Reports) Drawn() int64 {
	chance := r.Chance
	for _, b := range r.Bands {
		chance += b.Chance
	}
	for _, s := range r.Prefixes {
		chance += s.Chance
	}
	return chance
}

// Kind returns [KindReports].
func (Reports) Kind() Kind { return KindReports }

// Reads returns the column whose numbers are asked for, "" for none.
func (r Reports) Reads() string { return r.Of }

// Operands returns that column, if there is one.
func (r Reports) Operands() []string {
	if r.Of == "" {
		return nil
	}
	return []string{r.Of}
}

// Weighted reports false: each report counts as 1.
func (Reports) Weighted() bool { return false }

// PerCell returns how many categories of the randomiser a cell has: the points, or 1.
func (r Reports) PerCell(*spec.Table) int64 { return max(1, r.Points) }

// Check returns an error unless the table holds reports, and the column that is asked for numbers.
func (r Reports) Check(t *spec.Table) error {
	if t.Collected == "" {
		return fmt.Errorf("asks for reports of table %s, which holds rows", t.Name)
	}
	if r.Of == "" && r.Points == 0 {
		return nil
	}
	c := t.Column(r.Of)
	switch {
	case c == nil || c.Lattice == nil:
		return fmt.Errorf("the column %q has no range", r.Of)
	case r.Points < 2 || c.Lattice.PointCount() > MostNumbers || r.Points > int64(c.Lattice.PointCount()):
		return fmt.Errorf("rounds %s to no points of its range", r.Of)
	}
	return nil
}

// Extent returns 1 to 1.
func (Reports) Extent(*spec.Table) Extent { return one() }

// Sensitivity returns an error: what protects a respondent is that the report was randomised, and counting adds
// nothing.
func (Reports) Sensitivity(Unit) (*Sensitivity, error) {
	return nil, errors.New("counts of reports have no sensitivity: the reports were randomised before they were collected")
}
