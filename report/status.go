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

func (s Status) known() bool { return s == Official || s == Practice || s == Rehearsal }

func (s Status) meaning() string {
	switch s {
	case Practice:
		return "This was made from the data that the spec names, under a practice account whose budget nobody has approved. It must not be passed on, published or used. See whether the spec gives what you need, then run it on an account of the office."
	case Rehearsal:
		return "This was made from invented rows, drawn at random from the declared categories. It says nothing about anybody, and its figures mean nothing."
	}
	return "This is a release: its cost was charged to the account before any noise was drawn."
}
