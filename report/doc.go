// Package report describes as data how good a release is and what it promises: one value, [Report], whose JSON form is
// report.json.
//
// It owns the fields of report.json and their schema, the entry of a release in a public registry, and the facts that
// follow from a report alone. Package maker makes a report, with the sentences of package notes; package page shows it.
//
// It never sees a confidential byte. A report depends on no clock, host, folder or random number, so equal reports give
// equal bytes on every machine.
//
// Use [Read] to load a report.json that somebody else made.
package report
