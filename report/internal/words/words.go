package words

// This file holds names and kinds within a sentence.

import (
	_ "embed"
	"strings"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/budget"
)

func Times(n int64) string {
	if n == 1 {
		return "once"
	}
	return budget.Group(n) + " times"
}

// Capital begins a sentence.
func Capital(s string) string {
	for i, r := range s {
		return strings.ToUpper(string(r)) + s[i+len(string(r)):]
	}
	return s
}

// List lists names.
func List(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// OneRow puts a text of several lines on one.
func OneRow(s string) string { return strings.Join(strings.Fields(s), " ") }

// Category is the label of a category, its code where it has none.
func Category(c domain.Category) string {
	if c.Label != "" {
		return c.Label
	}
	return c.Code
}

// Noise are the kinds of noise in words.
var Noise = map[budget.Kind]string{budget.DiscreteLaplace: "discrete Laplace",
	budget.DiscreteGaussian: "discrete Gaussian"}

// mostNamed is how many tables a sentence names.
const mostNamed = 5

// Few lists the first few names, and how many more there are.
func Few(names []string) string {
	list := strings.Join(names[:min(len(names), mostNamed)], ", ")
	if more := len(names) - mostNamed; more > 0 {
		list += " and " + budget.Plural(int64(more), "more table")
	}
	return list
}
