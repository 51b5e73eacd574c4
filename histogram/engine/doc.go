// Package engine reads confidential tables that are in a database: PostgreSQL, or the file of a DuckDB database.
//
// It owns the way from a table of a database to rows that package scan counts: addresses, types, snapshots, and the
// exact answers that are kept because such a table cannot be counted twice ([Kept]). [Tables] is the counter of all
// tables of a release, wherever they are.
//
// [Fetch] reads the columns that a plan needs of every such table, once, and puts the rows on disk, enciphered
// ([source.Spool]); package scan then reads these as it reads files. So bounding, contracts and counts are those of
// files, to the last digit, and a table that changes while it is counted cannot be met. All tables of one server are
// read in one snapshot; so are those of one DuckDB file.
//
// What can go wrong on the way is found before anything is debited: a connection that breaks, a table with row-level
// security, a number of rows other than the server says. None of the errors holds a value, an address or a password.
// What the server says, which may quote values, is only in [source.Error.Diagnostics].
//
// It never writes to a database, and never puts an address or a value into a query. It asks for no order of rows: none
// is needed, as the rows of a unit are chosen by what they hold.
package engine
