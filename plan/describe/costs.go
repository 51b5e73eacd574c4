package describe

import (
	"cmp"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
)

// This file holds the cost of a plan line by line: what each measurement and each round takes of the budget.

// Costs are the costs of a plan line by line, in ε for a charge in ε, else in ρ and δ. All but the last are what is
// run; the last is what they leave of the charge, as parameters are rounded towards more noise. Account and Also are
// each charged Total.
type Costs struct {
	Lines   []CostLine  `json:"lines"`             // the last is what the others leave of the total
	Total   budget.Cost `json:"total"`             // the sum of the lines
	Account string      `json:"account,omitempty"` // that the plan names
	Also    []string    `json:"also,omitempty"`    // further accounts that it names
	// Charged is what each account is charged, where that is not Total: of a secret sample of the units, what all units
	// lose.
	Charged *budget.Cost `json:"charged,omitempty"`
}

// leftOver is what no line uses.
const leftOver = "left by rounding towards more noise"

// CostsOf lists what each line of the plan costs.
//
// Contract: the costs of all lines add up to Total, exactly, and none is negative.
func CostsOf(p *plan.Plan) (Costs, error) {
	c := Costs{Total: p.Spent(), Account: p.Guarantee.Account, Also: p.Guarantee.Also}
	if !p.Cost.Equal(c.Total) {
		c.Charged = &p.Cost
	}
	for _, m := range p.Measurements {
		c.run(m.ID, m.Leaf, m.Mechanism)
		if steps := m.Selection.Steps(); len(steps) > 0 {
			c.run(m.ID+selecting[m.Selection.Kind()].line, m.Leaf, steps...)
		}
		c.Lines = append(c.Lines, selecting[m.Selection.Kind()].delta(m)...)
	}
	for _, s := range p.Synthetic {
		if s.Adaptive() {
			c.run("rounds of microdata of "+s.Table, s.Leaf, s.Block)
		}
	}
	left := c.Total
	for _, line := range c.Lines {
		var err error
		if left, err = left.Sub(line.Cost); err != nil {
			return c, fmt.Errorf("the lines of the plan cost more than it is charged: %w", err)
		}
	}
	c.Lines = append(c.Lines, CostLine{Of: leftOver, Cost: left})
	return c, nil
}

// run adds a line for runs of one mechanism.
func (c *Costs) run(of, leaf string, runs ...budget.Mechanism) {
	m, times := runs[0], int64(len(runs))
	each := budget.Cost{Rho: m.Rho()}
	if c.Total.Epsilon != nil {
		epsilon, err := m.Epsilon()
		if err != nil {
			panic("plan: a charge in epsilon has pure mechanisms alone: " + err.Error())
		}
		each = budget.Cost{Epsilon: epsilon}
	}
	c.Lines = append(c.Lines, CostLine{Of: of, Leaf: leaf, Mechanism: m.Kind, Times: times, Each: each,
		Cost: multiple(each, times)})
}

// together makes one line of all lines of one leaf that cost the same for the same: their runs are added up.
func (c Costs) together() []CostLine {
	var out []CostLine
	more := map[int]int{} // lines that one stands for beside its own
	for _, line := range c.Lines {
		at := slices.IndexFunc(out, line.sameLine)
		if at < 0 {
			out = append(out, line)
			continue
		}
		out[at].Times += line.Times
		out[at].Cost = multiple(out[at].Each, out[at].Times)
		more[at]++
	}
	for at, n := range more {
		out[at].Of += fmt.Sprintf(" and %d more", n)
	}
	return out
}

// PageLines is after how many lines of costs a page that is signed sums up the rest.
const PageLines = 24

// WriteCosts writes what the lines of the plan cost, so that they can be added up by hand: of more than most lines the
// first, and the sum of the others. Lines of one leaf that cost the same for the same are one.
func WriteCosts(p *plan.Plan, w io.Writer, most int) error {
	c, err := CostsOf(p)
	if err != nil {
		return err
	}
	lines := c.together()
	if last := len(lines) - 1; last > most {
		rest := CostLine{Of: fmt.Sprintf("%d more lines, which `dprelease loss PLAN` lists", last-most)}
		for _, line := range lines[most:last] {
			if rest.Cost, err = rest.Cost.Add(line.Cost); err != nil {
				return err
			}
		}
		lines = append(lines[:most:most], rest, lines[last])
	}
	_, err = io.WriteString(w, c.text(lines))
	return err
}

// text is some lines, of which the last is what the others leave of the total, with their sum.
func (c Costs) text(lines []CostLine) string {
	together := c.inDecimals(lines)
	b := &strings.Builder{}
	b.WriteString("\nCost by line\n")
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  line\tleaf\tmechanism\ttimes\teach, exact\ttogether")
	for i, line := range lines {
		if line.Times == 0 {
			fmt.Fprintf(t, "  %s\t\t\t\t\t%s\n", line.Of, amountsText(together[i]))
			continue
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\t%d\t%s\t%s\n", line.Of, leafText(line.Leaf), cmp.Or(string(line.Mechanism), "–"),
			line.Times, amountsText(line.Each), amountsText(together[i]))
	}
	fmt.Fprintf(t, "  total\t\t\t\t\t%s\n", amountsText(c.Total))
	t.Flush()
	b.WriteString("  " + c.charged() + "\n")
	return b.String()
}

// Decimals to which costs are rounded up on a page.
const (
	lossDecimals  = 12 // of ε and ρ
	deltaDecimals = 24
)

// inDecimals are the costs of lines, rounded up to decimals that a pocket calculator takes, and as the last what these
// leave of the total, so that all add up to it exactly. Where the total has no room for rounding they are as they are.
func (c Costs) inDecimals(lines []CostLine) []budget.Cost {
	out, left := make([]budget.Cost, len(lines)), c.Total
	for i, line := range lines[:len(lines)-1] {
		out[i] = budget.Cost{Epsilon: roundedUp(line.Cost.Epsilon, lossDecimals), Rho: roundedUp(line.Cost.Rho, lossDecimals),
			Delta: roundedUp(line.Cost.Delta, deltaDecimals)}
		var err error
		if left, err = left.Sub(out[i]); err != nil {
			for i := range out {
				out[i] = lines[i].Cost
			}
			return out
		}
	}
	out[len(out)-1] = left
	return out
}

// roundedUp is the least number of so many decimals that is not less; nil for nil.
func roundedUp(r *big.Rat, decimals int64) *big.Rat {
	if r == nil {
		return nil
	}
	grid := new(big.Int).Exp(big.NewInt(10), big.NewInt(decimals), nil)
	n := new(big.Int).Mul(r.Num(), grid)
	n.Add(n, new(big.Int).Sub(r.Denom(), big.NewInt(1))).Quo(n, r.Denom())
	return new(big.Rat).SetFrac(n, grid)
}

// amountsText is a cost that loses no digit: in decimals where few say it, else as fractions. A δ of zero is left out,
// and a ρ of zero beside a δ.
func amountsText(c budget.Cost) string {
	var parts []string
	add := func(letter string, r *big.Rat) {
		text := r.FloatString(deltaDecimals)
		if again, ok := new(big.Rat).SetString(text); !ok || again.Cmp(r) != 0 {
			text = r.RatString()
		} else {
			text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
		}
		parts = append(parts, letter+" "+text)
	}
	delta := c.Delta != nil && c.Delta.Sign() > 0
	switch {
	case c.Epsilon != nil:
		add("ε", c.Epsilon)
	case c.Rho != nil && (c.Rho.Sign() > 0 || !delta):
		add("ρ", c.Rho)
	}
	if delta {
		add("δ", c.Delta)
	}
	return strings.Join(parts, ", ")
}

// charged says what becomes of the total.
func (c Costs) charged() string {
	account := "the account that it is measured on"
	if c.Account != "" {
		account = "account " + c.Account
	}
	if len(c.Also) > 0 {
		account = fmt.Sprintf("each of the accounts %s and %s", c.Account, strings.Join(c.Also, ", "))
	}
	if c.Charged != nil {
		return fmt.Sprintf("That is for the units that are drawn. Charged to %s is what all units lose: %s.", account,
			amountsText(*c.Charged))
	}
	return fmt.Sprintf("Charged to %s: the total, in full.", account)
}
