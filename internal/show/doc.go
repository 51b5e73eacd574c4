// Package show prints a table of a published release for a terminal, a spreadsheet or a program that does not read
// Parquet. It computes nothing: everything it prints is in the file.
package show
