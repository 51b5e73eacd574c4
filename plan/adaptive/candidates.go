package adaptive

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/limit"
	"github.com/dprelease/dprelease/plan/phrase"
	"github.com/dprelease/dprelease/plan/selection"
)

// This file holds the candidates of an adaptive method: sets of columns, and what is measured of the chosen one.

// Candidates returns what every choice is among: sets of columns, as ascending indices in By. A choice is an index in
// this list. The candidates of [plan.MST] are the pairs, those of [plan.AIM] all sets of 1 to Ways columns: shorter
// ones first, and in lexicographic order. Sets of given columns only are excluded: they are measured with the
// parent's rows.
func Candidates(s plan.Synthetic) [][]int {
	var all [][]int
	from := [][]int{nil}
	for ways := 1; ways <= s.Ways; ways++ {
		var next [][]int
		for _, c := range from {
			first, last := 0, len(s.OwnColumns()) // given columns come last
			if len(c) > 0 {
				first, last = c[len(c)-1]+1, len(s.By)
			}
			for a := first; a < last; a++ {
				next = append(next, append(slices.Clone(c), a))
			}
		}
		if ways > 1 || s.Method == plan.AIM {
			all = append(all, next...)
		}
		from = next
	}
	return all
}

// errLargeCandidate is the error for a candidate that cannot be counted.
var errLargeCandidate = errors.New("a set of columns that an adaptive method may choose has too many cells")

// Cells returns how many cells each candidate of a method has, by category. It reports an error if they cannot be
// counted.
func Cells(p *plan.Plan, s plan.Synthetic) ([]int64, error) {
	levels, err := plan.Query{Table: s.Table, Factors: s.By}.Levels(p.Release())
	if err != nil {
		return nil, err
	}
	var all []int64
	for _, columns := range Candidates(s) {
		cells := uint64(1)
		for _, c := range columns {
			high, low := bits.Mul64(cells, uint64(levels[c].Size()))
			if high != 0 || low > math.MaxInt64 {
				return nil, errLargeCandidate
			}
			cells = low
		}
		all = append(all, int64(cells))
	}
	return all, nil
}

// CandidateCount returns how many candidates there are; for more columns than there may be candidates, some number
// that is too large.
func CandidateCount(s plan.Synthetic) int64 {
	return setsOf(s, len(s.By)) - setsOf(s, s.Given)
}

// setsOf returns how many sets the method would choose among, if it had that many columns and none of them given.
func setsOf(s plan.Synthetic, columns int) int64 {
	n := int64(min(columns, MaxCandidates+1))
	all := n * (n - 1) / 2
	if s.Method == plan.MST {
		return all
	}
	if all += n; s.Ways > 2 {
		all += n * (n - 1) / 2 * (n - 2) / 3
	}
	return all
}

// DescribeCandidates describes the candidates.
func DescribeCandidates(s plan.Synthetic) string {
	return phrase.CandidateSets(CandidateColumns(s))
}

// CandidateColumns returns which sets of columns candidates are, as [phrase.CandidateSets] takes it.
func CandidateColumns(s plan.Synthetic) string {
	if s.Method == plan.MST {
		return phrase.Pairs
	}
	return strconv.Itoa(s.Ways)
}

// Weight returns the factor of a candidate's score. For [plan.AIM] it is the number of all sets of Ways columns that
// contain one of its columns, counted for each of its columns separately, divided by the common factor of all these
// numbers. That is the number of its columns, as every column is in equally many sets. Candidates of [plan.MST] have
// the weight 1.
func Weight(s plan.Synthetic, candidate []int) int64 {
	if s.Method == plan.AIM {
		return int64(len(candidate))
	}
	return 1
}

// Answer returns what a round measures after its choice: the counts of the chosen columns together, row-major, the
// last one's categories changing fastest. classes[i] is the class of each category of the i-th column of By:
// categories of one class are counted together; nil if each is counted by itself, and classes is nil if all are.
// Every row is in one cell whatever the classes, so the noise costs what it does for categories.
//
// It returns an error for a choice, columns, classes or noise that the method does not have.
func Answer(p *plan.Plan, s plan.Synthetic, round, choice int, classes [][]int,
	noise budget.Mechanism) (plan.Measurement, error) {
	candidates := Candidates(s)
	if choice < 0 || choice >= len(candidates) || round < 0 || round >= s.Rounds {
		return plan.Measurement{}, fmt.Errorf("the microdata of %s have no round %d with a choice %d", s.Table, round+1,
			choice)
	}
	sizes, err := Classes(p, s, classes)
	if err != nil {
		return plan.Measurement{}, err
	}
	if alike := (budget.Mechanism{Kind: s.Noise.Kind, Parameter: noise.Parameter, L1: s.Noise.L1,
		L2Squared: s.Noise.L2Squared, Shifts: s.Noise.Shifts}); !sameMechanism(alike, noise) {
		return plan.Measurement{}, fmt.Errorf(
			"the rounds of microdata of %s do not have noise of this kind, or for these neighbours", s.Table)
	}
	m := plan.Measurement{ID: AnswerID(s, round, candidates[choice]), Leaf: s.Leaf,
		Query:     plan.Query{Table: s.Table, Counted: counted.Rows{}},
		Selection: selection.All{},
		Cells:     1,
		Mechanism: noise}
	for _, column := range candidates[choice] {
		f := s.By[column]
		if classes != nil {
			if f, _, err = f.Merged(classes[column]); err != nil {
				return m, err
			}
		}
		if int64(sizes[column]) > limit.Cells/m.Cells {
			return m, fmt.Errorf("measurement %s would have more than 2^36 cells", m.ID)
		}
		m.Query.Factors, m.Cells = append(m.Query.Factors, f), m.Cells*int64(sizes[column])
	}
	return m, nil
}

// Classes returns how many classes each column has: as many as it has categories if classes is nil, or has nil for
// it. It returns an error unless classes has a class for each category of each column, numbered from 0 with none left
// out, and the method merges categories.
func Classes(p *plan.Plan, s plan.Synthetic, classes [][]int) ([]int, error) {
	levels, err := plan.Query{Table: s.Table, Factors: s.By}.Levels(p.Release())
	if err != nil {
		return nil, err
	}
	if classes != nil && (s.Method != plan.AIM || len(classes) != len(s.By)) {
		return nil, fmt.Errorf("the microdata of %s, by method %s, have no classes of %d columns", s.Table, s.Method,
			len(classes))
	}
	sizes := make([]int, len(s.By))
	for i, level := range levels {
		sizes[i] = level.Size()
		if classes == nil || classes[i] == nil {
			continue
		}
		if len(classes[i]) != level.Size() {
			return nil, fmt.Errorf("%s has %d categories, not %d", s.By[i], level.Size(), len(classes[i]))
		}
		if _, sizes[i], err = s.By[i].Merged(classes[i]); err != nil {
			return nil, err
		}
	}
	return sizes, nil
}

// AnswerID returns the ID of the measurement of a set of columns. For [plan.MST], which measures none twice, it
// consists of the columns only; for [plan.AIM], which may, it includes the round, so that each has noise of its own.
func AnswerID(s plan.Synthetic, round int, columns []int) string {
	names := make([]string, len(columns))
	for i, column := range columns {
		names[i] = s.By[column].String()
	}
	name := strings.Join(names, "_x_")
	if s.Method == plan.AIM {
		return fmt.Sprintf("%s/round%d/%s", s.Name(), round+1, name)
	}
	return s.Name() + "/" + name
}
