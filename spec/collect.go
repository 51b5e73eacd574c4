package spec

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/domain"
	"github.com/dprelease/dprelease/spec/files"
	"github.com/dprelease/dprelease/spec/shape"
)

// This file reads the collection.

// The limits of a collection.
const (
	mostLocalEpsilon = 10
	mostRespondents  = 1_000_000_000
)

// shuffledDelta is the δ of the promise of shuffled reports if the spec gives none.
const shuffledDelta = "1e-9"

func collectShape() *shape.Shape {
	respondents := func(says string) *shape.Shape {
		return shape.Whole(says+", from 2 to 1000000000", 2, mostRespondents)
	}
	return shape.Dictionary("the collection by name, such as {answers: {protocol: local, epsilon: 2, expect: 100000}}",
		`^`+columnSyntax+`$`,
		shape.Object("{protocol, epsilon, expect, shuffled, honest, delta, faulty}",
			shape.Field{Key: "protocol", Shape: shape.Enum("local: every answer is randomised on the device", "local"),
				Required: "how answers are protected", Fix: "protocol: local"},
			shape.Field{Key: "epsilon", Shape: shape.Number("a number above 0 and at most 10, such as 2"),
				Required: "what each respondent loses in all", Fix: "epsilon: 2"},
			shape.Field{Key: "expect", Shape: respondents("about how many respondents there will be"),
				Required: "about how many respondents there will be", Fix: "expect: 100000"},
			shape.Field{Key: "shuffled", Shape: shape.Boolean("true or false"), Requires: "honest"},
			shape.Field{Key: "honest", Shape: respondents("the least number of honest reports"), Requires: "shuffled"},
			shape.Field{Key: "delta", Shape: shape.Number("a number above 0 and below 1, such as 1e-9"),
				Requires: "shuffled"},
			shape.Field{Key: "faulty",
				Shape: shape.Enum("error or drop: what happens to a report that no device makes, or that was sent twice", rowsError,
					rowsDrop)})).
		Nonempty("a collection, such as {answers: {protocol: local, epsilon: 2, expect: 100000}}")
}

// readCollection reads the collection. Its ε is the budget of the release.
func (r *reader) readCollection(root document.Node) {
	all := r.Entries(root.Get("collect"))
	if len(all) == 0 || !r.IsSound(all[0]) {
		return
	}
	if len(all) > 1 {
		r.AddProblem(all[1], document.Problem{Message: "a second collection",
			Expected: "one collection in a release: what a respondent loses in several is the sum, and the account adds it up"})
		return
	}
	n := all[0]
	c := &Collection{Name: n.Key.Value, Epsilon: r.readAmount(n.Get("epsilon")), Expect: n.Get("expect").WholeNumber(),
		RefusesFaulty: n.Get("faulty").Is(rowsError)}
	if c.Epsilon == nil {
		return
	}
	if c.Epsilon.Cmp(big.NewRat(mostLocalEpsilon, 1)) > 0 {
		r.AddProblem(n.Get("epsilon"), document.Problem{Message: "epsilon is " + n.Get("epsilon").Text(),
			Expected: "at most 10: beyond it a report is as good as the answer"})
	}
	r.readShuffled(n, c)
	if r.release.Privacy.Neighbours == AddRemove {
		r.AddProblem(root.Get("privacy").Get("neighbours"), document.Problem{
			Message: "what is protected of a respondent is the answer: that there is a report is seen by whoever " +
				"collects it",
			Expected: "neighbours: replace", Fix: "neighbours: replace"})
	}
	if total := root.Get("privacy").Get("total"); total.IsTrue() {
		r.AddProblem(total, document.Problem{Message: "privacy is total where the data are reports, which are public " +
			"to the collector",
			Expected: "no `total`"})
	}
	r.release.Collection = c
	r.release.Budget = Budget{Epsilon: c.Epsilon, Minimise: LeastSum,
		Leaves: []Leaf{{Share: big.NewRat(1, 1)}}, Split: []Part{{Share: big.NewRat(1, 1)}}}
	r.refuseForRows(root, "impossible", "invariants", "synthetic", "models", "diagnostics")
}

// readShuffled reads what is said of a shuffler.
func (r *reader) readShuffled(n document.Node, c *Collection) {
	shuffled := n.Get("shuffled")
	if !shuffled.Present() {
		return
	}
	if !shuffled.IsTrue() {
		r.AddProblem(shuffled, document.Problem{Message: "reports that are not shuffled have no honest minimum",
			Expected: "shuffled: true, or neither shuffled nor honest"})
		return
	}
	if honest := n.Get("honest"); r.IsSound(honest) && honest.WholeNumber() > c.Expect {
		r.AddProblem(honest, document.Problem{Message: "more honest reports than respondents are expected",
			Expected: "a number below expect: with fewer reports nothing is published"})
	}
	c.Honest, c.Delta = n.Get("honest").WholeNumber(), r.readAmount(n.Get("delta"))
	if c.Delta == nil {
		c.Delta, _ = document.ParseNumber(shuffledDelta)
	}
	if c.Honest > 0 && c.Delta.Cmp(big.NewRat(1, c.Honest)) >= 0 {
		r.AddProblem(n.Get("delta").Or(shuffled),
			document.Problem{Message: "delta is " + document.FormatNumber(c.Delta),
				Expected: fmt.Sprintf("a delta far below one over the honest reports, 1/%d, such as 1e-9", c.Honest)})
	}
}

// refuseForRows reports keys that are for rows of data, and not for reports.
func (r *reader) refuseForRows(at document.Node, keys ...string) {
	for _, key := range keys {
		if n := at.Get(key); n.Present() {
			r.WrongKey(n, document.Problem{
				Message: fmt.Sprintf("%s is for tables of rows, and answers that are randomised on devices are "+
					"collected here", key),
				Expected: "no " + key})
		}
	}
}

// readCollected reads a table of reports. Its columns are asked on a device, which offers their categories: nothing is
// read from a file, and no value can be outside them.
func (r *reader) readCollected(root document.Node, t *Table, n document.Node) {
	collected := n.Get("collected")
	names := namesOf(r.Entries(root.Get("collect")), func(c document.Node) string { return c.Key.Value })
	switch {
	case len(names) > 1: // already reported
		return
	case !collected.Present() && len(names) > 0 && r.IsSound(n.Get("unit")):
		r.AddProblem(n.Get("unit"), document.Problem{
			Message:  fmt.Sprintf("%s holds rows, in a release that collects randomised answers", t.Name),
			Expected: "collected: " + names[0] + ", or a release of its own for the table",
			Fix:      "collected: " + names[0]})
		return
	case !r.IsSound(collected):
		return
	case !root.Get("collect").Present():
		r.AddProblem(collected, document.Problem{Message: "there is no collection in this spec",
			Expected: "collect: {" + document.Clip(collected.Text()) + ": {protocol: local, epsilon: 2, expect: " +
				"100000}} instead of a budget"})
		return
	case len(names) == 0:
		return
	case !slices.Contains(names, collected.Text()):
		r.AddProblem(collected, r.Among(collected, document.Problem{
			Message:  fmt.Sprintf("there is no collection %q", document.Clip(collected.Text())),
			Expected: document.OneOf(names)}, names))
		return
	case len(r.release.Tables) > 0:
		r.AddProblem(collected, document.Problem{Message: "a second table of the collection",
			Expected: "one table with all questions that its respondents are asked"})
		return
	}
	t.Collected, t.Unit = collected.Text(), Unit{Row: true, MaxRows: 1}
	r.refuseForRows(n, "weight", "expect", "where", "join", "sample")
	for _, c := range r.Entries(n.Get("columns")) {
		r.refuseForRows(c, "from", "derived_from", "unknown", "null", "bounds", "grid")
		r.checkTextColumn(c)
	}
	if source := n.Get("source"); r.IsSound(source) && t.Source.Format != files.Parquet {
		r.AddProblem(source, document.Problem{Message: "reports are not read from here",
			Expected: "Parquet files of reports, as `dprelease local randomise` and `dprelease local shuffle` write them",
			Fix:      "source: {parquet: \"reports/*.parquet\"}"})
	}
}

// checkTextColumn reports what is missing, or too much, in a column of texts that respondents are asked for and nobody
// lists.
func (r *reader) checkTextColumn(c document.Node) {
	discover := c.Get("values").Get("discover")
	if !r.IsSound(discover) {
		return
	}
	r.refuseForRows(discover, "at_least")
	if kind := c.Get("type"); kind.Present() && kind.Text() != string(domain.Text) {
		r.AddProblem(kind, document.Problem{
			Message:  "respondents can be asked only for texts that nobody lists, not for other values",
			Expected: "text"})
	}
	if !discover.Get("alphabet").Present() {
		r.AddProblem(discover, document.Problem{Message: "the characters of these texts are not given",
			Expected: "{max_length: 12, alphabet: abcdefghijklmnopqrstuvwxyz}"})
	}
}

// readCollectedMarginal reports what cannot be asked of reports.
func (r *reader) readCollectedMarginal(t *Table, m *Marginal, n document.Node) {
	if t == nil || t.Collected == "" {
		return
	}
	r.refuseForRows(n, "budget", "top", "per_unit", "cells", "each")
	if ranges := n.Get("ranges"); r.IsSound(ranges) && len(m.Ranges) > 0 && len(m.Ranges)+len(m.Cumulative) > 1 {
		r.AddProblem(ranges, document.Problem{Message: "ranges, and sums along another attribute, in one question",
			Expected: fmt.Sprintf("ranges: [%s], and a second marginal for sums along the other attribute",
				m.Ranges[0])})
	}
	if by := n.Get("by"); r.IsSound(by) && len(by.Items()) == 0 && m.Asked() == "" {
		r.AddProblem(by, document.Problem{Message: "a total of reports, which is no question",
			Expected: "at least one attribute, or a mean: how many respondents there are is in the report"})
	}
	for i, item := range n.Get("stats").Items() {
		r.checkAsked(t, m, m.Stats[i], item)
	}
}

// checkAsked reports a statistic that reports do not have.
func (r *reader) checkAsked(t *Table, m *Marginal, s Stat, item document.Node) {
	p := document.Problem{Expected: "count, {sum: COLUMN} or {mean: COLUMN}"}
	switch {
	case !statKinds[s.Kind].ofReports:
		p.Message = fmt.Sprintf("%s is for tables of rows, and answers that are randomised on devices are collected here", s.Kind)
	case s.Column != "" && s.Column != m.Asked():
		p.Message = fmt.Sprintf("the numbers of %s as well as those of %s, in one question", s.Column, m.Asked())
		p.Expected = "a second marginal for the numbers of " + s.Column
	case slices.ContainsFunc(m.By, func(a Attribute) bool { return a.Column == s.Column }):
		p.Message = fmt.Sprintf("the numbers of %s by %s itself", s.Column, s.Column)
		p.Expected = "other attributes in by"
	case t.Column(s.Column) != nil && t.Column(s.Column).Lattice != nil && t.Column(s.Column).Lattice.By != "":
		p.Message = fmt.Sprintf("the numbers of %s, whose range depends on %s", s.Column, t.Column(s.Column).Lattice.By)
		p.Expected = "one range for all respondents"
	default:
		return
	}
	r.AddProblem(item, p)
}
