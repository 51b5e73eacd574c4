package selection

import (
	"errors"
	"math"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec/domain"
)

// MostFollowed bounds how many prefixes a search for texts can follow after each question.
const MostFollowed = 10_000

// Texts gives out the texts that are found from reports of their first characters, if nobody lists them: those whose
// prefixes more reports hold than chance explains, question by question. Which texts are found does not depend on the
// reports that they are counted by.
type Texts struct {
	Column   string `json:"column"`
	Alphabet string `json:"alphabet"` // the characters that prefixes are extended by
	Followed int64  `json:"followed"` // prefixes at most, after each question
}

// Kind returns [KindTexts].
func (Texts) Kind() Kind { return KindTexts }

// Check returns an error unless there are characters to extend prefixes by, each once, and prefixes to follow.
func (f Texts) Check() error {
	if !domain.IsAlphabet(f.Alphabet) || f.Followed < 1 || f.Followed > MostFollowed {
		return errors.New("there is no such search for texts")
	}
	return nil
}

// Steps returns nil: the reports were randomised before.
func (Texts) Steps() []budget.Mechanism { return nil }

// Tried returns how many texts are tried after each question for first characters, at most: all up to the first length,
// and all extensions of those that are followed up to the next one.
func (f Texts) Tried(lengths []int64) []float64 {
	tried, from, asked := make([]float64, len(lengths)), 1.0, int64(0)
	letters := float64(len([]rune(f.Alphabet)))
	for i, length := range lengths {
		tried[i] = from
		for more := from; asked < length; asked++ {
			more = float64(more * letters)
			tried[i] += more
		}
		from = float64(f.Followed)
	}
	return tried
}

// FalsePositiveRate returns the probability with which a text that nobody has passes a question after which so many are
// tried: on average one passes the last question, and at most a quarter of those that can be followed any other.
func (f Texts) FalsePositiveRate(tried float64, last bool) float64 {
	if last {
		return 1 / tried
	}
	return math.Max(1, float64(f.Followed)/4) / tried
}

// Crowded returns a number of respondents: if each text has so many, at most three quarters of those that can be
// followed do, and false positives have room too. It is 0 if all texts that are tried can be followed.
func (f Texts) Crowded(respondents int64, lengths []int64) int64 {
	if slices.Max(f.Tried(lengths)) <= float64(f.Followed) {
		return 0
	}
	return int64(math.Ceil(4 * float64(respondents) / (3 * float64(f.Followed))))
}

// TextsFacts describes the texts of a table.
type TextsFacts struct {
	Column    string `json:"column"`
	Alphabet  string `json:"alphabet"`
	MaxLength int64  `json:"max_length"`
	Most      int64  `json:"most,omitempty"` // texts that the table may have
	// DetectionLimit is the least number of all Respondents with a text for it to be found with a probability of 0.95.
	DetectionLimit int64 `json:"detection_limit,omitempty"`
	Respondents    int64 `json:"respondents,omitempty"`
}

// MatchesRequest reports whether the texts agree with others in what is known before there is a plan.
func (d TextsFacts) MatchesRequest(asked TextsFacts) bool {
	return d.Column == asked.Column && d.Alphabet == asked.Alphabet && d.MaxLength == asked.MaxLength
}
