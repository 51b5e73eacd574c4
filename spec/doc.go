// Package spec reads a release spec: YAML in, one validated, immutable Release out.
//
// It owns the language: the grammar as data, which checks documents strictly and from which the JSON Schema is
// generated; what a release is, as plain types, and how each of its parts is read; and the wording of errors. Parts of the
// language that this version does not build are checked for their shape and refused by name. Packages below it own the
// reading of YAML with the places of what is wrong (document), shapes (shape), what keys mean (meaning), what the values
// of a column can be and how they are encoded (domain), expressions (expression), and which files are public and how
// they are read (files).
//
// It never reads a confidential file: domains come from the spec and from public code books
// alone. It never rounds what a spec says: numbers are exact rationals read from their text. It never guesses: what it
// cannot read is a Problem with a place and, where there is one, a fix.
//
// Use Load for a file with its code books beside it and Parse for a Source kept in memory, as
// a plan does. Both report every problem of a document, in document order, as *Errors.
package spec
