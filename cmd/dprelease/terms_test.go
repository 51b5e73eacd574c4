package main

import (
	"slices"
	"testing"
)

// A message points to the terms that it uses, not to keys within a path, and not to everyday words.
func TestMessagesPointToTheGlossary(t *testing.T) {
	for message, want := range map[string][]string{
		`marginals.status.budget: no leaf "headlin" in the budget`: {"leaf"},
		"the code books and the levels of a cell":                  {"code book", "level"},
		"epsilon is 0": {"epsilon"},
		"the sensitivity, the invariants, the ledger and the seal": {"sensitivity", "invariant", "ledger"},
		"a leaf.":                    {"leaf"},
		"the file leaf.csv is empty": nil,
		"nothing to explain":         nil,
	} {
		if got := termsIn(message); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", message, got, want)
		}
	}
}
