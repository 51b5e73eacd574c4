package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/spec"
)

// This file holds invariants: public figures that published counts keep to, which tables they decide, and what is said of them.

// Invariant is one of them: how many rows a confidential table has in every cell of a marginal. Its figures stand in the plan's
// source, nothing is read from data for it, and it changes no measurement.
type Invariant struct {
	Name  string   `json:"name"`
	Table string   `json:"table"` // the confidential table whose rows it counts
	By    []string `json:"by"`
	From  string   `json:"from,omitempty"` // the file with the figures; "" where they stand in the spec
	Cells int64    `json:"cells"`
	Total int64    `json:"total"`
	// Tables are published ones whose cells are its figures, or sums of them.
	Tables []string `json:"tables,omitempty"`
}

// invariants are those of the release. Each names the tables that it decides before any other does.
func (p *Plan) invariants() []Invariant {
	var all []Invariant
	for _, of := range p.Release().Invariants {
		i := Invariant{Name: of.Name, Table: of.Table, By: make([]string, len(of.By)), From: of.File, Cells: int64(len(of.Counts)), Total: of.Total()}
		for k, a := range of.By {
			i.By[k] = a.String()
		}
		for _, t := range p.Tables {
			if t.Invariant == of.Name && t.From == of.Table {
				i.Tables = append(i.Tables, t.Path)
			}
		}
		all = append(all, i)
	}
	return all
}

// hold notes of every table whether an invariant decides its cells: then these are exact, whatever was measured.
func (p *Plan) hold(tables []*table) {
	for i := range p.Tables {
		t := &p.Tables[i]
		if t.Invariant = p.heldBy(*t, tables[i]); t.Invariant == "" {
			continue
		}
		s := &t.Statistics[0]
		s.StandardError, s.Uneven, s.Median, s.OfRanges, s.Margin, s.Attained = 0, 0, 0, 0, 0, 1
		t.Expectation = fmt.Sprintf("Public figures: its cells are those of invariant %s, or sums of them, and have no noise.", t.Invariant)
	}
}

// heldBy is the first invariant that decides a table, "" for none: one of the same rows, whose attributes decide those of the
// table.
func (p *Plan) heldBy(t Table, of *table) string {
	if t.whyLeft(slices.Contains(of.sums, residual.Prefixes)) != "" {
		return ""
	}
	for _, i := range p.Release().Invariants {
		if i.Table == t.From && p.placesIn(i, t) != nil {
			return i.Name
		}
	}
	return ""
}

// placesIn is, of each figure of an invariant, the cell of a table that it is counted in; nil where the figures do not decide the
// table.
func (p *Plan) placesIn(i spec.Invariant, t Table) []int32 {
	confidential := p.Release().Table(i.Table)
	by, own := counted(confidential, i.By), counted(confidential, t.attributes())
	has := func(a spec.Attribute) bool {
		return slices.ContainsFunc(by, func(b spec.Attribute) bool { return a.Column == b.Column })
	}
	if slices.ContainsFunc(own, func(a spec.Attribute) bool { return !has(a) }) {
		return nil // before levels are looked at, which may be large
	}
	of, strides := make([][]int, len(by)), make([]int, len(by))
	found, stride := 0, 1
	for k := len(own) - 1; k >= 0; k-- {
		for l, a := range by {
			if within, ok := decides(confidential, a, own[k]); ok {
				of[l], strides[l] = within, stride
				found++
			}
		}
		level, ok := confidential.Column(own[k].Column).Domain.Level(own[k].Level)
		if !ok {
			return nil
		}
		stride *= level.Size()
	}
	if found < len(own) {
		return nil
	}
	return placesOf(confidential, by, of, strides)
}

// placesOf is, of each cell of a marginal, the sum of what its categories add: the place of that in of, times the stride; nil adds
// nothing.
func placesOf(confidential *spec.Table, by []spec.Attribute, of [][]int, strides []int) []int32 {
	places := []int32{0}
	for l, a := range by {
		level, _ := confidential.Column(a.Column).Domain.Level(a.Level)
		next := make([]int32, 0, len(places)*level.Size())
		for _, before := range places {
			for c := range level.Size() {
				if of[l] == nil {
					next = append(next, before)
				} else {
					next = append(next, before+int32(of[l][c]*strides[l]))
				}
			}
		}
		places = next
	}
	return places
}

// PublicFigures are those that an invariant gives for a table's cells, in the table's order; nil where none does.
func (p *Plan) PublicFigures(t Table) []int64 {
	at := slices.IndexFunc(p.Release().Invariants, func(i spec.Invariant) bool { return i.Name == t.Invariant })
	if at < 0 {
		return nil
	}
	i := p.Release().Invariants[at]
	places := p.placesIn(i, t)
	if places == nil {
		return nil // of a plan that was not made from its release
	}
	out := make([]int64, t.Cells)
	for k, n := range i.Counts {
		out[places[k]] += n
	}
	return out
}

// invariantsPossible fails where an invariant has rows in a cell that the spec says no row falls into.
func (p *Plan) invariantsPossible() error {
	for _, i := range p.Release().Invariants {
		confidential := p.Release().Table(i.Table)
		mask, err := marginalOf(i.Table, counted(confidential, i.By)).Impossible(p.Release())
		if err != nil {
			return err
		}
		for cell, impossible := range mask.Cells() {
			if impossible && i.Counts[cell] > 0 {
				return at(p.Release(), "invariants."+i.Name, &fault{"", fmt.Sprintf("invariant %s has %s where `impossible` says that no row can be: %s", i.Name, budget.Plural(i.Counts[cell], "row"), cellText(confidential, i.By, cell)),
					"0 there, or another entry under `impossible`"})
			}
		}
	}
	return nil
}

// cellText names a cell by its categories.
func cellText(t *spec.Table, by []spec.Attribute, cell int) string {
	var parts []string
	for k := len(by) - 1; k >= 0; k-- {
		level, _ := t.Column(by[k].Column).Domain.Level(by[k].Level)
		parts = append(parts, fmt.Sprintf("%s = %s", by[k], level.Categories[cell%level.Size()].Code))
		cell /= level.Size()
	}
	if parts == nil {
		return "all rows"
	}
	slices.Reverse(parts)
	return strings.Join(parts, " with ")
}

// mostRows bounds the rows of microdata that are as many as an invariant has.
const mostRows = 1_000_000_000

// totalOf is an invariant of a confidential table, all of which have one total; false where it has none.
func totalOf(r *spec.Release, table string) (spec.Invariant, bool) {
	at := slices.IndexFunc(r.Invariants, func(i spec.Invariant) bool { return i.Table == table })
	if at < 0 {
		return spec.Invariant{}, false
	}
	return r.Invariants[at], true
}

// tabulatesInvariants fails where tables that are counted from microdata cannot keep to the invariants of their confidential table: the
// number of rows is all that these keep to, where no other number is asked for.
func (p *Plan) tabulatesInvariants(table string) error {
	for _, i := range p.Release().Invariants {
		if i.Table != table || len(i.By) == 0 && p.rowsOf(table) == i.Total() {
			continue
		}
		return at(p.Release(), "invariants."+i.Name, &fault{"", fmt.Sprintf("the tables of %s cross in a circle and so are counted from its microdata, which keep to no public figure but their number of rows", table),
			"an invariant of the number of rows alone, with `rows: noisy`; tables that do not cross in a circle; or no `integers` under `publish`"})
	}
	return nil
}

// tabulatesRows fails where tables would be counted from microdata of a number of rows that somebody chose, which every one of them
// would then add up to, whatever was measured. A number that an invariant says is that of the data.
func (p *Plan) tabulatesRows(table string) error {
	n := p.rowsOf(table)
	if _, known := totalOf(p.Release(), table); n == 0 || known {
		return nil
	}
	return at(p.Release(), "synthetic."+table, &fault{"rows", fmt.Sprintf("the tables of %s cross in a circle and so are counted from its microdata, and would all add up to the %s that `rows` asks for", table, budget.Plural(n, "row")),
		"`rows: noisy`, for as many as the noisy total says; tables that do not cross in a circle; or no `integers` under `publish`"})
}

// rowsOf is the number of rows that microdata of a table have whatever is measured, 0 where there is none.
func (p *Plan) rowsOf(table string) int64 {
	if at := slices.IndexFunc(p.Synthetic, func(s Synthetic) bool { return s.Table == table }); at >= 0 {
		return p.Synthetic[at].Rows
	}
	return 0
}

// Sentence says what the figures are and where they are from.
func (i Invariant) Sentence() string {
	where := "the spec"
	if i.From != "" {
		where = i.From
	}
	what := "the number of rows of " + i.Table
	if len(i.By) > 0 {
		what = fmt.Sprintf("the rows of %s by %s, %s", i.Table, strings.Join(i.By, " × "), budget.Plural(i.Cells, "figure"))
	}
	return fmt.Sprintf("%s (%s, from %s)", i.Name, what, where)
}

// givenAway are the sentences of public figures.
func givenAway(all []Invariant) (sentences []string) {
	for _, i := range all {
		sentences = append(sentences, i.Sentence())
	}
	return sentences
}

// GivenAway says which public figures are shown as they are, "" where there are none.
func (g Guarantee) GivenAway() string {
	if len(g.Invariants) == 0 {
		return ""
	}
	return fmt.Sprintf("Given away beside that, as public figures which no data were read for: %s", strings.Join(g.Invariants, "; "))
}

// explainInvariants writes which figures are public, and what they decide.
func (p *Plan) explainInvariants(b *strings.Builder) {
	if p.Invariants == nil {
		return
	}
	fmt.Fprintf(b, "\nPublic figures, which are given away (the promise is not about them)\n")
	for _, i := range p.Invariants {
		fmt.Fprintf(b, "  %s, %s in all\n", i.Sentence(), budget.Plural(i.Total, "row"))
		if i.Tables != nil {
			more := ""
			if n := len(i.Tables) - firstTables; n > 0 {
				more = fmt.Sprintf(" and %s", budget.Plural(int64(n), "other"))
			}
			fmt.Fprintf(b, "    shown as they are, or their sums, in %s%s\n", strings.Join(i.Tables[:min(len(i.Tables), firstTables)], ", "), more)
		}
	}
}

// invariants says which figures are public.
func (b *factBook) invariants(p *Plan) {
	for k, i := range p.Invariants {
		f := fact{topic: OnSource, subject: i.Table, what: "public figures " + i.Name, value: fmt.Sprintf("%s, %s in all", i.Sentence(), budget.Plural(i.Total, "row"))}
		hash := hashOf([]byte(fmt.Sprint(p.Release().Invariants[k].Counts)))
		f.value, f.exact = f.value+", SHA-256 "+hash[:16], "SHA-256 "+hash
		b.add(f)
		for _, path := range i.Tables {
			b.say(OnTable, path, "cells", "public figures of invariant "+i.Name)
		}
	}
}

// given are warnings of what invariants give away, and of what is measured for nothing.
func given(p *Plan) []string {
	if p.Invariants == nil {
		return nil
	}
	var names, measured []string
	for _, i := range p.Invariants {
		names = append(names, i.Name)
		for _, path := range i.Tables {
			if t, ok := p.tableOf(path); ok && len(t.Figures) == 0 {
				measured = append(measured, path)
			}
		}
	}
	all := []string{fmt.Sprintf("the figures of %s are published as they are. If they were counted in the same data, what they tell of any %s is not protected by anything here", strings.Join(names, ", "), p.Guarantee.Protects)}
	if measured != nil {
		all = append(all, fmt.Sprintf("the cells of %s are public figures, and measuring them takes a part of the budget that makes no cell of theirs better: without these marginals the others get it", strings.Join(measured[:min(len(measured), firstTables)], ", ")))
	}
	return all
}
