package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dprelease/dprelease/budget"
)

// This file holds what the rounds of an adaptive method choose among: sets of columns, and what is asked of the chosen.

// Candidates are what every choice is among: sets of columns, as places in By, ascending. A choice is a place in this
// list. Those of [MST] are the pairs, those of [AIM] all sets of 1 to Ways columns: shorter ones first, and in
// lexicographic order. Sets of given columns alone are none: they are measured with the parent's rows.
func (s Synthetic) Candidates() [][]int {
	var all [][]int
	from := [][]int{nil}
	for ways := 1; ways <= s.Ways; ways++ {
		var next [][]int
		for _, c := range from {
			first, last := 0, len(s.Own()) // given columns come last
			if len(c) > 0 {
				first, last = c[len(c)-1]+1, len(s.By)
			}
			for a := first; a < last; a++ {
				next = append(next, append(slices.Clone(c), a))
			}
		}
		if ways > 1 || s.Method == AIM {
			all = append(all, next...)
		}
		from = next
	}
	return all
}

// CandidateCount returns how many candidates there are; for more columns than there may be candidates, some number that is too
// large.
func (s Synthetic) CandidateCount() int64 {
	return s.setsOf(len(s.By)) - s.setsOf(s.Given)
}

// setsOf returns how many sets the method would choose among, had it so many columns and none of them given.
func (s Synthetic) setsOf(columns int) int64 {
	n := int64(min(columns, MaxCandidates+1))
	all := n * (n - 1) / 2
	if s.Method == MST {
		return all
	}
	if all += n; s.Ways > 2 {
		all += n * (n - 1) / 2 * (n - 2) / 3
	}
	return all
}

// Sets is what the candidates are, in words.
func (s Synthetic) Sets() string {
	switch {
	case s.Method == MST:
		return "pairs of"
	case s.Ways == 2:
		return "sets of one or two"
	}
	return "sets of one to three"
}

// Weight is what a candidate's score is multiplied by: of [AIM], in how many of all sets of Ways columns its columns are,
// each counted by itself, divided by what all of these numbers have in common. That is the number of its columns, as
// every column is in equally many. Candidates of [MST] have the weight 1.
func (s Synthetic) Weight(candidate []int) int64 {
	if s.Method == AIM {
		return int64(len(candidate))
	}
	return 1
}

// MostWeight is the largest weight of a candidate.
func (s Synthetic) MostWeight() int64 {
	if s.Method == AIM {
		return int64(s.Ways)
	}
	return 1
}

// Answer is what a round measures that has made a choice: the counts of the chosen columns together, row-major, the last
// one's categories changing fastest. classes[i] is the class of each category of the i-th column of By: categories of one
// class are counted together; nil where each is counted by itself, and classes is nil where all are. Every row is in one
// cell whatever the classes, so the noise costs what it does for categories.
//
// It fails on a choice, columns, classes and noise that are none of the method's.
func (p *Plan) Answer(s Synthetic, round, choice int, classes [][]int, noise budget.Mechanism) (Measurement, error) {
	candidates := s.Candidates()
	if choice < 0 || choice >= len(candidates) || round < 0 || round >= s.Rounds {
		return Measurement{}, fmt.Errorf("the microdata of %s have no round %d with a choice %d", s.Table, round+1, choice)
	}
	sizes, err := p.Classes(s, classes)
	if err != nil {
		return Measurement{}, err
	}
	if alike := (budget.Mechanism{Kind: s.Noise.Kind, Parameter: noise.Parameter, L1: s.Noise.L1, L2Squared: s.Noise.L2Squared, Shifts: s.Noise.Shifts}); !sameMechanism(alike, noise) {
		return Measurement{}, fmt.Errorf("the rounds of microdata of %s do not have noise of this kind, or for these neighbours", s.Table)
	}
	m := Measurement{ID: s.AnswerID(round, candidates[choice]), Leaf: s.Leaf, Query: Query{Table: s.Table}, Cells: 1, Mechanism: noise}
	for _, column := range candidates[choice] {
		f := s.By[column]
		if classes != nil {
			f = f.merged(classes[column])
		}
		if int64(sizes[column]) > MaxCells/m.Cells {
			return m, fmt.Errorf("measurement %s would have more than 2^36 cells", m.ID)
		}
		m.Query.Factors, m.Cells = append(m.Query.Factors, f), m.Cells*int64(sizes[column])
	}
	return m, nil
}

// Classes is how many classes each column has: as many as it has categories where classes is nil, or has nil for it. It
// fails unless classes has a class for each category of each column, numbered from 0 with none left out, and the method
// merges categories.
func (p *Plan) Classes(s Synthetic, classes [][]int) ([]int, error) {
	levels, err := Query{Table: s.Table, Factors: s.By}.Levels(p.Release())
	if err != nil {
		return nil, err
	}
	if classes != nil && (s.Method != AIM || len(classes) != len(s.By)) {
		return nil, fmt.Errorf("the microdata of %s, by method %s, have no classes of %d columns", s.Table, s.Method, len(classes))
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
		if sizes[i], err = classCount(classes[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", s.By[i], err)
		}
	}
	return sizes, nil
}

// classCount is how many classes there are, where they are numbered from 0 with none left out.
func classCount(of []int) (int, error) {
	used := make([]bool, len(of))
	count := 0
	for _, class := range of {
		if class < 0 || class >= len(of) {
			return 0, fmt.Errorf("there is no class %d of %d categories", class, len(of))
		}
		used[class], count = true, max(count, class+1)
	}
	if slices.Contains(used[:count], false) {
		return 0, fmt.Errorf("the classes are not numbered from 0 with none left out")
	}
	return count, nil
}

// merged is a factor of classes: of[i] is the class of the i-th category. Where each category is its own, in order, the
// factor is as it was.
func (f Factor) merged(of []int) Factor {
	texts, same := make([]string, len(of)), true
	for i, class := range of {
		texts[i], same = strconv.Itoa(class), same && class == i
	}
	if !same {
		f.Basis, f.Classes = Merged, strings.Join(texts, " ")
	}
	return f
}

// ClassesOf is the class of each of so many categories under a factor, and how many classes there are: each category is
// its own where the factor is an identity. It fails on other factors, and on classes that [Plan.Answer] would not write.
func (f Factor) ClassesOf(categories int) (of []int, classes int, err error) {
	of = make([]int, categories)
	switch {
	case f.Basis == Identity && f.Classes == "":
		for i := range of {
			of[i] = i
		}
		return of, categories, nil
	case f.Basis != Merged:
		return nil, 0, fmt.Errorf("%s: there are no classes of basis %q", f, f.Basis)
	}
	texts := strings.Fields(f.Classes)
	if len(texts) != categories {
		return nil, 0, fmt.Errorf("%s: %d classes for %d categories", f, len(texts), categories)
	}
	for i, text := range texts {
		if of[i], err = strconv.Atoi(text); err != nil {
			return nil, 0, fmt.Errorf("%s: %q is no class", f, text)
		}
	}
	if classes, err = classCount(of); err != nil {
		return nil, 0, fmt.Errorf("%s: %w", f, err)
	}
	plain := f
	plain.Basis, plain.Classes = Identity, ""
	if plain.merged(of) != f {
		return nil, 0, fmt.Errorf("%s: classes are not written as the planner does", f)
	}
	return of, classes, nil
}

// AnswerID is the ID of the measurement of a set of columns: of [MST], which asks none twice, by the columns alone; of
// [AIM], which may, by its round, so that each has noise of its own.
func (s Synthetic) AnswerID(round int, columns []int) string {
	names := make([]string, len(columns))
	for i, column := range columns {
		names[i] = s.By[column].String()
	}
	name := strings.Join(names, "_x_")
	if s.Method == AIM {
		return fmt.Sprintf("%s/round%d/%s", s.Name(), round+1, name)
	}
	return s.Name() + "/" + name
}
