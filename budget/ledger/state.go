package ledger

// The status of an account and the state of a charge.

// Status is the kind of an account, and decides what a receipt permits.
type Status string

const (
	Official  Status = "release"   // an account opened by Init: a release of real data
	Practice  Status = "practice"  // an account opened by InitPractice: real data, everything marked "not a release"
	Rehearsal Status = "rehearsal" // OpenRehearsal: made-up data only
)

// inWords describes the status to a person.
func (s Status) inWords() string {
	switch s {
	case Official:
		return "official"
	case Practice:
		return "PRACTICE, NOT A RELEASE"
	case Rehearsal:
		return "REHEARSAL ON MADE-UP DATA"
	}
	return "invalid"
}

// State is the state of a charge.
type State string

const (
	Reserved  State = "reserved"  // counts against the cap until cancelled or debited
	Cancelled State = "cancelled" // given back; costs nothing
	Debited   State = "debited"   // spent, for good; its measurements are not durable yet
	Finished  State = "finished"  // spent, and its measurements are durable: cannot be measured again
	Abandoned State = "abandoned" // spent, and closed before it was finished
	Withdrawn State = "withdrawn" // finished, and marked as not to be used any more; stays spent
)

// isSpent reports whether a charge in this state was debited.
func (s State) isSpent() bool { return s != Reserved && s != Cancelled }
