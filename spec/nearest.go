package spec

// This file holds the nearest name: what a person who mistyped probably meant.

import "strings"

// Nearest returns the candidate that is fewest edits from word, "" where none is near enough
// to be meant: at most a third of word's characters (rounded down), or one in a word of up to
// five. An edit inserts, deletes or substitutes a character, swaps two neighbours, or writes
// the word in other capitals. Of equals the first wins.
func Nearest(word string, candidates []string) string {
	best, bestEdits := "", 1+max(1, len([]rune(word))/3)
	for _, c := range candidates {
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

// edits is the number of insertions, deletions, substitutions and swaps of neighbours between
// two texts (optimal string alignment), or limit if it is at least that.
func edits(a, b string, limit int) int {
	s, t := []rune(a), []rune(b)
	if len(s)-len(t) >= limit || len(t)-len(s) >= limit {
		return limit
	}
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
