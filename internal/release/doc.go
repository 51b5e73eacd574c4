// Package release takes a release through its three steps, in the order that keeps the privacy guarantee: plan reads
// public inputs only; measure is the one step that touches confidential data (reserve, read, count, debit, draw, make
// durable, erase the key); publish reads the sealed folder only.
//
// The package owns crash safety: every output is staged next to its destination, synced, and renamed once, and a run
// that was cut off after its debit resumes to the same noise. It contains no privacy mathematics.
package release
