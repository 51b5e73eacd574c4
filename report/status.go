package report

import "github.com/dprelease/dprelease/spec/language"

// This file holds the status of a release.

// Status says what a release is: an official release, practice on real data, or a rehearsal on invented data. The words
// are the same as in the ledger's receipts.
type Status string

// The three statuses.
const (
	Official  Status = "release"
	Practice  Status = "practice"
	Rehearsal Status = "rehearsal"
)

// Banner returns the text that every page must show, "" for an official release.
func (s Status) Banner(l *language.Language) string {
	switch s {
	case Practice:
		return l.Text("PRACTICE, NOT A RELEASE")
	case Rehearsal:
		return l.Text("REHEARSAL, MADE-UP DATA")
	}
	return ""
}

func (s Status) Known() bool { return s == Official || s == Practice || s == Rehearsal }
