package main

import (
	"regexp"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/docs"
)

// This file points from a message to the glossary.

// mostTerms is how many words of a message are pointed out.
const mostTerms = 3

// everyday are terms of the glossary that a message can use without explaining them.
var everyday = []string{"Attribute", "Band", "Bound", "Budget", "Category", "Cell", "Certificate", "Cost", "Distance",
	"Entry", "Estimate", "Evaluation", "Export", "Flag", "Hash", "Head", "Interval", "Mechanism", "Model", "Noise",
	"Office", "Parameter", "Plan", "Question", "Registry", "Release", "Role", "Scale", "Signature", "Source", "Spec",
	"Statistic", "Table", "Target", "Weight", "Words"}

// notProse matches the parts of a message in which a term is only a name or something to type: a line of the spec that
// is shown, a list of valid names, a text in backquotes, and a command.
var notProse = regexp.MustCompile("(?m)^ *[0-9]* \\|.*$|^ *expected: one of .*$|`[^`\n]*`|\\bdprelease( [a-z-]+)+")

// termsIn returns the terms of the glossary that a message uses, the first of them in the order of the message.
func termsIn(message string) []string {
	message = notProse.ReplaceAllString(message, "")
	type use struct {
		at   int
		name string
	}
	var uses []use
	for _, t := range docs.Terms() {
		if slices.Contains(everyday, t.Name) {
			continue
		}
		word := regexp.MustCompile(`(?i)(^|[\s("` + "`" + `])` + regexp.QuoteMeta(t.Name) + `s?([\s:;,)"` + "`" +
			`]|\.\s|\.?$)`)
		if found := word.FindStringIndex(message); found != nil {
			uses = append(uses, use{found[0], strings.ToLower(t.Name)})
		}
	}
	slices.SortFunc(uses, func(a, b use) int { return a.at - b.at })
	var names []string
	for _, u := range uses[:min(len(uses), mostTerms)] {
		names = append(names, u.name)
	}
	return names
}

// glossaryLine says how to have the terms of a message explained, "" if it has none.
func glossaryLine(message string) string {
	commands := termsIn(message)
	if commands == nil {
		return ""
	}
	for i, name := range commands {
		commands[i] = "dprelease explain " + name
	}
	return "in other words: " + strings.Join(commands, ", ") + "\n"
}
