package respondent

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dprelease/dprelease/budget/local"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
)

// This file holds the law of what is counted of simulated respondents: exact levels of intervals, and draws.

// coverage counts the intervals that cover the truth.
type coverage struct{ all, covering float64 }

// isUnlikely reports whether the share of covering intervals is outside low to high, and rarer than alarms may be for
// any level between them: by Chernoff's bound, P(K/n beyond k/n) ≤ exp(−n·D(k/n ‖ p)).
func (c coverage) isUnlikely(low, high float64) bool {
	share := c.covering / c.all
	p := max(low, min(high, share))
	divergence := 0.0
	if share > 0 {
		divergence += share * math.Log(share/p)
	}
	if share < 1 {
		divergence += (1 - share) * math.Log((1-share)/(1-p))
	}
	return c.all*divergence > -math.Log(rare)
}

// binomial returns the probabilities of 0 to n hits with this chance each.
func binomial(n int, chance float64) []float64 {
	law := []float64{1}
	for range n {
		next := make([]float64, len(law)+1)
		for x, p := range law {
			next[x] += p * (1 - chance)
			next[x+1] += p * chance
		}
		law = next
	}
	return law
}

// level returns the exact probability with which the interval of a question covers the holders: summed over how many
// holders and others answer, each with the chance that the question is drawn, and how many reports of each kind hold
// the category. A question without a report is left out, and the rest is scaled.
func (q simulated) level(t *testing.T, p *plan.Plan, at, respondents int) float64 {
	t.Helper()
	reports, _ := p.Measurements[at].Reports()
	holders := int(q.holders)
	held, others := binomial(holders, q.share), binomial(respondents-holders, q.share)
	covered, all := 0.0, 0.0
	for n := 1; n <= respondents; n++ {
		law := make([]float64, n+1) // of the reports that hold it, and that n answer
		for h, chance := range held {
			if rest := n - h; rest >= 0 && rest < len(others) && chance*others[rest] > 1e-18 {
				of, from := binomial(h, q.p), binomial(rest, q.q)
				for i, a := range of {
					for j, b := range from {
						law[i+j] += chance * others[rest] * a * b
					}
				}
			}
		}
		count := local.Count{Randomiser: reports.Randomiser(), Respondents: int64(respondents), Reports: int64(n)}
		for s, chance := range law {
			if all += chance; chance < 1e-15 {
				continue
			}
			if low, high := count.Interval(int64(s), 0.95); low <= int64(holders) && int64(holders) <= high {
				covered += chance
			}
		}
	}
	return covered / all
}

// drawCounts draws how many respondents answered each question and how many reports hold its first category. It returns
// nil if a question has no report.
func drawCounts(p *plan.Plan, questions []simulated, respondents int) []measured.Measured {
	values, kept := make([][]int64, len(questions)), make([]int64, len(questions))
	for i, m := range p.Measurements {
		values[i] = make([]int64, m.Cells)
	}
	report := func(i, respondent int) {
		kept[i]++
		chance := questions[i].q
		if float64(respondent) < questions[i].holders {
			chance = questions[i].p
		}
		if rand.Float64() < chance {
			values[i][0]++
		}
	}
	for r := range respondents {
		if p.Measurements[0].IsDrawn() {
			x, i := rand.Float64(), 0
			for ; i+1 < len(questions) && x >= questions[i].share; i++ {
				x -= questions[i].share
			}
			report(i, r)
			continue
		}
		for i := range questions {
			report(i, r)
		}
	}
	counted := make([]measured.Measured, len(questions))
	for i, m := range p.Measurements {
		if kept[i] == 0 {
			return nil
		}
		counted[i] = measured.Measured{Measurement: m, Values: measured.Column(values[i]),
			Reports: &measured.Reports{Kept: kept[i]}}
	}
	return counted
}
