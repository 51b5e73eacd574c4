// Package show prints a table of a published release as it is, for a terminal, a spreadsheet or a program that reads no
// Parquet. It works nothing out: what it prints is in the file.
package show
