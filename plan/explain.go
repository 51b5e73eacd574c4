package plan

import (
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/dprelease/dprelease/budget"
)

// Explain writes the page that a person signs: what is promised, a row per
// table with its noise, error and cost, what each table will be good for, and
// what to know before signing.
func (p *Plan) Explain(w io.Writer) error {
	b := &strings.Builder{}
	fmt.Fprintf(b, "Plan of release %s", p.Name)
	if p.Title != "" {
		fmt.Fprintf(b, ": %s", p.Title)
	}
	fmt.Fprintf(b, "\n\n%s\n\n", p.Guarantee.Sentence())
	p.explainTables(b)
	p.explainLeaves(b)
	fmt.Fprintf(b, "\nWhat the tables will be good for (before sampling and response error)\n")
	for _, t := range grouped(p.Tables) {
		fmt.Fprintf(b, "  %s: %s\n", t.Path, t.Expectation)
	}
	for _, warning := range p.Warnings {
		fmt.Fprintf(b, "\nBefore you sign: %s.\n", warning)
	}
	fmt.Fprintf(b, "\n%s in %s, %s of memory to measure. Plan hash %s\n",
		plural(int(p.Size.Cells), "cell"), plural(len(p.Tables), "table"), bytesText(p.Size.Bytes), p.Hash())
	_, err := io.WriteString(w, b.String())
	return err
}

// explainTables writes the table of tables.
func (p *Plan) explainTables(b *strings.Builder) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "table\tcells\tsensitivity\tmechanism\tscale\tleaf\tshare\tstd. error\t95% margin\tcost")
	for i, table := range p.Tables {
		m, s := p.Measurements[i], table.Statistics[0]
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t±%s\t%s\n",
			table.Path, group(table.Cells), sensitivityText(m.Mechanism), m.Mechanism.Kind, scaleText(m.Mechanism),
			leafText(m.Leaf), percent(p.shareOf(m)), decimal(s.StandardError), group(s.Margin), costText(m.Mechanism))
	}
	fmt.Fprintf(t, "total\t%s\t\t\t\t\t100%%\t\t\t%s\n", group(p.Size.Cells), p.Guarantee.Budget())
	t.Flush()
}

// explainLeaves writes the budget split, where there is one.
func (p *Plan) explainLeaves(b *strings.Builder) {
	if len(p.Leaves) < 2 {
		return
	}
	b.WriteString("\nBudget\n")
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, l := range p.Leaves {
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", l.Path, percent(l.Share), l.Amount, plural(l.Tables, "table"))
	}
	t.Flush()
}

// shareOf is the exact part of the whole budget that a measurement is given.
func (p *Plan) shareOf(m Measurement) string {
	for _, l := range p.Leaves {
		if l.Path == m.Leaf {
			share, ok := new(big.Rat).SetString(l.Share)
			if !ok {
				return l.Share
			}
			return share.Quo(share, big.NewRat(int64(l.Tables), 1)).RatString()
		}
	}
	return ""
}

// grouped folds tables of one marginal that have the same outlook into one
// line, so that a release of a hundred tables can still be read.
func grouped(tables []Table) []Table {
	var out []Table
	for _, t := range tables {
		last := len(out) - 1
		if last >= 0 && out[last].Marginal == t.Marginal && out[last].Expectation == t.Expectation {
			out[last].Path = t.Marginal + "/…"
			continue
		}
		out = append(out, t)
	}
	return out
}

// Budget is the budget in the spec's own terms.
func (g Guarantee) Budget() string {
	switch g.Definition {
	case "pure":
		return "ε = " + rounded(g.Epsilon)
	case "approximate":
		return "ε = " + rounded(g.Epsilon) + ", δ = " + rounded(g.Delta)
	default:
		return "ρ = " + rounded(g.Rho)
	}
}

// Sentence is the guarantee in words, with its numbers, unit, neighbours and
// method.
func (g Guarantee) Sentence() string {
	neighbour := "adding or removing one " + g.Protects
	if g.Neighbours == "replace" {
		neighbour = "replacing one " + g.Protects + " by another"
	}
	b := &strings.Builder{}
	fmt.Fprintf(b, "Promises %s for %s (%s; %s", g.Budget(), neighbour, definitions[g.Definition], g.Unit)
	if g.MaxRows > 1 {
		fmt.Fprintf(b, ", at most %d rows counted", g.MaxRows)
	}
	b.WriteString(").")
	for _, e := range g.Equivalents {
		fmt.Fprintf(b, "\nThat is at most ε = %s at δ = %s.", decimal(e.Epsilon), e.Delta)
	}
	fmt.Fprintf(b, "\nMethod: %s.", g.Method)
	return b.String()
}

var definitions = map[string]string{
	"pure":        "pure differential privacy",
	"approximate": "approximate differential privacy",
	"zcdp":        "zero-concentrated differential privacy",
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

func scaleText(m budget.Mechanism) string {
	v, _ := m.Parameter.Float64()
	if m.Kind == budget.DiscreteLaplace {
		return "t = " + decimal(v)
	}
	return "σ² = " + decimal(v)
}

func costText(m budget.Mechanism) string {
	if epsilon, err := m.Epsilon(); err == nil {
		return "ε " + rounded(epsilon.RatString())
	}
	return "ρ " + rounded(m.Rho().RatString())
}

// rounded shows an exact number with four significant digits where it has more.
func rounded(exact string) string {
	r, ok := new(big.Rat).SetString(exact)
	if !ok {
		return exact
	}
	v, _ := r.Float64()
	return decimal(v)
}

func percent(exact string) string {
	r, ok := new(big.Rat).SetString(exact)
	if !ok {
		return exact
	}
	v, _ := r.Float64()
	return strconv.FormatFloat(100*v, 'g', 3, 64) + "%"
}

// decimal shows four significant digits, and whole numbers in full.
func decimal(v float64) string {
	if v >= 1000 && v < 1e15 {
		return group(int64(v + 0.5))
	}
	text := strconv.FormatFloat(v, 'g', 4, 64)
	return strings.Replace(text, "e-0", "e-", 1)
}

// group writes a whole number with thin groups of three digits.
func group(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}

// plural counts things.
func plural(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return group(int64(n)) + " " + thing
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
