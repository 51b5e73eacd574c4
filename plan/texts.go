package plan

import (
	"github.com/dprelease/dprelease/budget/local"
	"github.com/dprelease/dprelease/plan/selection"
)

// This file holds the tables with texts that nobody lists, which are found from reports.

// Texts returns how the texts of a measurement are found; it reports false if none are.
func (m Measurement) Texts() (selection.Texts, bool) {
	texts, ok := m.Selection.(selection.Texts)
	return texts, ok
}

// MissRate is the probability with which a text is not found though as many respondents have it as the detection limit.
const MissRate = 0.05

// PrefixLaws returns the laws of the questions for first characters, of which so many reports came of all respondents,
// and how many reports must hold a text for it to pass each question. The measurement must be one of texts.
func (m Measurement) PrefixLaws(respondents int64, reports []int64) (laws []local.Count, thresholds []int64) {
	search, _ := m.Texts()
	question, _ := m.Reports()
	tried := search.Tried(question.PrefixLengths())
	for i, n := range reports {
		law := local.Count{Randomiser: question.Randomiser(), Respondents: respondents, Reports: max(1, n)}
		laws = append(laws, law)
		thresholds = append(thresholds, law.Threshold(search.FalsePositiveRate(tried[i], i == len(reports)-1)))
	}
	return laws, thresholds
}

// DetectionLimit returns the least number of all respondents with a text for it to be found with a probability of 0.95,
// by the law of the reports, if so many came to each question for first characters; one more than all if there is none.
// If more texts are tried than can be followed, there must be room for all that are as frequent.
func (m Measurement) DetectionLimit(respondents int64, reports []int64) int64 {
	search, _ := m.Texts()
	question, _ := m.Reports()
	laws, thresholds := m.PrefixLaws(respondents, reports)
	return min(respondents+1, max(local.LeastDetected(laws, thresholds, 1-MissRate),
		search.Crowded(respondents, question.PrefixLengths())))
}

func statesTexts(t Table) bool { return t.Texts != nil }

func givesTexts(t Table, s selection.Selection) bool {
	f := s.(selection.Texts)
	return f.Column == t.Texts.Column && f.Alphabet == t.Texts.Alphabet
}

func textsAsAsked(t, asked Table) bool { return t.Texts.MatchesRequest(*asked.Texts) }
