// Package report says how good a release is and what it promises: one value,
// [Report], from which report.json, report.html, report.md and README.txt are
// all made.
//
// It owns the words of a release: the guarantee in plain sentences, the error
// of every table, how to read the figures and what they must not be used for.
//
// It never sees a confidential byte and never computes from anything but its
// [Input]: the plan, the published tables (noisy already) and the ledger's
// receipt. No clock, host, folder or random number enters, so equal inputs give
// equal bytes on every machine. Promises are rounded up, attained levels down.
//
// Use [New] in publishing, [Read] to load a report.json that somebody else
// made, and the methods of [Report] to render it.
package report
