package plan

import (
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

const (
	// manyTables is where the page stops listing every table.
	manyTables = 40
	// firstTables of those with the same noise are listed even then.
	firstTables = 3
)

// Explain writes the page that a person signs: what is promised, a row per
// table with its noise, error and cost, what each table will be good for, and
// what to know before signing. Losses are rounded up, errors and scales to the
// nearest. Of more than 40 tables, those with the same noise are folded into
// one row after the first three; plan.json has them all.
func (p *Plan) Explain(w io.Writer) error {
	b := &strings.Builder{}
	fmt.Fprintf(b, "Plan of release %s", p.Name)
	if p.Title != "" {
		fmt.Fprintf(b, ": %s", p.Title)
	}
	fmt.Fprintf(b, "\n\nPromises %s\n\n", p.Guarantee.Sentence())
	p.explainGovernance(b)
	p.explainTables(b)
	p.explainStrategies(b)
	for i := range p.Synthetic {
		p.explainMicrodata(b, i)
	}
	p.explainLeaves(b)
	p.explainConversion(b)
	fmt.Fprintf(b, "\nWhat the tables will be good for (before sampling and response error)\n")
	for _, o := range Outlooks(p.Tables) {
		fmt.Fprintf(b, "  %s: %s\n", o.Tables, o.Text)
	}
	for _, warning := range p.Warnings {
		fmt.Fprintf(b, "\nBefore you sign: %s.\n", warning)
	}
	pairs := ""
	if len(p.Synthetic) > 0 {
		pairs = ", all pairs of columns of the microdata included"
	}
	fmt.Fprintf(b, "\n%s in %s, %s of memory to measure%s. Plan hash %s\n",
		budget.Plural(p.Size.Cells, "cell"), budget.Plural(int64(len(p.Tables)), "table"), bytesText(p.Size.Bytes), pairs, p.Hash())
	_, err := io.WriteString(w, b.String())
	return err
}

// explainGovernance writes what the release corrects, which accounts it is
// charged to where they are several, what its files must hold, and whether a run
// that is cut off is lost.
func (p *Plan) explainGovernance(b *strings.Builder) {
	var lines []string
	if p.Corrects != "" {
		lines = append(lines, fmt.Sprintf("Corrects %s: with new noise and a debit of its own; what %[1]s cost stays spent.", p.Corrects))
	}
	if g := p.Guarantee; len(g.Also) > 0 {
		lines = append(lines, fmt.Sprintf("Charged in full to each of the accounts %s and %s.", g.Account, strings.Join(g.Also, ", ")))
	}
	for _, t := range p.release.Tables {
		if t.Expect != nil {
			lines = append(lines, fmt.Sprintf("Checked before anything is spent: %s.", expectText(t)))
		}
	}
	if p.Resume == spec.Never {
		lines = append(lines, "If this run is cut off after its debit, its budget is lost: resume: never.")
	}
	for _, line := range lines {
		fmt.Fprintln(b, line)
	}
	if len(lines) > 0 {
		fmt.Fprintln(b)
	}
}

// expectText says what a table's files must hold.
func expectText(t *spec.Table) string {
	var rules []string
	if rows := t.Expect.Rows; rows != nil {
		rules = append(rules, fmt.Sprintf("the files of %s hold %s to %s rows", t.Name, budget.Group(rows.Least), budget.Group(rows.Most)))
	}
	if len(t.Expect.Every) > 0 {
		var names []string
		for _, a := range t.Expect.Every {
			names = append(names, a.String())
		}
		rules = append(rules, fmt.Sprintf("every declared code of %s occurs in %s", strings.Join(names, ", "), t.Name))
	}
	return strings.Join(rules, "; ")
}

// explainTables writes the table of tables.
func (p *Plan) explainTables(b *strings.Builder) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "table\tcells\tmeasured\tnoise\tleaf\tstd. error\t95% margin\tcost")
	for _, r := range runs(p.Tables, p.sameNoise) {
		listed := r.to
		if len(p.Tables) > manyTables {
			listed = min(r.to, r.from+firstTables)
		}
		for i := r.from; i < listed; i++ {
			p.explainTable(t, i)
		}
		if listed < r.to {
			p.explainRest(t, run{listed, r.to})
		}
	}
	for i, s := range p.Synthetic {
		fmt.Fprintf(t, "%s\t\tin rounds\tsee below\t%s\t\t\t%s\n", s.name(), s.Leaf, rhoText(p.rhoOf(i)))
	}
	fmt.Fprintf(t, "total\t%s\t%s\t\t\t\t\t%s\n", budget.Group(p.Size.Cells), budget.Plural(int64(len(p.Measurements)), "measurement"), p.Guarantee.Budget())
	t.Flush()
}

// sameNoise tells that two tables have the same noise: one measurement each, with the
// same mechanism of one leaf, or equal errors of tables put together.
func (p *Plan) sameNoise(a, b int) bool {
	m, alone := p.Measurement(p.Tables[a].Statistics[0].Measurement)
	n, also := p.Measurement(p.Tables[b].Statistics[0].Measurement)
	if alone != also || !alone {
		s, t := p.Tables[a].Statistics[0], p.Tables[b].Statistics[0]
		return alone == also && s.StandardError == t.StandardError && s.Margin == t.Margin
	}
	return m.Leaf == n.Leaf && m.Mechanism.Kind == n.Mechanism.Kind && m.Mechanism.Parameter.Cmp(n.Mechanism.Parameter) == 0 &&
		m.Mechanism.L1.Cmp(n.Mechanism.L1) == 0 && m.Mechanism.L2Squared.Cmp(n.Mechanism.L2Squared) == 0
}

// explainTable writes the row of one table.
func (p *Plan) explainTable(w io.Writer, i int) {
	table := p.Tables[i]
	s := table.Statistics[0]
	measured, noise, leaf, cost := "with others", "", p.leafOf(i), ""
	if m, alone := p.Measurement(s.Measurement); alone {
		measured, noise, cost = "by itself", mechanismText(m.Mechanism)+", "+scaleText(m.Mechanism), costText(m.Mechanism, 1)
	}
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t±%s\t%s\n", table.Path, budget.Group(table.Cells), measured, noise, leafText(leaf),
		budget.DecimalNearest(s.StandardError, 4), budget.Group(WholeMargin(s.Margin)), cost)
}

// leafOf is the leaf that pays for a table.
func (p *Plan) leafOf(i int) string {
	for _, s := range p.Strategies {
		if slices.Contains(s.Tables, p.Tables[i].Path) {
			return s.Leaf
		}
	}
	return ""
}

// explainRest writes one row for tables with the same noise as those above it:
// their cells and costs in all.
func (p *Plan) explainRest(w io.Writer, rest run) {
	n, cells, cost := int64(rest.to-rest.from), int64(0), ""
	for _, t := range p.Tables[rest.from:rest.to] {
		cells += t.Cells
	}
	if m, alone := p.Measurement(p.Tables[rest.from].Statistics[0].Measurement); alone {
		cost = costText(m.Mechanism, n)
	}
	fmt.Fprintf(w, "… and %s more with the same noise\t%s in all\t\t\t%s\t\t\t%s\n", budget.Group(n), budget.Group(cells), leafText(p.leafOf(rest.from)), cost)
}

// explainStrategies says how groups of tables are measured, and what else could
// have been done.
func (p *Plan) explainStrategies(b *strings.Builder) {
	var lines []string
	for _, s := range p.Strategies {
		if len(s.Tables) == 1 && len(s.Instead) == 0 {
			continue
		}
		lines = append(lines, s.sentence())
	}
	if len(lines) == 0 {
		return
	}
	b.WriteString("\nHow the tables are measured (error: root mean square of the standard errors of all cells)\n")
	for _, line := range lines {
		fmt.Fprintf(b, "  %s\n", line)
	}
}

// strategyText says what a strategy does.
var strategyText = map[StrategyKind]string{
	Direct:    "each table by itself",
	Largest:   "the tables that lie in no other by themselves, the others as sums of them",
	Residuals: "what the tables share once (residuals), and every table from that: they agree with each other",
}

// sentence says how a group is measured and why.
func (s Strategy) sentence() string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "%s", s.Tables[0])
	if more := len(s.Tables) - 1; more > 0 {
		fmt.Fprintf(b, " and %s", budget.Plural(int64(more), "more table"))
	}
	fmt.Fprintf(b, ": %s; error %s", strategyText[s.Kind], budget.DecimalNearest(s.RMSE, 4))
	for _, other := range s.Instead {
		if other.Why != "" {
			fmt.Fprintf(b, "; not %s: %s", strategyText[other.Kind], other.Why)
			continue
		}
		fmt.Fprintf(b, "; %s would have %s", strategyText[other.Kind], budget.DecimalNearest(other.RMSE, 4))
	}
	return b.String() + "."
}

// explainLeaves writes the budget split, where there is one.
func (p *Plan) explainLeaves(b *strings.Builder) {
	if len(p.Leaves) < 2 {
		return
	}
	b.WriteString("\nBudget\n")
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, l := range p.Leaves {
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", l.Path, percent(amount(l.Share)), l.Amount, l.PaysFor())
	}
	t.Flush()
}

// explainConversion says what composing losses numerically has gained, for an
// ε,δ budget.
func (p *Plan) explainConversion(b *strings.Builder) {
	spent, plain := amount(p.Guarantee.Rho), amount(p.Guarantee.PlainRho)
	if p.Guarantee.PlainRho == "" {
		return
	}
	more, _ := new(big.Rat).Quo(spent, plain).Float64()
	fmt.Fprintf(b, "\nε and δ buy ρ %s, all measurements composed numerically. The conversion of ρ alone would allow %s, with %s more variance in every cell.\n",
		budget.Amount(spent), strings.TrimPrefix(budget.Amount(plain), "= "), budget.Percent(more-1))
}

func leafText(leaf string) string {
	if leaf == "" {
		return "–"
	}
	return leaf
}

func sensitivityText(m budget.Mechanism) string {
	if m.Kind == budget.DiscreteLaplace {
		return "L1 " + m.L1.String()
	}
	return "L2² " + m.L2Squared.String()
}

func mechanismText(m budget.Mechanism) string {
	if m.Kind == budget.DiscreteLaplace {
		return "discrete Laplace"
	}
	return "discrete Gaussian"
}

func scaleText(m budget.Mechanism) string {
	v, _ := m.Parameter.Float64()
	if m.Kind == budget.DiscreteLaplace {
		return "t = " + budget.DecimalNearest(v, 4)
	}
	return "σ² = " + budget.DecimalNearest(v, 4)
}

// costText is what n measurements with this noise cost, in four digits rounded
// up.
func costText(m budget.Mechanism, n int64) string {
	letter, loss := "ρ ", m.Rho()
	if epsilon, err := m.Epsilon(); err == nil {
		letter, loss = "ε ", epsilon
	}
	return letter + budget.DecimalUp(new(big.Rat).Mul(loss, big.NewRat(n, 1)), 4)
}

func percent(share *big.Rat) string {
	if share == nil {
		return "–"
	}
	v, _ := share.Float64()
	return budget.Percent(v)
}

func bytesText(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	default:
		return fmt.Sprintf("%d KiB", (n+1023)/1024)
	}
}
