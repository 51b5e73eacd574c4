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

// drawnQuestion names the question of a collection that a device answers.
const drawnQuestion = "the one question that each device draws"

// Costs are the costs of a plan line by line, in ε for a charge in ε, else in ρ and δ. All lines but the last are
// runs; the last is what they leave of the charge, as parameters are rounded towards more noise. Account and each of
// Also are charged Total.
type Costs struct {
	Lines           []CostLine  `json:"lines"`             // the last is the rest of Total
	Total           budget.Cost `json:"total"`             // the sum of the lines
	Account         string      `json:"account,omitempty"` // the account that the plan names
	FurtherAccounts []string    `json:"also,omitempty"`    // further accounts that the plan names
	// Charged is what each account is charged, if that is not Total: for a secret sample of the units, what all units
	// lose.
	Charged *budget.Cost `json:"charged,omitempty"`
}

// leftOver names the part of the charge that no line uses.
const leftOver = "left by rounding towards more noise"

// CostsOf returns the cost of each line of the plan.
//
// Contract: the costs of all lines add up to Total, exactly, and none is negative.
func CostsOf(p *plan.Plan) (Costs, error) {
	c := Costs{Total: p.Spent(), Account: p.Guarantee.Account, FurtherAccounts: p.Guarantee.FurtherAccounts}
	if !p.Cost.Equal(c.Total) {
		c.Charged = &p.Cost
	}
	for i, m := range p.Measurements {
		switch {
		case m.IsDrawn() && i > 0:
			continue
		case m.IsDrawn():
			c.addRuns(drawnQuestion, m.Leaf, m.Mechanism)
			continue
		}
		c.addRuns(m.ID, m.Leaf, m.Mechanism)
		if steps := m.Selection.Steps(); len(steps) > 0 {
			c.addRuns(m.ID+selecting[m.Selection.Kind()].line, m.Leaf, steps...)
		}
		c.Lines = append(c.Lines, selecting[m.Selection.Kind()].delta(m)...)
	}
	for _, s := range p.Synthetic {
		if s.Adaptive() {
			c.addRuns("rounds of microdata of "+s.Table, s.Leaf, s.Block)
		}
	}
	for _, m := range p.Models {
		for _, r := range m.Rounds {
			c.addRuns(fmt.Sprintf("rounds of model %s: %s", m.Name, r.Asks), m.Leaf,
				slices.Repeat([]budget.Mechanism{r.Noise}, r.Times)...)
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

// addRuns adds a line for the runs of one mechanism.
func (c *Costs) addRuns(of, leaf string, runs ...budget.Mechanism) {
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
		Cost: timesCost(each, times)})
}

// mergedLines returns the lines with those of one leaf and one cost for the same mechanism merged, their runs added
// up.
func (c Costs) mergedLines() []CostLine {
	var out []CostLine
	more := map[int]int{} // by line, how many others were merged into it
	for _, line := range c.Lines {
		at := slices.IndexFunc(out, line.sameLine)
		if at < 0 {
			out = append(out, line)
			continue
		}
		out[at].Times += line.Times
		out[at].Cost = timesCost(out[at].Each, out[at].Times)
		more[at]++
	}
	for at, n := range more {
		out[at].Of += fmt.Sprintf(" and %d more", n)
	}
	return out
}

// PageLines is the number of cost lines on a signed page; the rest is summed up.
const PageLines = 24

// WriteCosts writes what the lines of the plan cost, so that they can be added up by hand. It writes at most that
// many lines, and the sum of the others. Lines of one leaf with the same cost for the same mechanism are merged.
func WriteCosts(p *plan.Plan, w io.Writer, most int) error {
	c, err := CostsOf(p)
	if err != nil {
		return err
	}
	lines := c.mergedLines()
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

// text returns a table of some lines, of which the last is the rest of the total, with their sum.
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
	b.WriteString("  " + c.chargedText() + "\n")
	return b.String()
}

// Decimals to which costs are rounded up on a page.
const (
	lossDecimals  = 12 // of ε and ρ
	deltaDecimals = 24
)

// inDecimals returns the costs of lines, rounded up to decimals that fit a pocket calculator, with what they leave of
// the total as the last, so that all add up to it exactly. If the total leaves no room for rounding, it returns the
// exact costs.
func (c Costs) inDecimals(lines []CostLine) []budget.Cost {
	out, left := make([]budget.Cost, len(lines)), c.Total
	for i, line := range lines[:len(lines)-1] {
		out[i] = budget.Cost{Epsilon: roundedUp(line.Cost.Epsilon, lossDecimals),
			Rho:   roundedUp(line.Cost.Rho, lossDecimals),
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

// roundedUp returns the least number with that many decimals that is not less than r; nil for nil.
func roundedUp(r *big.Rat, decimals int64) *big.Rat {
	if r == nil {
		return nil
	}
	grid := new(big.Int).Exp(big.NewInt(10), big.NewInt(decimals), nil)
	n := new(big.Int).Mul(r.Num(), grid)
	n.Add(n, new(big.Int).Sub(r.Denom(), big.NewInt(1))).Quo(n, r.Denom())
	return new(big.Rat).SetFrac(n, grid)
}

// amountsText returns a cost without losing a digit: in decimals if a few are exact, else as fractions. It omits a δ
// of zero, and a ρ of zero next to a δ.
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

// chargedText says which accounts are charged the total.
func (c Costs) chargedText() string {
	account := "the account that it is measured on"
	if c.Account != "" {
		account = "account " + c.Account
	}
	if len(c.FurtherAccounts) > 0 {
		account = fmt.Sprintf("each of the accounts %s and %s", c.Account, strings.Join(c.FurtherAccounts, ", "))
	}
	if c.Charged != nil {
		return fmt.Sprintf("That is for the units that are drawn. Charged to %s is what all units lose: %s.", account,
			amountsText(*c.Charged))
	}
	return fmt.Sprintf("Charged to %s: the total, in full.", account)
}
