package published

import "github.com/dprelease/dprelease/budget/ledger"

// This file holds what a release is marked as.

// OfficialStatus marks what an account paid for.
const OfficialStatus = "RELEASE"

// PracticeStatus marks what was drawn on a practice account.
const PracticeStatus = "PRACTICE, NOT A RELEASE"

// RehearsalStatus marks what was made of invented rows.
const RehearsalStatus = "REHEARSAL, MADE-UP DATA"

// StatusText returns a status as it is written into every published file.
func StatusText(s ledger.Status) string {
	switch s {
	case ledger.Official:
		return OfficialStatus
	case ledger.Practice:
		return PracticeStatus
	default:
		return RehearsalStatus
	}
}

// Marked returns the line that marks what is no release, "" for a release.
func Marked(status string) string {
	if status == OfficialStatus {
		return ""
	}
	return "\n" + status
}
