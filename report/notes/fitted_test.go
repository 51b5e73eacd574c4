package notes

import (
	"strings"
	"testing"

	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/spec/language"
)

func TestHowFarCountsWereMovedInWords(t *testing.T) {
	f := &report.Fitted{Moved: 1, Mean: 0.7 / 3, Largest: 2}
	if says := movedText(language.English, f, 3); says != "1 of 3 cells moved, on average by +0.23 standard errors, "+
		"at most by 2.0" {
		t.Error(says)
	}
}

// TestMovedAmongOthers checks that the sentence says how many numbers were adjusted to add up if not all were, and uses
// the singular for one.
func TestMovedAmongOthers(t *testing.T) {
	fitted := report.Statistic{Name: "count", Confidence: 0.95, Margin: 3, Fitted: &report.Fitted{Off: 2, MostOff: 7.5}}
	added := report.Table{Path: "a", Cells: 4, Impossible: 2, Statistics: []report.Statistic{fitted}}
	for want, tables := range map[string][]report.Table{
		"Each of the 12 published numbers (2 of them as they were before they were made to add up: count_unbiased) " +
			"is within 3 ": {added,
			{Path: "b", Cells: 10, Statistics: []report.Statistic{{Name: "count", Confidence: 0.95, Margin: 3}}}},
		"Each of the 2 published numbers (as they were before they were made to add up: count_unbiased) is within 3 ": {added},
		"The one published number (as it was before it was made to add up: count_unbiased) is within 3 of the exact count": {{Path: "c",
			Cells: 1, Statistics: []report.Statistic{fitted}}},
		"On average at least 19 in 20 of the 40 published numbers are within 3 ": {{Path: "b",
			Cells: 40, Statistics: []report.Statistic{{Name: "count", Confidence: 0.95, Margin: 3}}}},
	} {
		got := accuracyIn(language.English, tables, false).Sentence
		if moved := strings.Contains(got,
			"was moved from there, by 2 on average and by 8 at most."); !strings.HasPrefix(got,
			want) || moved != (tables[0].Path != "b") {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}
