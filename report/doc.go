// Package report is what is said of how good a release is and what it promises, as data: one value, [Report], whose
// JSON form is report.json.
//
// It owns the fields of report.json with their schema, the entry of a release in a public registry, and what can be
// read off a report without knowing anything else. Package maker makes a report, with the sentences of package notes;
// package page shows it.
//
// It never sees a confidential byte. No clock, host, folder or random number enters, so equal reports give equal bytes
// on every machine.
//
// Use [Read] to load a report.json that somebody else made.
package report
