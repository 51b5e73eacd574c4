package respondent

import (
	"context"
	"crypto/rand"
	"math/big"

	"github.com/dprelease/dprelease/histogram/respondent/client"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
)

// This file makes up respondents, for a rehearsal.

// MadeUp counts the reports of made-up respondents, who draw each answer uniformly from its categories, as [Count]
// counts those of real ones. It reads nothing.
func MadeUp(ctx context.Context, p *plan.Plan, respondents int64) ([]measured.Measured, error) {
	text, err := Collector(p)
	if err != nil {
		return nil, err
	}
	c, err := client.Read(text)
	if err != nil {
		return nil, err
	}
	q := newQuestions(c)
	t := newTally(q)
	counters, random := newCounters(q, t), client.NewBytes(nil)
	out, left := make([]measured.Measured, len(p.Measurements)), respondents
	for i, m := range p.Measurements {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := respondents
		if m.IsDrawn() && i < len(out)-1 {
			n = share(respondents, c.Questions[i].Chance)
			left -= n
		} else if m.IsDrawn() {
			n = left
		}
		n = max(1, n)
		if err := answerUniformly(&c.Questions[i], n, counters[i], random); err != nil {
			return nil, err
		}
		t.reports[i].Kept = n
		out[i] = measured.Measured{Measurement: m, Values: measured.Column(t.supports[i][:m.Cells]),
			Reports: &t.reports[i]}
	}
	return out, nil
}

// share returns the part of the respondents that draw a question.
func share(respondents, chance int64) int64 {
	x := new(big.Int).Mul(big.NewInt(respondents), big.NewInt(chance))
	return x.Rsh(x, 48).Int64()
}

// answerUniformly counts n reports of answers that are drawn uniformly.
func answerUniformly(q *client.Question, n int64, into counter, random *client.Bytes) error {
	var report []byte
	answers := big.NewInt(1)
	for _, c := range q.Columns {
		answers.Mul(answers, big.NewInt(int64(len(c.Categories))))
	}
	for range n {
		answer, err := rand.Int(rand.Reader, answers)
		if err == nil {
			report, err = q.Randomise(report[:0], answer.Int64(), random)
		}
		if err != nil {
			return err
		}
		into.count(string(report))
	}
	into.flush()
	return nil
}
