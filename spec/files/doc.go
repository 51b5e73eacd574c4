// Package files opens the public files that a spec names: code books, maps, public tables and figures.
//
// It owns which files are public: files in the folder of the spec and in folders that are named as public, whatever
// links lead to them; never a source of confidential rows, a file of a state directory, a hidden file or a file with a
// private key. The content of a file is published with the plan, so a file that is not public is refused before a byte
// of it is used. The package also reads public tables as rows of texts, selects the part of a table that the plan
// contains, and computes the digests that identify the bytes that were read.
//
// It never opens a confidential file, and knows nothing about the meaning of columns and codes.
package files
