package published

// This file holds the record of the debit of a release, as it is published.

import (
	"encoding/json"

	"github.com/dprelease/dprelease/budget/ledger"
)

// EncodeRecord returns the record of a debit as it is sealed and published.
func EncodeRecord(r ledger.Record) ([]byte, error) {
	b, err := json.MarshalIndent(r, "", "  ")
	return append(b, '\n'), err
}

// ReadRecord reads the record of the debit that paid for the release.
//
// Contract: after a nil error the record fits its own proof, and it is of the release, the plan, the status and the entry of the
// ledger that the manifest names. Errors: *[Altered].
func (d *Folder) ReadRecord() (ledger.Record, error) {
	var r ledger.Record
	b, err := d.Read(ProofFile)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return r, d.Altered(Faultf(ProofFile, "cannot be read: %v", err))
	}
	if err := r.Check(); err != nil {
		return r, d.Altered(Faultf(ProofFile, "%v", err))
	}
	if m := d.Manifest; r.Release != m.Release || r.PlanHash != m.PlanHash || StatusText(r.Status) != m.Status || r.Proof.Hash != m.Head {
		return r, d.Altered(Faultf(ProofFile, "is of another release, plan, status or entry of the ledger than %s", ManifestFile))
	}
	return r, nil
}
