// Package ledger is the durable account of the privacy loss of a confidential population.
//
// It owns the policy of an account (what is protected, which neighbours, how much may be spent, in which period, and
// who must approve), the entries that record every reservation and debit, and the [Receipt], without which no noise is
// drawn. It never sees the confidential data, the content of a plan or a noise key. It never converts between
// definitions of privacy loss, except for a figure that is never used to admit a charge ([JointPlan]). It never changes
// or removes an entry.
//
// # What is guaranteed
//
// Admission is a privacy filter: for any sequence of charges, each chosen after seeing all earlier outputs, the sum
// of what is spent and reserved never exceeds the cap with its grants, in exact rationals. ε adds for pure
// differential privacy (Rogers, Roth, Ullman and Vadhan 2016); ρ and δ add for zero-concentrated differential privacy
// (Bun and Steinke 2016; Whitehouse, Ramdas, Rogers and Wu 2023). Accounts form trees: a charge counts in the accounts
// of all data sets that it reads and in all accounts above them, each once, in one entry.
//
// A [Receipt] exists only after its debit is durable: in a SQLite file (write-ahead log, synchronous=FULL) or in a
// PostgreSQL database. A crash, a kill or an error can leave a charge reserved or debited without its caller having
// learned of it, but never the reverse. Calling again with the same charge finds the same entry. A debit is bound to
// the [Charge.Commitment] that it was made with: no second key and no other counts get a receipt for it, and nobody
// gets one once the release is finished ([Ledger.Finish]).
//
// Any number of processes and goroutines may use one ledger: every change is a transaction, and writers take turns.
//
// # What can be checked
//
// An entry has a public body, with the day, and a private part, with the time, a salt and the commitment. Entries are
// chained: the hash of an entry is the SHA-256 of the hash before it, the SHA-256 of its private part, and its body.
// The next [Ledger.Verify], [Ledger.Show], [Ledger.Reserve] or [Ledger.Debit] notices an entry that was changed,
// removed or reordered without recomputing the rest of the chain. Where the office's key signs the entries (Ed25519),
// it also notices a recomputed chain. All of these calls replay the ledger through the code that admits new entries.
// They refuse a ledger that overspends, or that was debited without the approvals its policy requires, no matter who
// wrote it.
//
// An older copy of the whole ledger is noticed by a witness that keeps the newest head elsewhere (Policy.Witness), by
// [Ledger.Contains] with a published record, or by comparing [Statement.Head] with a note of it.
//
// [Ledger.Export] writes the public bodies, and [ReadExport] makes all of these checks from them alone.
//
// # Use
//
// An account is opened once, with [Ledger.Init] and a [Policy] read by [ParsePolicy]. A release calls [Ledger.Reserve]
// before it reads anything, [Ledger.Debit] before it draws noise, [Ledger.Finish] when its measurements are durable,
// and [Ledger.Cancel] if it fails before its debit. Rehearsals on made-up data take their receipts from
// [OpenRehearsal].
package ledger
