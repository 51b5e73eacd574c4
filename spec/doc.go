// Package spec reads a release spec: YAML in, one validated, immutable Release out.
//
// It owns the language: the grammar as data, which checks documents strictly and from which the JSON Schema is
// generated; the content of a release, as plain types, and the readers of its parts; and the wording of errors. Parts
// of the language that this version does not build are checked for their shape and refused by name. Packages below it
// read YAML with positions (document), describe shapes (shape), explain keys (meaning), describe and encode the values
// of a column (domain), evaluate expressions (expression), and read the files that are public (files).
//
// It never reads a confidential file: domains come only from the spec and from public code books. It never rounds a
// number of a spec: numbers are exact rationals read from their text. It never guesses: text that it cannot read is a
// Problem with a position and, where there is one, a fix.
//
// Use Load for a file with its code books next to it, and Parse for a Source in memory, such as the one in a plan. Both
// report every problem of a document, in document order, as *Errors.
package spec
