package describe

import (
	"slices"

	"github.com/dprelease/dprelease/spec/domain"
)

// This file holds the fact: one statement about a plan.

// Topic is what a fact of a plan is about.
type Topic string

// The topics, in the order in which a difference is told.
const (
	OnRelease   Topic = "release"
	OnGuarantee Topic = "guarantee"
	OnCost      Topic = "cost"
	OnBudget    Topic = "budget"
	OnTable     Topic = "table"
	OnStrategy  Topic = "strategy"
	OnMicrodata Topic = "microdata"
	OnSource    Topic = "source"
	OnColumn    Topic = "column"
	OnParameter Topic = "parameter"
	OnCodebook  Topic = "code book"
	OnWarning   Topic = "warning"
	OnSpec      Topic = "spec"
)

// topics are all topics with the heading of each.
var topics = []struct {
	topic   Topic
	heading string
}{
	{OnRelease, "Release"}, {OnGuarantee, "Guarantee"}, {OnCost, "Cost"}, {OnBudget, "Budget"}, {OnTable, "Tables"},
	{OnStrategy, "How the tables are measured"}, {OnMicrodata, "Microdata"}, {OnSource, "Sources"},
	{OnColumn, "Columns"}, {OnParameter, "Parameters"}, {OnCodebook, "Code books"}, {OnWarning, "Before you sign"},
	{OnSpec, "Text of the spec"},
}

// fact is one statement about a plan. What is "" for the one that says that its
// subject is there.
type fact struct {
	topic         Topic
	subject, what string
	value         string
	exact         string        // what is compared, where value is rounded
	summary       bool          // value sums up what other facts say
	level         *domain.Level // of a fact about categories
	error         float64       // of a fact about a standard error
}

// key is what is compared between two plans.
func (f fact) key() [3]string { return [3]string{string(f.topic), f.subject, f.what} }

// same tells that two facts of one key say the same, or that others tell what is
// not.
func (f fact) same(g fact) bool {
	if f.level != nil && g.level != nil {
		return slices.Equal(f.level.Categories, g.level.Categories) && slices.Equal(f.level.Of, g.level.Of)
	}
	return f.summary || f.value == g.value && f.exact == g.exact
}

// factBook collects facts.
type factBook struct{ facts []fact }

func (b *factBook) add(f fact) { b.facts = append(b.facts, f) }

// say adds a fact unless it says nothing.
func (b *factBook) say(topic Topic, subject, what, value string) {
	if value != "" {
		b.add(fact{topic: topic, subject: subject, what: what, value: value})
	}
}

// sum adds the fact that a subject is there, with what others say of it in short.
func (b *factBook) sum(topic Topic, subject, value string) {
	b.add(fact{topic: topic, subject: subject, value: value, summary: true})
}
