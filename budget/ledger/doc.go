// Package ledger is the durable account of the privacy loss of a confidential population.
//
// It owns the policy of an account (what is protected, which neighbours, how much may be spent), the file that
// every reservation and debit is written to, and the [Receipt], without which no noise is drawn. It never sees the
// confidential data, a plan's content or a noise key; it never converts between definitions of privacy loss; it
// never changes or removes an entry.
//
// # What is guaranteed
//
// Admission is a privacy filter: for any sequence of charges, each chosen after seeing all earlier outputs, the sum
// of what is spent and reserved never exceeds the cap, in exact rationals. ε adds for pure differential privacy
// (Rogers, Roth, Ullman and Vadhan 2016); ρ and δ add for zero-concentrated differential privacy (Bun and Steinke
// 2016; Whitehouse, Ramdas, Rogers and Wu 2023).
//
// A [Receipt] exists only after its debit is on the disk (SQLite, write-ahead log, synchronous=FULL). A crash, a
// kill or an error can leave a charge reserved or debited whose caller was never told, never the reverse: call again
// with the same charge, and the same entry answers. A debit is bound to the [Charge.Commitment] it was made with: no
// second key or other count gets a receipt for it.
//
// Any number of processes and goroutines may use one file: every change is one BEGIN IMMEDIATE transaction.
//
// The entries are chained by SHA-256. Whoever changes, removes or reorders an entry and does not recompute the rest
// is noticed by the next [Ledger.Verify], [Ledger.Show], [Ledger.Reserve] or [Ledger.Debit]. Whoever rewrites the
// whole chain, or puts back an older copy of the file, is noticed only by comparing [Statement.Head] with a copy of
// it that was kept elsewhere.
//
// # Use
//
// An account is opened once, with [Ledger.Init] and a [Policy] read by [ParsePolicy]. A release calls
// [Ledger.Reserve] before it reads anything, [Ledger.Debit] before it draws noise, and [Ledger.Cancel] if it fails
// in between. Rehearsals on made-up data take their receipts from [OpenRehearsal].
package ledger
