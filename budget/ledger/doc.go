// Package ledger is the durable account of the privacy loss of a confidential population.
//
// It owns the policy of an account (what is protected, which neighbours, how much may be spent, in which period, and
// who must approve), the entries that every reservation and debit is written to, and the [Receipt], without which no
// noise is drawn. It never sees the confidential data, a plan's content or a noise key; it never converts between
// definitions of privacy loss, but for a figure that admits nothing ([JointPlan]); it never changes or removes an
// entry.
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
// PostgreSQL database. A crash, a kill or an error can leave a charge reserved or debited whose caller was never told,
// never the reverse: call again with the same charge, and the same entry answers. A debit is bound to the
// [Charge.Commitment] it was made with: no second key or other count gets a receipt for it, and nobody does once the
// release is finished ([Ledger.Finish]).
//
// Any number of processes and goroutines may use one ledger: every change is one transaction that nobody else writes
// beside.
//
// # What can be checked
//
// An entry has a public body, with the day, and a private part, with the time, a salt and the commitment. Entries are
// chained: the hash of each is the SHA-256 of the hash before it, the SHA-256 of its private part, and its body.
// Whoever changes, removes or reorders an entry and does not recompute the rest is noticed by the next [Ledger.Verify],
// [Ledger.Show], [Ledger.Reserve] or [Ledger.Debit]; and so is whoever recomputes the rest, where the office's key
// signs the entries (Ed25519). All of them replay the ledger through the same code that admits new entries: a ledger
// that overspends, or that was debited without the approvals its policy asks for, is refused whoever wrote it.
//
// An older copy of the whole ledger is noticed where a witness keeps the newest head elsewhere (Policy.Witness), by
// [Ledger.Contains] against what was published, or by comparing [Statement.Head] with a note of it.
//
// [Ledger.Export] writes the public bodies, and [ReadExport] checks all of this from them alone.
//
// # Use
//
// An account is opened once, with [Ledger.Init] and a [Policy] read by [ParsePolicy]. A release calls [Ledger.Reserve]
// before it reads anything, [Ledger.Debit] before it draws noise, [Ledger.Finish] when its measurements are durable,
// and [Ledger.Cancel] if it fails before its debit. Rehearsals on made-up data take their receipts from
// [OpenRehearsal].
package ledger
