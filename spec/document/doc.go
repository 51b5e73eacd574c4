// Package document reads a YAML text strictly, and reports its mistakes so that a person can correct them.
//
// It owns the only front end for everything that people write in YAML: specs and the policies of accounts.
// [Findings.Read] builds a tree of nodes, each with its position and the path of keys that leads to it, and refuses
// what a reader could overlook: duplicate keys, aliases, merge keys, tags, a second document. Later readers add to the
// same Findings: a [Problem] has file, line and column, the path of its key, what is wrong, what is expected, the
// nearest valid name and a fix to paste. Each mistake is reported once: values inside or around a value with a problem
// are not sound, and readers skip them.
//
// It never opens a file, and it knows no language: its users decide which keys there are and what they mean.
package document
