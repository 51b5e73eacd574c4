package files

import "strings"

// This file holds the formats of files.

// isCompressed reports whether the name of a CSV file shows that it is compressed.
func isCompressed(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, ".gz") || strings.HasSuffix(name, ".zst")
}

// Formats returns the formats of public tables, as a spec writes them.
func Formats() []Format { return []Format{CSV, Parquet, Arrow} }

// formatNames says in messages what a file of each format is.
var formatNames = map[Format]string{
	CSV:     "a CSV file, which may be compressed (.gz, .zst)",
	Parquet: "a Parquet file",
	Arrow:   "an Arrow IPC file",
}

// Format is the format of a table's files, as a spec writes it.
type Format string

// The supported formats.
const (
	Parquet Format = "parquet"
	CSV     Format = "csv"
	Arrow   Format = "arrow"
)
