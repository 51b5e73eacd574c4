package files

import "strings"

// This file holds the formats of files.

// isCompressed tells that a CSV file is packed, by its name.
func isCompressed(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, ".gz") || strings.HasSuffix(name, ".zst")
}

// Formats are the formats of public tables, as a spec writes them.
func Formats() []Format { return []Format{CSV, Parquet, Arrow} }

// says are what a file of each format is called.
var says = map[Format]string{
	CSV:     "a CSV file, which may be compressed (.gz, .zst)",
	Parquet: "a Parquet file",
	Arrow:   "an Arrow IPC file",
}

// Format is the format of a table's files, as a spec writes it.
type Format string

// The formats that are read.
const (
	Parquet Format = "parquet"
	CSV     Format = "csv"
	Arrow   Format = "arrow"
)
