// Package document reads a text of YAML strictly, and says what is wrong with it so that a person can mend it.
//
// It owns the one front end of everything that people write in YAML: specs and the policies of accounts.
// [Findings.Read] makes a tree of nodes, each with its position and the path of keys that leads to it, and refuses
// what a reader could overlook: duplicate keys, aliases, merge keys, tags, a second document. Whoever reads on adds
// to the same Findings: a [Problem] has file, line and column, the path of its key, what is wrong, what is expected,
// the nearest valid name and a fix to paste. One mistake is reported once: what stands in or around a value with a
// problem is not sound, and readers leave it out.
//
// It never opens a file. It knows no language: which keys there are and what they mean is said by those that use it.
package document
