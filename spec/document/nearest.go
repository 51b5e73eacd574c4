package document

// This file holds the nearest name: what a person who mistyped probably meant.

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// mostCompared bounds the pairs of characters that are compared for the suggestions of one document: a tenth of a
// second or so. What is mistyped after that is reported without a suggestion.
const mostCompared = 50_000_000

// Suggestions finds nearest names for one document. Its zero value is ready to use.
type Suggestions struct{ compared int }

// Nearest returns the candidate that is fewest edits from word, "" where none is near enough
// to be meant: at most a third of word's characters (rounded down), or one in a word of up to
// five. An edit inserts, deletes or substitutes a character, swaps two neighbours, or writes
// the word in other capitals. Of equals the first wins. In very long words and lists none is looked for.
func Nearest(word string, candidates []string) string {
	return new(Suggestions).Nearest(word, candidates)
}

// Nearest is [Nearest], for as long as not too much was compared.
func (s *Suggestions) Nearest(word string, candidates []string) string {
	return s.NearestOf(word, len(candidates), func(i int) string { return candidates[i] })
}

// NearestOf is the nearest of n candidates.
func (s *Suggestions) NearestOf(word string, n int, candidate func(int) string) string {
	characters := utf8.RuneCountInString(word)
	best, bestEdits := "", 1+max(1, characters/3)
	for i := range n {
		c := candidate(i)
		s.compared += 1 + characters // also for those that are skipped by their length
		if other := utf8.RuneCountInString(c); max(other-characters, characters-other) < bestEdits {
			s.compared += characters * other
		}
		if s.compared > mostCompared {
			return ""
		}
		n := edits(word, c, bestEdits)
		if strings.EqualFold(word, c) {
			n = min(n, 1)
		}
		if n < bestEdits {
			best, bestEdits = c, n
		}
	}
	return best
}

// mostNamed is how many names are listed of those that could stand in a place.
const mostNamed = 60

// OneOf lists what could stand in a place; of many, the first.
func OneOf(names []string) string {
	if len(names) <= mostNamed {
		return "one of " + strings.Join(names, ", ")
	}
	return fmt.Sprintf("one of %s and %d more", strings.Join(names[:mostNamed], ", "), len(names)-mostNamed)
}

// edits is the number of insertions, deletions, substitutions and swaps of neighbours between
// two texts (optimal string alignment), or limit if it is at least that.
func edits(a, b string, limit int) int {
	if n, m := utf8.RuneCountInString(a), utf8.RuneCountInString(b); max(n-m, m-n) >= limit {
		return limit
	}
	s, t := []rune(a), []rune(b)
	before, previous := make([]int, len(t)+1), make([]int, len(t)+1)
	current := make([]int, len(t)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := 1; i <= len(s); i++ {
		current[0] = i
		for j := 1; j <= len(t); j++ {
			cost := 1
			if s[i-1] == t[j-1] {
				cost = 0
			}
			current[j] = min(previous[j]+1, current[j-1]+1, previous[j-1]+cost)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				current[j] = min(current[j], before[j-2]+1)
			}
		}
		before, previous, current = previous, current, before
	}
	return min(previous[len(t)], limit)
}
