package describe

import (
	"math/big"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec/language"
)

// This file describes the guarantee, and what to expect of many tables in a few lines. The signed page, the metadata
// of published files and the report all use it.

// definitions names the privacy definitions.
var definitions = map[string]string{
	"pure":        language.Key("pure differential privacy"),
	"approximate": language.Key("approximate differential privacy"),
	"zcdp":        language.Key("zero-concentrated differential privacy"),
}

// Budget returns the budget in the spec's own terms, such as "ε = 1 and δ = 1e-9", rounded up if it has too many
// digits.
func Budget(g plan.Guarantee) string { return budgetText(language.English, g) }

// budgetText returns the budget in these terms in a language.
func budgetText(l *language.Language, g plan.Guarantee) string {
	if g.Definition == "approximate" {
		g.Rho = ""
	}
	return Amounts(l, plan.Amount(g.Epsilon), plan.Amount(g.Rho), plan.Amount(g.Delta))
}

// Amounts writes amounts as [budget.Amounts] does.
func Amounts(l *language.Language, epsilon, rho, delta *big.Rat) string {
	var parts []string
	for _, of := range [][3]*big.Rat{{epsilon}, {nil, rho}, {nil, nil, delta}} {
		if of != [3]*big.Rat{} && (of[2] == nil || of[2].Sign() > 0) {
			parts = append(parts, l.Number(budget.Amounts(of[0], of[1], of[2])))
		}
	}
	if parts == nil {
		return l.Text("nothing")
	}
	return strings.Join(parts, " "+l.Text("and")+" ")
}

// Guarantee describes the guarantee in one line: its numbers rounded up, definition, neighbours, unit and method, and
// the public figures that it does not cover.
func Guarantee(l *language.Language, p *plan.Plan) string {
	g := p.Guarantee
	if p.Release().Collection != nil {
		return l.Text("%s for each %s, locally: every answer is randomised on the device, and nobody sees more than "+
			"the report; method: %s.",
			budgetText(l, g), g.Protects, Method(l, p))
	}
	amount, definition := budgetText(l, g), l.Text(definitions[g.Definition])
	b := &strings.Builder{}
	if g.Neighbours == "replace" {
		b.WriteString(l.Text("%s (%s) for replacing one %s by another, meaning %s", amount, definition, g.Protects,
			Unit(l, g)))
	} else {
		b.WriteString(l.Text("%s (%s) for adding or removing one %s, meaning %s", amount, definition, g.Protects,
			Unit(l, g)))
	}
	if g.MaxRows > 1 {
		b.WriteString(", " + l.Text("of which at most %s are counted", countedRows(l, g.MaxRows, g.Rows)))
	}
	if h := g.Holders; h != nil {
		b.WriteString(", " + l.Text("made by %d holders of the data, of whom any %d are trusted", len(h.TookPart()),
			h.Trusted))
	}
	for i, e := range g.Equivalents {
		bound := l.Text("%s at δ = %s", l.Number(Bound(e)), l.Number(e.Delta))
		if i == 0 {
			b.WriteString("; " + l.Text("that is at most %s", bound))
		} else {
			b.WriteString(" " + l.Text("and") + " " + bound)
		}
	}
	b.WriteString("; " + methodsText(l, p))
	if given := GivenAway(l, p); given != "" {
		b.WriteString(" " + given + ".")
	}
	return b.String()
}

// methodsText names the method behind the guarantee and, if that is in ρ, the methods behind the ε that it implies.
func methodsText(l *language.Language, p *plan.Plan) string {
	var implied []string
	for _, e := range p.Guarantee.Equivalents {
		if method := l.Text(e.Method); !slices.Contains(implied, method) {
			implied = append(implied, method)
		}
	}
	if p.Guarantee.Definition != "zcdp" || implied == nil {
		return l.Text("method: %s.", Method(l, p))
	}
	return l.Text("method for ρ: %s; method for ε: %s.", Method(l, p), strings.Join(implied, "; "))
}

// EachRow is the unit of a release in which each row is one.
var EachRow = language.Key("each row")

// Unit says which rows are one unit.
func Unit(l *language.Language, g plan.Guarantee) string {
	switch {
	case g.Rows == nil && g.ID == "":
		return l.Text(EachRow)
	case g.Rows == nil:
		return l.Text("all rows with the same %s", g.ID)
	}
	names, ids, same := make([]string, len(g.Rows)), make([]string, len(g.Rows)), true
	for i, of := range g.Rows {
		names[i], ids[i] = of.Table, l.Text("%s in %s", of.ID, of.Table)
		same = same && of.ID == g.Rows[0].ID
	}
	if same {
		return l.Text("all rows with the same %s in %s", g.Rows[0].ID, l.List(names))
	}
	return l.Text("all rows with the same id (%s)", l.List(ids))
}

// Method says how the loss of all measurements is composed, by which theorems.
func Method(l *language.Language, p *plan.Plan) string {
	g := p.Guarantee
	var capped, rounds string // how the rounds of microdata enter: by their cap, however many are made
	if p.Adapts() {
		capped = ", " + l.Text("with the rounds of microdata by their cap in ρ (Bun and Steinke 2016)")
		rounds = " " + l.Text("and the cap of all rounds of microdata")
	}
	sampled := sampleMethod(l, p.Sample)
	switch g.Definition {
	case "approximate":
		text := l.Text("the privacy losses of all measurements composed numerically (Doroshenko, Ghazi, Kamath, "+
			"Kumar and Manurangsi 2022)") +
			capped + sampled
		if reserved := workload.Reserved(p); g.DeltaMeasured != "" && reserved != nil {
			text += ", " + l.Text(
				"at a δ of %s: the other %s are reserved for groups that nobody listed to appear (Desfontaines, "+
					"Voss, Gipson and Mandayam 2022)",
				l.Number(budget.DecimalUp(plan.Amount(g.DeltaMeasured), plan.Significant)),
				l.Number(budget.DecimalUp(reserved, plan.Significant)))
		}
		if g.Judged {
			text += ", " + l.Text("and judged again by a contour integral")
		}
		return text
	case "pure":
		if p.Release().Collection != nil {
			return localMethod(l, p)
		}
		return l.Text("the ε of all measurements%s added up (Dwork, McSherry, Nissim and Smith 2006)", rounds+sampled)
	}
	return l.Text("the ρ of all measurements%s added up (Bun and Steinke 2016)", rounds+sampled)
}

// localMethod says by which theorem the reports of one respondent are private.
func localMethod(l *language.Language, p *plan.Plan) string {
	if p.Measurements[0].IsDrawn() || len(p.Measurements) == 1 {
		return l.Text("subset selection of one answer (Ye and Barg 2018)")
	}
	return l.Text("subset selection of each answer (Ye and Barg 2018), their ε added up (Dwork, McSherry, Nissim and " +
		"Smith 2006)")
}

// Bound returns the implied ε in four digits, rounded up, such as "ε = 2.420".
func Bound(e plan.Equivalent) string {
	r := new(big.Rat).SetFloat64(e.Epsilon)
	if r == nil {
		return "ε = ∞"
	}
	return "ε = " + budget.SignificantUp(r, 4)
}

// Outlook is what to expect of one table, or of several similar ones.
type Outlook struct{ Tables, Text string }

// Outlooks folds neighbouring tables of one marginal with the same expectation and advice into one line. If there are
// more than 40 tables, it also folds those with the same number of attributes, so that a release of a hundred tables
// can still be read. It reads the path, marginal and expectation of the tables and, if they are given, attributes,
// statistics and usefulness.
func Outlooks(l *language.Language, tables []Expected) []Outlook {
	same := func(a, b int) bool { return outlookText(l, tables[a]) == outlookText(l, tables[b]) }
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
		o := Outlook{Tables: tables[run.From].Path, Text: outlookText(l, tables[run.From])}
		for i := run.From + 1; i < run.To; i++ {
			if !same(run.From, i) {
				o.Text = expectationOfMany(l, tables[run.From:run.To]) + bandsText(l, tables[run.From:run.To])
				break
			}
		}
		if more := run.To - run.From - 1; more > 0 {
			o.Tables = l.Text("%s and %d more", o.Tables, more)
		}
		out = append(out, o)
	}
	return out
}

// outlookText says what to expect of a table: its expectation, how its target is met, and what would improve it.
func outlookText(l *language.Language, t Expected) string {
	text := t.Expectation
	if t.Target != nil {
		text += " " + l.Text("Its target, %s, is met with ±%s.", Target(l, *t.Target),
			l.Number(budget.DecimalUp(new(big.Rat).SetFloat64(t.Target.Reached), 4)))
	}
	if advice := adviceText(l, t.Usefulness); advice != "" {
		text += " " + advice
	}
	return text
}

// Target describes a target, as its String does in English.
func Target(l *language.Language, t plan.Target) string {
	margin, sure := l.Number(t.Margin), t.Confidence
	if percent, size, _ := strings.Cut(t.Relative, " of "); t.Relative != "" {
		margin += " (" + l.Text("%s of %s", l.Number(percent), size) + ")"
	}
	if share, err := budget.ParseRat(t.Confidence); err == nil {
		v, _ := share.Float64()
		sure = budget.Percent(v)
	}
	if t.AllCells {
		return l.Text("±%s, %s sure of all cells at once", margin, l.Number(sure))
	}
	return l.Text("±%s, %s sure of each cell", margin, l.Number(sure))
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
