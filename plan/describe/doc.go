// Package describe says in words what a plan holds: the page that a person signs,
// its warnings, its costs and losses, and what changed between two plans.
//
// It states facts of a plan and decides nothing. The report renders the same facts,
// so that what was signed and what is published read alike.
package describe
