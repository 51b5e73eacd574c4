package main

import (
	"slices"
	"testing"

	"github.com/dprelease/dprelease/docs"
)

// A message points to the terms that it uses. It does not point to keys within a path, a line of the spec, a list of
// names or a command, or to everyday words.
func TestMessagesPointToTheGlossary(t *testing.T) {
	for message, want := range map[string][]string{
		`marginals.status.budget: no leaf "headlin" in the budget`: {"leaf"},
		"the code books and the levels of a cell":                  {"code book", "level"},
		"epsilon is 0": {"epsilon"},
		"the sensitivity, the invariants, the ledger and the seal": {"sensitivity", "invariant", "ledger"},
		"a leaf.":                    {"leaf"},
		"the file leaf.csv is empty": nil,
		"nothing to explain":         nil,
		"r.yaml:5:1: x: is empty\n    5 | marginals: {x: []}\n      |            ^\n  expected: a level": {"level"},
		"unknown key\n  expected: one of tables, holders, marginals":                                     nil,
		"create it with `dprelease ledger init` or dprelease ledger grant, as its policy says":           {"policy"},
	} {
		if got := termsIn(message); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", message, got, want)
		}
	}
}

// A term is found by its plural, by its first words, and by what people say in its place.
func TestTermsAreFoundByCloseForms(t *testing.T) {
	for word, want := range map[string]string{"residuals": "Residual", "held out": "Held-out rows",
		"held-out": "Held-out rows", "privacy budget": "Budget", "clamp": "Clamping", "categories": "Category",
		"Standard errors": "Standard error", "ρ": "Rho"} {
		if got, err := termCalled(docs.Terms(), word); err != nil || got.Name != want {
			t.Errorf("%q: %q, %v", word, got.Name, err)
		}
	}
	for _, word := range []string{"nothing", "residue", ""} {
		if got, err := termCalled(docs.Terms(), word); err == nil {
			t.Errorf("%q is %q", word, got.Name)
		}
	}
}
