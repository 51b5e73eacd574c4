// Package source reads the rows of a confidential table from files: Parquet,
// CSV (plain, gzip or zstd) and Arrow IPC (file or stream).
//
// It owns the way from a path or glob to codes: which files there are, in which
// order they are read, whether each has the wanted columns, and the conversion
// of every physical type to one of eight Arrow types (String, LargeString for
// UUIDs, Int64, Float64, Decimal128, Date32, Timestamp(us), Boolean, each with
// nulls), to which a [Coder] assigns codes. A dictionary is coded once for each
// column chunk, and its rows by their indexes alone. The name of a folder may
// give the value of a column that a file lacks (year=2024/part.parquet).
//
// A [Reader] returns [Piece] after piece, and as many goroutines as there are
// cores read pieces in parallel, each into [Buffers] of its own. Equal files
// give equal pieces in an equal order on every machine.
//
// It never interprets a value: domains, policies and units belong to package
// histogram. It never writes. None of its errors holds a value, a row number
// or a count of rows: [Error.Error] names files, columns and row groups, and
// [Error.Diagnostics], which is for a file that only the operator can read,
// adds where the format of a file is broken.
//
// The one file of a public table is read in the same way ([Unpack]).
//
// A damaged file is refused. The checks of this package (lengths that must
// agree, end markers, checksums if the format has them) find a file that was cut
// short or a count that was changed. No reader can find a changed value in a
// format without checksums.
package source
