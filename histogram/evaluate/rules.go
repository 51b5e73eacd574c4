package evaluate

// This file holds the rules of a spec with which rows of microdata are compared. It reads nothing confidential.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/histogram/internal/encoding"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/attributes"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/impossible"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// Violation is how many rows of microdata break a rule.
type Violation struct {
	Rule string
	Rows int64
	// WhyUnknown says why the microdata cannot tell, "" if they can. If it is set, Rows is 0.
	WhyUnknown string
}

// Violations compares all columns of microdata, including derived ones, with every rule that the spec has for their
// table: what is impossible, which column determines another, and which rows count at all.
func Violations(p *plan.Plan, s plan.Synthetic, rows Rows) ([]Violation, error) {
	r := p.Release()
	levels, err := plan.Query{Table: rows.Table, Factors: rows.By}.Levels(r)
	if err == nil {
		err = rows.checkCodes(levels)
	}
	if err != nil {
		return nil, fmt.Errorf("microdata of %s: %w", rows.Table, err)
	}
	var all []Violation
	words := describe.Impossibilities(language.English, p)
	for i, entry := range r.Impossible {
		if entry.Table != rows.Table {
			continue
		}
		one := Violation{Rule: "no row has " + words[i].Rule}
		if one.Rows, one.WhyUnknown, err = rows.countImpossible(r, i, levels); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	for i, derived := range s.Derived {
		from, of, err := p.DerivedColumn(s, i)
		if err != nil {
			return nil, err
		}
		one := Violation{Rule: fmt.Sprintf("%s decides %s", s.By[from], derived)}
		for row, code := range rows.Codes[from] {
			if rows.Codes[len(s.By)+i][row] != uint32(of[code]) {
				one.Rows++
			}
		}
		all = append(all, one)
	}
	if w := r.Table(rows.Table).Where; w != nil {
		one := Violation{Rule: "every row has " + strings.TrimSpace(w.Expression.Text())}
		if one.Rows, one.WhyUnknown, err = rows.countOutside(r.Table(rows.Table), levels); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// countImpossible returns how many rows meet all conditions of an entry.
func (r Rows) countImpossible(release *spec.Release, entry int, levels []*domain.Level) (broken int64, untold string,
	err error) {
	table, e := release.Table(r.Table), release.Impossible[entry]
	alone := *release
	alone.Impossible = []spec.Impossible{e}
	q := plan.Query{Table: r.Table, Counted: counted.Rows{}}
	var places []int
	for _, c := range e.Where {
		column := attributes.Counted(table, c.Attribute).Column
		at := slices.IndexFunc(r.By, func(f plan.Factor) bool {
			return attributes.Counted(table, spec.Attribute{Column: f.Attribute, Level: f.Level}).Column == column
		})
		if at < 0 {
			return 0, "the microdata have no column " + c.Attribute.Column, nil
		}
		if !slices.Contains(places, at) {
			places, q.Factors = append(places, at), append(q.Factors, r.By[at])
		}
	}
	mask, err := impossible.Of(q, &alone)
	if err != nil {
		return 0, "", err
	}
	if mask.Count() == 0 {
		return 0, "the microdata have these columns by categories that do not tell it", nil
	}
	for row := range r.Codes[0] {
		cell := uint64(0)
		for _, at := range places {
			cell = cell*uint64(levels[at].Size()) + uint64(r.Codes[at][row])
		}
		if mask.IsImpossible(cell) {
			broken++
		}
	}
	return broken, "", nil
}

// countOutside returns for how many rows the predicate of the table is not true. The predicate reads the source, so
// every source column that it names must be in the microdata unchanged.
func (r Rows) countOutside(table *spec.Table, levels []*domain.Level) (broken int64, untold string, err error) {
	predicate := table.Where.Column()
	made, err := encoding.Computing(table, predicate)
	if err != nil {
		return 0, "", err
	}
	var places []int
	for _, source := range predicate.Inputs() {
		at := slices.IndexFunc(r.By, func(f plan.Factor) bool {
			c := table.Column(f.Attribute)
			return f.Level == "" && c.From == source && c.Domain.Size() == c.Domain.Declared()
		})
		if at < 0 {
			return 0, "the microdata do not have " + source + " as the source has it", nil
		}
		places = append(places, at)
	}
	seen := map[string]int{} // combinations of categories, with their indexes in counts
	var counts []int64
	texts := make([]*array.StringBuilder, len(places))
	for i := range texts {
		texts[i] = array.NewStringBuilder(memory.DefaultAllocator)
	}
	for row := range r.Codes[0] {
		var key strings.Builder
		for _, at := range places {
			fmt.Fprint(&key, r.Codes[at][row], " ")
		}
		i, known := seen[key.String()]
		if !known {
			i = len(counts)
			seen[key.String()], counts = i, append(counts, 0)
			for j, at := range places {
				texts[j].Append(levels[at].Categories[r.Codes[at][row]].Code)
			}
		}
		counts[i]++
	}
	if len(counts) == 0 {
		return 0, "", nil
	}
	inputs := make([]arrow.Array, len(texts))
	for i, b := range texts {
		inputs[i] = b.NewArray()
	}
	is, misfits := made(inputs)
	for i, n := range counts {
		if misfits != nil && misfits[i] != domain.Fits {
			return 0, "the microdata have a column of it by categories that are no values of the source", nil
		}
		if is.IsNull(i) {
			broken += n
		}
	}
	return broken, "", nil
}
