package report

import (
	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec/language"
)

// This file holds how the answers of a release were collected, if respondents' devices randomised them.

// Collection is how answers were collected under local differential privacy.
type Collection struct {
	Name        string `json:"name"`
	Asks        string `json:"asks"`            // what each device answers, in words
	Respondents int64  `json:"respondents"`     // whose reports were counted
	Bands       string `json:"bands,omitempty"` // how answers are reported in bands, in words
	Texts       string `json:"texts,omitempty"` // how texts that nobody lists are found, in words
	// Foreign is how many reports were left out because they are of another collector or question.
	Foreign   int64                `json:"foreign"`
	Questions []CollectionQuestion `json:"questions"`
	// Lopsided are the tables whose questions have far more or fewer reports than the chance of being asked gives.
	Lopsided []string `json:"lopsided,omitempty"`
	// Shuffled is what shuffling adds to the promise; absent if reports were not shuffled.
	Shuffled     *plan.Shuffled `json:"shuffled,omitempty"`
	ShuffledText string         `json:"shuffled_text,omitempty"`
}

// CollectionQuestion is a question with its randomiser, whose numbers are exact, and the reports that came in.
type CollectionQuestion struct {
	Table      string  `json:"table"`
	Share      float64 `json:"asked_of"`     // the probability with which a device answers it
	Categories int64   `json:"categories"`   // among which a report chooses
	Support    int64   `json:"in_a_report"`  // categories that a report holds
	Own        string  `json:"p"`            // probability that the report holds the true category
	Other      string  `json:"q"`            // probability that it holds another given one
	Kept       int64   `json:"reports"`      // that were counted
	Impossible int64   `json:"impossible"`   // left out: no device makes them
	Repeated   int64   `json:"repeated"`     // left out: sent before
	Influence  float64 `json:"false_report"` // how far one report, whatever it says, can move a count
	// Forms are the forms of a question of which devices drew one: in bands, or by first characters of texts. The
	// randomiser of single categories, and of texts, is the question's.
	Forms []CollectionForm `json:"forms,omitempty"`
}

// CollectionForm is a form of a question, with its randomiser and the reports that came in: by its categories, with the
// width 1, by bands of so many neighbouring ones, or by so many first characters of a text or whole texts, without a
// width.
type CollectionForm struct {
	Name       string  `json:"name"` // for people
	Width      int64   `json:"width,omitempty"`
	Length     int64   `json:"length,omitempty"`
	Share      float64 `json:"asked_of"`
	Categories int64   `json:"categories"`
	Support    int64   `json:"in_a_report"`
	Own        string  `json:"p"`
	Other      string  `json:"q"`
	Kept       int64   `json:"reports"`
}

// LeftOut returns how many reports to the question were left out.
func (q CollectionQuestion) LeftOut() int64 { return q.Impossible + q.Repeated }

// InReport says how many of the categories a report holds.
func (q CollectionQuestion) InReport(l *language.Language) string {
	return l.Text("%s of %s", budget.Group(q.Support), budget.Group(q.Categories))
}

// InReport says how many of the bands a report holds.
func (f CollectionForm) InReport(l *language.Language) string {
	return l.Text("%s of %s", budget.Group(f.Support), budget.Group(f.Categories))
}

// LeftOut returns how many reports were left out.
func (c *Collection) LeftOut() int64 {
	n := c.Foreign
	for _, q := range c.Questions {
		n += q.LeftOut()
	}
	return n
}

// MostInfluence returns how far one report can move a count, of the question where that is the most.
func (c *Collection) MostInfluence() (most float64) {
	for _, q := range c.Questions {
		most = max(most, q.Influence)
	}
	return most
}
