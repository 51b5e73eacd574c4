package maker

import (
	"errors"
	"math"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/spec/language"
	"github.com/dprelease/dprelease/synth"
)

// This file describes how answers were collected, if respondents' devices randomised them.

// lopsided is how many standard deviations the number of reports to a question may be off; more of them are a sign that
// reports were lost, or added, for a reason.
const lopsided = 6

// isLopsided reports whether there are too many or too few reports for the chance with which devices send them.
func isLopsided(kept, respondents int64, share float64) bool {
	n := float64(respondents)
	off := math.Abs(float64(kept) - float64(n*share))
	return off > lopsided*math.Sqrt(float64(n*float64(share*(1-share)))) && off > 0
}

// collectionOf describes a plan's collection, with the reports that came in; nil if there is none.
func collectionOf(p *plan.Plan, tables []synth.Table) (*report.Collection, error) {
	if p.Release().Collection == nil {
		return nil, nil
	}
	l := languageOf(p)
	c := &report.Collection{Name: p.Release().Collection.Name, Asks: describe.AsksText(l, p),
		Bands: describe.BandsText(l, p), Texts: describe.TextsText(l, p),
		Shuffled: p.Guarantee.Shuffled, ShuffledText: describe.ShuffledText(l, p)}
	for i, q := range describe.Questions(p) {
		came := tables[i].Reports
		if came == nil {
			return nil, errors.New("a question of the collection has no reports")
		}
		own, other := q.Randomiser().Chances()
		influence := describe.InfluenceOnCount(p, q.Table, q.Reports, float64(tables[i].Respondents)/float64(came.Kept))
		c.Questions = append(c.Questions, report.CollectionQuestion{Table: q.Table.Path, Share: q.Share,
			Categories: q.Categories, Support: q.Support, Own: own.RatString(), Other: other.RatString(),
			Kept: came.Kept, Impossible: came.Impossible, Repeated: came.Repeated, Influence: influence,
			Forms: formsOf(l, q, tables[i].Forms)})
		c.Foreign += came.Foreign
		c.Respondents = tables[i].Respondents
	}
	for _, q := range c.Questions {
		if isLopsided(q.Kept, c.Respondents, q.Share) {
			c.Lopsided = append(c.Lopsided, q.Table)
		}
		for _, f := range q.Forms {
			if isLopsided(f.Kept, c.Respondents, f.Share) {
				c.Lopsided = append(c.Lopsided, f.Name)
			}
		}
	}
	return c, nil
}

// formsOf returns the forms of a question, which have so many reports.
func formsOf(l *language.Language, q describe.Question, reports []int64) (forms []report.CollectionForm) {
	for i, f := range q.Forms() {
		own, other := f.Chances()
		forms = append(forms, report.CollectionForm{Name: f.Name(l, q.Table.Path), Width: f.Width, Length: f.Length,
			Share: f.Share, Categories: f.Categories, Support: f.Support, Own: own.RatString(),
			Other: other.RatString(),
			Kept:  reports[i]})
	}
	return forms
}
