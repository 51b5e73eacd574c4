// Package describe says in words what a plan holds.
//
// It owns the page that a person signs, its warnings, the costs and losses of a plan, and what changed between two
// plans. The report renders the same facts, so the signed and the published wording agree.
//
// It states facts of a plan. It never decides anything, and never sees a count.
package describe
