package describe

import (
	"slices"

	"github.com/dprelease/dprelease/spec/domain"
)

// This file holds the fact: one statement about a plan.

// Topic is what a fact of a plan is about.
type Topic string

// The topics, in the order in which a difference lists them.
const (
	OnRelease   Topic = "release"
	OnGuarantee Topic = "guarantee"
	OnCost      Topic = "cost"
	OnBudget    Topic = "budget"
	OnTable     Topic = "table"
	OnStrategy  Topic = "strategy"
	OnMicrodata Topic = "microdata"
	OnModel     Topic = "model"
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
	{OnStrategy, "How the tables are measured"}, {OnMicrodata, "Microdata"}, {OnModel, "Models"}, {OnSource, "Sources"},
	{OnColumn, "Columns"}, {OnParameter, "Parameters"}, {OnCodebook, "Code books"}, {OnWarning, "Before you sign"},
	{OnSpec, "Text of the spec"},
}

// planFact is one statement about a plan. what is "" for the fact that its subject exists.
type planFact struct {
	topic         Topic
	subject, what string
	value         string
	exact         string        // compared instead of value, if value is rounded
	summary       bool          // value summarises other facts
	level         *domain.Level // of a fact about categories
	error         float64       // of a fact about a standard error
}

// key identifies the fact when two plans are compared.
func (f planFact) key() [3]string { return [3]string{string(f.topic), f.subject, f.what} }

// matches reports whether two facts with one key say the same, or are summaries of facts that are compared themselves.
func (f planFact) matches(g planFact) bool {
	if f.level != nil && g.level != nil {
		return slices.Equal(f.level.Categories, g.level.Categories) &&
			slices.Equal(f.level.CategoryOf, g.level.CategoryOf)
	}
	return f.summary || f.value == g.value && f.exact == g.exact
}

// factBook collects facts.
type factBook struct{ facts []planFact }

func (b *factBook) add(f planFact) { b.facts = append(b.facts, f) }

// say adds a fact unless its value is empty.
func (b *factBook) say(topic Topic, subject, what, value string) {
	if value != "" {
		b.add(planFact{topic: topic, subject: subject, what: what, value: value})
	}
}

// addSummary adds the fact that a subject exists, with a summary of its other facts.
func (b *factBook) addSummary(topic Topic, subject, value string) {
	b.add(planFact{topic: topic, subject: subject, value: value, summary: true})
}
