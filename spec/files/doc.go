// Package files opens the public files that a spec names: code books, maps, public tables and figures.
//
// It owns which files are public: those in the folder of the spec, and in folders that are named as such, whatever
// links lead to them; never a source of confidential rows, a file of a state directory, a hidden file or one with a
// private key. What a file holds is published with the plan, so that it is refused before a byte of it is used. It owns
// how a public table is read as rows of texts, what of it becomes part of the plan, and the digests that say which
// bytes that was.
//
// It never opens a confidential file, and knows nothing of what columns and codes mean.
package files
