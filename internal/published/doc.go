// Package published reads the folder of a published release. It is the only package that does: whatever answers a
// question, makes a comparison or verifies a folder reads it through this package, so that a field has one meaning.
//
// Anybody may have written a folder. [OpenFolder] checks it against its manifest and the manifest against its
// signature; [Open] also reads the plan and the record of the debit, and returns an error unless all of them belong to
// one release, one status and one entry of the ledger. What is read after that, such as a table, a measurement or the
// report, is checked against the manifest, the plan and itself. A folder that was changed is reported as an
// *[Altered].
//
// The package writes nothing. It also owns the formats that it reads, the manifest, its signature and the record of
// the debit, in which the steps write them. It reads no confidential byte.
package published
