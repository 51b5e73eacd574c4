// Package draft writes a first spec for a data file, which a person then completes: from the names and types of its
// columns and from documents with code lists. No value of the file reaches the draft.
package draft
