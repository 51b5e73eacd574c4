package spec

import "math/big"

// This file holds the collection: answers that are randomised on the respondents' devices.

// Collection is how the answers of a table are collected under local differential privacy.
type Collection struct {
	Name    string
	Epsilon *big.Rat // that each respondent loses in all
	Expect  int64    // about how many respondents there will be
	// Honest is the least number of reports by devices that follow the protocol, if the reports are shuffled, and 0 if
	// they are not; Delta is the δ of the promise that shuffling gives.
	Honest int64
	Delta  *big.Rat
	// RefusesFaulty reports whether a report that no device makes, or that was sent twice, stops the run.
	RefusesFaulty bool
}

// Shuffled reports whether the reports are shuffled before the collector sees them.
func (c *Collection) Shuffled() bool { return c.Honest > 0 }
