// Package meaning says what every key of a spec does. Its texts accompany the rules of a shape in the JSON Schema, and
// docs/reference.md is generated from them.
//
// It owns what a key does, what applies without it, an example, and the page with more about it.
//
// It never decides anything, and never says which value is expected at a key: the shapes do.
package meaning
