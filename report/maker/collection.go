package maker

import (
	"errors"
	"math"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/synth"
)

// This file describes how answers were collected, if respondents' devices randomised them.

// lopsided is how many standard deviations the number of reports to a question may be off; more of them are a sign that
// reports were lost, or added, for a reason.
const lopsided = 6

// isLopsided reports whether a question has too many or too few reports for the chance with which devices answer it.
func isLopsided(q report.CollectionQuestion, respondents int64) bool {
	n := float64(respondents)
	off := math.Abs(float64(q.Kept) - float64(n*q.Share))
	return off > lopsided*math.Sqrt(float64(n*float64(q.Share*(1-q.Share)))) && off > 0
}

// collectionOf describes a plan's collection, with the reports that came in; nil if there is none.
func collectionOf(p *plan.Plan, tables []synth.Table) (*report.Collection, error) {
	if p.Release().Collection == nil {
		return nil, nil
	}
	l := languageOf(p)
	c := &report.Collection{Name: p.Release().Collection.Name, Asks: describe.AsksText(l, p),
		Shuffled: p.Guarantee.Shuffled, ShuffledText: describe.ShuffledText(l, p)}
	for i, q := range describe.Questions(p) {
		came := tables[i].Reports
		if came == nil {
			return nil, errors.New("a question of the collection has no reports")
		}
		own, other := q.Randomiser().Chances()
		influence := describe.InfluenceOnCount(q.Table, q.Reports, float64(tables[i].Respondents)/float64(came.Kept))
		c.Questions = append(c.Questions, report.CollectionQuestion{Table: q.Table.Path, Share: q.Share,
			Categories: q.Categories, Support: q.Support, Own: own.RatString(), Other: other.RatString(),
			Kept: came.Kept, Impossible: came.Impossible, Repeated: came.Repeated, Influence: influence})
		c.Foreign += came.Foreign
		c.Respondents = tables[i].Respondents
	}
	for i, q := range c.Questions {
		if isLopsided(q, c.Respondents) {
			c.Lopsided = append(c.Lopsided, c.Questions[i].Table)
		}
	}
	return c, nil
}
