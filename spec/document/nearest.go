package document

// This file finds the nearest name: what a person who mistyped probably meant.

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// mostCompared bounds the pairs of characters that are compared for the suggestions of one document, which takes about
// a tenth of a second. Mistyped names after that are reported without a suggestion.
const mostCompared = 50_000_000

// Suggestions finds nearest names for one document. Its zero value is ready to use.
type Suggestions struct{ compared int }

// Nearest returns the candidate that is the fewest edits from word, or "" if none is near enough to be meant: at most a
// third of word's characters (rounded down), or one in a word of up to five. An edit inserts, deletes or substitutes a
// character, swaps two neighbours, or writes the word in other capitals. The first of several equally near candidates
// wins. Very long words and lists are not searched.
func Nearest(word string, candidates []string) string {
	return new(Suggestions).Nearest(word, candidates)
}

// Nearest is the function [Nearest] within the document's bound on comparisons.
func (s *Suggestions) Nearest(word string, candidates []string) string {
	return s.NearestOf(word, len(candidates), func(i int) string { return candidates[i] })
}

// NearestOf returns the nearest of n candidates.
func (s *Suggestions) NearestOf(word string, n int, candidate func(int) string) string {
	characters := utf8.RuneCountInString(word)
	best, bestEdits := "", 1+max(1, characters/3)
	for i := range n {
		c := candidate(i)
		s.compared += 1 + characters // also for candidates that are skipped by their length
		if other := utf8.RuneCountInString(c); max(other-characters, characters-other) < bestEdits {
			s.compared += characters * other
		}
		if s.compared > mostCompared {
			return ""
		}
		n := editDistance(word, c, bestEdits)
		if strings.EqualFold(word, c) {
			n = min(n, 1)
		}
		if n < bestEdits {
			best, bestEdits = c, n
		}
	}
	return best
}

// mostNamed bounds the number of valid names that a message lists.
const mostNamed = 60

// OneOf lists valid names; of a long list, the first ones.
func OneOf(names []string) string {
	if len(names) <= mostNamed {
		return "one of " + joinNames(names)
	}
	return fmt.Sprintf("one of %s and %d more", joinNames(names[:mostNamed]), len(names)-mostNamed)
}

// joinNames lists names, those with a comma in quotes.
func joinNames(names []string) string {
	var b strings.Builder
	for i, name := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quoteListed(name))
	}
	return b.String()
}

// quoteListed returns a name as a list separated by commas shows it, and as YAML reads it: in quotes if it has a comma.
func quoteListed(name string) string {
	if strings.Contains(name, ",") {
		return strconv.Quote(name)
	}
	return name
}

// FirstOf lists the first names, at most so many, with "…" for any others.
func FirstOf(names []string, most int) string {
	if len(names) > most {
		names = append(slices.Clone(names[:most]), "…")
	}
	return joinNames(names)
}

// editDistance returns the number of insertions, deletions, substitutions and swaps of neighbours between two texts
// (optimal string alignment), or limit if it is at least that.
func editDistance(a, b string, limit int) int {
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
