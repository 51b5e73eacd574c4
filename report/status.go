package report

// This file holds the status of a release and what is said of it.

// Status says what a release is: the real thing, practice on real data, or a
// rehearsal on made-up data. The words are those of the ledger's receipts.
type Status string

// The three statuses.
const (
	Official  Status = "release"
	Practice  Status = "practice"
	Rehearsal Status = "rehearsal"
)

// Banner is what every page must carry, "" for a release.
func (s Status) Banner() string {
	switch s {
	case Practice:
		return "PRACTICE, NOT A RELEASE"
	case Rehearsal:
		return "REHEARSAL, MADE-UP DATA"
	}
	return ""
}

func (s Status) Known() bool { return s == Official || s == Practice || s == Rehearsal }
