// Package meaning says what every key of a spec does: the words that its JSON Schema has beside the rules of a shape,
// and that docs/reference.md is made of.
//
// It owns what a key does, what holds without it, an example, and the page that says more.
//
// It never decides anything, and never says what is expected at a key: that is for the shapes.
package meaning
