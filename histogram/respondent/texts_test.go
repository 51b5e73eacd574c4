package respondent

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget/local"
	"github.com/dprelease/dprelease/histogram/respondent/client"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/selection"
)

// TestExtendedTexts compares the extensions of prefixes with a list: of those that were asked for in full,
// by one and two characters; those that are shorter stay as they are.
func TestExtendedTexts(t *testing.T) {
	got := extended([]string{"a", "ab", "ba"}, 2, 4, []rune("aé"))
	want := []string{"a", "ab", "ba", "aba", "abé", "baa", "baé",
		"abaa", "abaé", "abéa", "abéé", "baaa", "baaé", "baéa", "baéé"}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if all := extended([]string{""}, 0, 3, []rune("xyz")); len(all) != 1+3+9+27 {
		t.Errorf("%d texts of at most 3 characters, want 40", len(all))
	}
}

// search is a question for texts, with the chances of its reports.
type search struct {
	questions []textReports
	p, q      float64
}

// newSearch returns a search with questions for texts of these lengths, of which the first is for whole ones.
func newSearch(t *testing.T, epsilon int64, lengths ...int64) *search {
	t.Helper()
	r, err := counted.NewReports(big.NewRat(epsilon, 1), local.TextCategories)
	if err != nil || r.Categories != client.TextCategories {
		t.Fatalf("%d categories: %v", r.Categories, err)
	}
	s := &search{}
	for i, length := range lengths {
		s.questions = append(s.questions, textReports{question: &client.Question{Name: string(rune('a' + i)),
			Columns: []client.Column{{Name: "word", Length: length}}, Form: client.Permuted, Categories: r.Categories,
			Support: r.Support, Keep: r.Keep}})
	}
	p, q := r.Randomiser().Chances()
	s.p, _ = p.Float64()
	s.q, _ = q.Float64()
	return s
}

// ask has so many respondents with a text answer each question.
func (s *search) ask(t *testing.T, text string, respondents int, random *client.Bytes) {
	t.Helper()
	for i := range s.questions {
		r := &s.questions[i]
		for range respondents {
			report, err := r.question.Randomise(nil, r.question.Category(text), random)
			if err != nil {
				t.Fatal(err)
			}
			r.reports = append(r.reports, binary.BigEndian.Uint64(report))
		}
	}
}

// TestTextsAreFound asks 6000 respondents who have five texts between them, three with the same beginning, and 6000 who
// each have a text of their own. The search must find the five and at most three others, where chance brings one on
// average. The number of reports that hold a text must be within 6.5 standard deviations of its expectation.
func TestTextsAreFound(t *testing.T) {
	s, random := newSearch(t, 4, 6, 2, 4, 6), client.NewBytes(rand.NewChaCha8([32]byte{5}))
	texts := []string{"an", "and", "andere", "zebra", "é"}
	for _, text := range texts {
		s.ask(t, text, 1200, random)
	}
	for i := range 6000 {
		s.ask(t, string([]rune{rune('a' + i%26), rune('a' + i/26%26), rune('a' + i/676), 'q'}), 1, random)
	}
	all, err := findTexts(t.Context(), selection.Texts{Alphabet: "abcdefghijklmnopqrstuvwxyzé", Followed: 50},
		s.questions[0], s.questions[1:])
	if err != nil || len(all) > len(texts)+3 {
		t.Fatalf("%d texts: %v, %v", len(all), all, err)
	}
	n := 12_000.
	for _, text := range texts {
		at := slices.IndexFunc(all, func(c candidate) bool { return c.text == text })
		if at < 0 {
			t.Errorf("%q is not found", text)
			continue
		}
		want, variance := 1200*s.p+(n-1200)*s.q, 1200*s.p*(1-s.p)+(n-1200)*s.q*(1-s.q)
		if off := math.Abs(float64(all[at].support) - want); off > 6.5*math.Sqrt(variance) {
			t.Errorf("%q is in %d reports, want %.0f", text, all[at].support, want)
		}
	}
	if !slices.IsSortedFunc(all, func(a, b candidate) int { return strings.Compare(a.text, b.text) }) {
		t.Errorf("out of order: %v", all)
	}
}

// TestFrequentTextsBringNoOthers has respondents with 40 texts of four letters, and the search tries half a million. A
// tried text with the hash of one of the 40 would be found too; with only a million hashes 18 would be. At most one
// other may be found, as chance brings one. The seed of the draws is fixed.
func TestFrequentTextsBringNoOthers(t *testing.T) {
	s, random := newSearch(t, 10, 4, 4), client.NewBytes(rand.NewChaCha8([32]byte{6}))
	for i := range 40 {
		s.ask(t, string([]rune{'q', rune('a' + i%26), rune('a' + i/26), 'x'}), 40, random)
	}
	all, err := findTexts(t.Context(), selection.Texts{Alphabet: "abcdefghijklmnopqrstuvwxyz", Followed: 200},
		s.questions[0], s.questions[1:])
	if err != nil || len(all) < 40 || len(all) > 43 {
		t.Errorf("%d texts are found: %v, %v", len(all), all, err)
	}
}
