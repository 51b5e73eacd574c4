// Package local holds the mathematics of local differential privacy, where each respondent's device randomises the
// answer and only the report leaves it: randomisers by their exact probabilities, the law of what is counted of their
// reports, for one category and for several added up, and the guarantee of reports that were shuffled.
//
// It owns numbers alone. It never draws, never reads data, and never rounds a promise down.
//
//	r, err := local.New(big.NewRat(1, 1), 100) // 27 of 100 categories in a report
//	p, q := r.Chances()                        // of the true category, and of any other one
package local
