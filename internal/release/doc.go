// Package release takes a release through its three steps, in the order that
// keeps the promise: plan (reads public things only), measure (the one step
// that touches confidential data: reserve, read, count, debit, draw, make
// durable, erase the key) and publish (reads the sealed folder only).
//
// The package owns crash safety: every output is staged beside its place,
// synced and renamed once, and a run that was cut off after its debit resumes
// to the same noise. It owns no privacy mathematics.
package release
