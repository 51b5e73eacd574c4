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
	counters, random, left := newCounters(q, t), client.NewBytes(nil), respondents
	for i := range c.Questions {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := respondents
		if c.Asks == client.One && i < len(c.Questions)-1 {
			n = share(respondents, c.Questions[i].Chance)
			left -= n
		} else if c.Asks == client.One {
			n = left
		}
		t.reports[i].Kept = max(1, n)
		if err := answerUniformly(&c.Questions[i], t.reports[i].Kept, counters[i], random); err != nil {
			return nil, err
		}
	}
	return t.answers(p), nil
}

// share returns the part of the respondents that draw a question.
func share(respondents, chance int64) int64 {
	x := new(big.Int).Mul(big.NewInt(respondents), big.NewInt(chance))
	return x.Rsh(x, 48).Int64()
}

// answerUniformly counts n reports of answers that are drawn uniformly, column by column.
func answerUniformly(q *client.Question, n int64, into counter, random *client.Bytes) error {
	var report []byte
	for range n {
		answer := int64(0)
		for _, c := range q.Columns {
			drawn, err := rand.Int(rand.Reader, big.NewInt(int64(len(c.Categories))))
			if err != nil {
				return err
			}
			answer = answer*c.Answers() + drawn.Int64()/max(1, c.Width)
		}
		var err error
		if report, err = q.Randomise(report[:0], answer, random); err != nil {
			return err
		}
		into.count(string(report))
	}
	into.flush()
	return nil
}
