// Package draft writes a first spec for a data file, for a person to finish: from the names and types of its columns
// and from documents with code lists. No value of the file reaches it.
package draft
