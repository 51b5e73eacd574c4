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
	texts := madeUpTexts(p)
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
		if err := answerUniformly(&c.Questions[i], texts, t.reports[i].Kept, counters[i], random); err != nil {
			return nil, err
		}
	}
	return t.answers(ctx, p, c)
}

// share returns the part of the respondents that draw a question.
func share(respondents, chance int64) int64 {
	x := new(big.Int).Mul(big.NewInt(respondents), big.NewInt(chance))
	return x.Rsh(x, 48).Int64()
}

// madeUpTexts returns a few texts for each column whose texts nobody lists. Text i has letters of the alphabet from the
// i-th on.
func madeUpTexts(p *plan.Plan) map[string][]string {
	all := map[string][]string{}
	for _, m := range p.Measurements {
		search, ok := m.Texts()
		if !ok {
			continue
		}
		asked, _ := m.Reports()
		letters, texts := []rune(search.Alphabet), make([]string, 12)
		for i := range texts {
			for j := range 1 + (i+3)%int(asked.Length) {
				texts[i] += string(letters[(i+j)%len(letters)])
			}
		}
		all[search.Column] = texts
	}
	return all
}

// answerUniformly counts n reports of answers that are drawn uniformly, column by column, and texts from those of their
// column.
func answerUniformly(q *client.Question, texts map[string][]string, n int64, into counter, random *client.Bytes) error {
	var report []byte
	answers := map[string]string{}
	for range n {
		for _, c := range q.Columns {
			among := c.Categories
			if c.Length > 0 {
				among = texts[c.Name]
			}
			drawn, err := rand.Int(rand.Reader, big.NewInt(int64(len(among))))
			if err != nil {
				return err
			}
			answers[c.Name] = among[drawn.Int64()]
		}
		answer, err := q.Answer(answers)
		if err != nil {
			return err
		}
		if report, err = q.Randomise(report[:0], answer, random); err != nil {
			return err
		}
		into.count(string(report))
	}
	into.flush()
	return nil
}
