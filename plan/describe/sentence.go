package describe

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/workload"
)

// This file describes the guarantee, and what to expect of many tables in a few lines. The signed page, the metadata
// of published files and the report all use it.

// definitions names the privacy definitions.
var definitions = map[string]string{
	"pure":        "pure differential privacy",
	"approximate": "approximate differential privacy",
	"zcdp":        "zero-concentrated differential privacy",
}

// Budget returns the budget in the spec's own terms, such as "ε = 1 and δ = 1e-9", rounded up if it has too many
// digits.
func Budget(g plan.Guarantee) string {
	if g.Definition == "approximate" {
		g.Rho = ""
	}
	return budget.Amounts(plan.Amount(g.Epsilon), plan.Amount(g.Rho), plan.Amount(g.Delta))
}

// Guarantee describes the guarantee in one line: its numbers rounded up, definition, neighbours, unit and method, and
// the public figures that it does not cover.
func Guarantee(p *plan.Plan) string {
	g := p.Guarantee
	neighbour := "adding or removing one " + g.Protects
	if g.Neighbours == "replace" {
		neighbour = "replacing one " + g.Protects + " by another"
	}
	b := &strings.Builder{}
	fmt.Fprintf(b, "%s (%s) for %s, meaning %s", Budget(g), definitions[g.Definition], neighbour, Unit(g))
	if g.MaxRows > 1 {
		fmt.Fprintf(b, ", of which at most %s counted", Contribution(g))
	}
	for i, e := range g.Equivalents {
		joint := " and"
		if i == 0 {
			joint = "; that is at most"
		}
		fmt.Fprintf(b, "%s %s at δ = %s", joint, Bound(e), e.Delta)
	}
	fmt.Fprintf(b, "; method: %s.", Method(p))
	if given := GivenAway(p); given != "" {
		fmt.Fprintf(b, " %s.", given)
	}
	return b.String()
}

// EachRow is the unit of a release in which each row is one.
const EachRow = "each row"

// Unit says which rows are one unit.
func Unit(g plan.Guarantee) string {
	switch {
	case g.Rows == nil && g.ID == "":
		return EachRow
	case g.Rows == nil:
		return "all rows with the same " + g.ID
	}
	names, ids, same := make([]string, len(g.Rows)), make([]string, len(g.Rows)), true
	for i, of := range g.Rows {
		names[i], ids[i] = of.Table, of.ID+" in "+of.Table
		same = same && of.ID == g.Rows[0].ID
	}
	if same {
		return "all rows with the same " + g.Rows[0].ID + " in " + budget.InWords(names)
	}
	return "all rows with the same id (" + budget.InWords(ids) + ")"
}

// Method says how the loss of all measurements is composed, by which theorems.
func Method(p *plan.Plan) string {
	g := p.Guarantee
	var capped, rounds string // how the rounds of microdata enter: by their cap, however many are made
	if p.Adapts() {
		capped, rounds = ", with the rounds of microdata by their cap in ρ (Bun and Steinke 2016)",
			" and the cap of all rounds of microdata"
	}
	sampled := sampleMethod(p.Sample)
	switch g.Definition {
	case "approximate":
		text := "the privacy losses of all measurements composed numerically (Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022)" + capped + sampled
		if reserved := workload.Reserved(p); g.DeltaMeasured != "" && reserved != nil {
			text += fmt.Sprintf(
				", at a δ of %s: the other %s are reserved for groups that nobody listed to appear (Desfontaines, Voss, Gipson and Mandayam 2022)",
				budget.DecimalUp(plan.Amount(g.DeltaMeasured), plan.Significant),
				budget.DecimalUp(reserved, plan.Significant))
		}
		if g.Judged {
			text += ", and judged again by a contour integral"
		}
		return text
	case "pure":
		return "the ε of all measurements" + rounds + sampled + " added up (Dwork, McSherry, Nissim and Smith 2006)"
	}
	return "the ρ of all measurements" + rounds + sampled + " added up (Bun and Steinke 2016)"
}

// Bound returns the implied ε in four digits, rounded up, such as "ε = 2.42".
func Bound(e plan.Equivalent) string {
	r := new(big.Rat).SetFloat64(e.Epsilon)
	if r == nil {
		return "ε = ∞"
	}
	return "ε = " + budget.DecimalUp(r, 4)
}

// Outlook is what to expect of one table, or of several similar ones.
type Outlook struct{ Tables, Text string }

// Outlooks folds neighbouring tables of one marginal with the same expectation and advice into one line. If there are
// more than 40 tables, it also folds those with the same number of attributes, so that a release of a hundred tables
// can still be read. It reads the path, marginal and expectation of the tables and, if they are given, attributes,
// statistics and usefulness.
func Outlooks(tables []Expected) []Outlook {
	same := func(a, b int) bool { return outlookText(tables[a]) == outlookText(tables[b]) }
	wide := func(a, b int) bool {
		return same(a, b) || len(tables) > ManyTables && tables[a].Statistics != nil && tables[b].Statistics != nil &&
			len(tables[a].By) == len(tables[b].By)
	}
	plain := make([]plan.Table, len(tables))
	for i, t := range tables {
		plain[i] = t.Table
	}
	var out []Outlook
	for _, run := range Runs(plain, wide) {
		o := Outlook{Tables: tables[run.From].Path, Text: outlookText(tables[run.From])}
		for i := run.From + 1; i < run.To; i++ {
			if !same(run.From, i) {
				o.Text = expectationOfMany(tables[run.From:run.To]) + bandsText(tables[run.From:run.To])
				break
			}
		}
		if more := run.To - run.From - 1; more > 0 {
			o.Tables += fmt.Sprintf(" and %d more", more)
		}
		out = append(out, o)
	}
	return out
}

// outlookText says what to expect of a table: its expectation, how its target is met, and what would improve it.
func outlookText(t Expected) string {
	text := t.Expectation
	if t.Target != nil {
		text += fmt.Sprintf(" Its target, %s, is met with ±%s.", t.Target,
			budget.DecimalUp(new(big.Rat).SetFloat64(t.Target.Reached), 4))
	}
	if advice := adviceText(t.Usefulness); advice != "" {
		text += " " + advice
	}
	return text
}

// tableRun is the tables From ≤ i < To.
type tableRun struct{ From, To int }

// Runs partitions tables into the longest runs of one marginal for which alike holds.
func Runs(tables []plan.Table, alike func(a, b int) bool) []tableRun {
	var out []tableRun
	for i, t := range tables {
		last := len(out) - 1
		if last >= 0 && tables[out[last].From].Marginal == t.Marginal && alike(out[last].From, i) {
			out[last].To++
			continue
		}
		out = append(out, tableRun{i, i + 1})
	}
	return out
}
