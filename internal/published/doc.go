// Package published reads the folder of a published release, and is the only package that does: whoever answers a
// question, draws a comparison or verifies a folder asks it, so that a field has one meaning.
//
// A folder may be anybody's. [OpenFolder] holds it against its manifest and the manifest against its signature; [Open]
// reads the plan and the record of the debit too, and fails unless all of them are of one release, one status and one
// entry of the ledger. What is read after that, such as a table, a measurement or the report, is held against the
// manifest, the plan and itself. A folder that was changed is an *[Altered].
//
// The package writes nothing. It also owns the forms that it reads, the manifest, its signature and the record of the
// debit, in which the steps write them. It reads no confidential byte.
package published
