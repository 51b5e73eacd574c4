package respondent

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"

	"github.com/dprelease/dprelease/budget/local"
	"github.com/dprelease/dprelease/histogram/respondent/client"
	"github.com/dprelease/dprelease/internal/parallel"
	"github.com/dprelease/dprelease/plan/selection"
)

// This file finds texts that nobody listed, from reports of their first characters.

// textReports are the reports to a question for a text, or for its first characters.
type textReports struct {
	question *client.Question
	reports  []uint64 // as devices send them: a in the higher half, b in the lower one
}

// length is how many characters are asked for.
func (r textReports) length() int { return int(r.question.Columns[0].Length) }

// candidate is a text, or a prefix of texts, with how many reports hold it.
type candidate struct {
	text    string
	support int64
}

// findTexts returns the texts that are found by their prefixes, in the order of their bytes, each with how many reports
// of whole texts hold it. The questions for prefixes ask for ever more characters.
//
// After each question it keeps the most frequent candidates that more reports hold than chance explains, and extends
// them by every character of the alphabet to the length of the next question. A shorter candidate is complete, and
// stays as it is. So which texts are found does not depend on the reports of whole texts.
// Source: Wang, Li & Jha 2019, Locally differentially private heavy hitter identification.
func findTexts(ctx context.Context, f selection.Texts, whole textReports, prefixes []textReports) ([]candidate, error) {
	texts, asked := []string{""}, 0
	for i, r := range prefixes {
		texts = extended(texts, asked, r.length(), []rune(f.Alphabet))
		tried, err := r.supports(ctx, texts)
		if err != nil {
			return nil, err
		}
		rate := f.FalsePositiveRate(float64(max(1, len(tried))), i == len(prefixes)-1)
		texts, asked = r.aboveThreshold(tried, rate, int(f.Followed)), r.length()
	}
	texts = slices.DeleteFunc(texts, func(text string) bool { return text == "" })
	slices.Sort(texts)
	return whole.supports(ctx, texts)
}

// extended returns texts, of which a length was asked, and their extensions up to another length. Those that are
// shorter are complete.
func extended(texts []string, asked, length int, alphabet []rune) (all []string) {
	last := texts
	for range length - asked {
		var next []string
		for _, text := range last {
			if len([]rune(text)) < asked {
				continue
			}
			for _, r := range alphabet {
				next = append(next, text+string(r))
			}
		}
		all, last = append(all, last...), next
	}
	return append(all, last...)
}

// supports returns how many reports hold each text.
func (r textReports) supports(ctx context.Context, texts []string) ([]candidate, error) {
	all := make([]candidate, len(texts))
	const each = 64
	err := parallel.Do(ctx, runtime.GOMAXPROCS(0), (len(texts)+each-1)/each, func(i int) error {
		for at := i * each; at < min((i+1)*each, len(texts)); at++ {
			all[at] = candidate{texts[at], r.support(uint64(r.question.Category(texts[at])))}
		}
		return ctx.Err()
	})
	return all, err
}

// support returns how many reports hold a category.
func (r textReports) support(v uint64) (n int64) {
	size := uint64(r.question.Support)
	for _, report := range r.reports {
		if (report>>32*v+report&math.MaxUint32)%client.TextCategories < size {
			n++
		}
	}
	return n
}

// aboveThreshold returns the texts that so many reports hold that a text that nobody has would be held by as many with
// at most this probability: the most frequent first, at most so many.
func (r textReports) aboveThreshold(tried []candidate, falsePositives float64, most int) (kept []string) {
	law := local.Count{Randomiser: local.Randomiser{Categories: r.question.Categories, Support: r.question.Support,
		Keep: r.question.Keep}, Respondents: int64(len(r.reports)), Reports: int64(len(r.reports))}
	least := law.Threshold(falsePositives)
	tried = slices.DeleteFunc(tried, func(c candidate) bool { return c.support < least })
	slices.SortFunc(tried, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.support, a.support), cmp.Compare(a.text, b.text))
	})
	for _, c := range tried[:min(most, len(tried))] {
		kept = append(kept, c.text)
	}
	return kept
}
