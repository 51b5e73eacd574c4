package published

import "github.com/dprelease/dprelease/budget/ledger"

// This file holds the marks of releases.

// OfficialStatus marks a release that an account paid for.
const OfficialStatus = "RELEASE"

// PracticeStatus marks a release drawn on a practice account.
const PracticeStatus = "PRACTICE, NOT A RELEASE"

// RehearsalStatus marks a rehearsal on made-up rows.
const RehearsalStatus = "REHEARSAL, MADE-UP DATA"

// StatusText returns a status as it is written in every published file.
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

// StatusLine returns the line that marks practice and rehearsals, "" for a release.
func StatusLine(status string) string {
	if status == OfficialStatus {
		return ""
	}
	return "\n" + status
}
