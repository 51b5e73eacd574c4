package published

// This file reads and writes the published record of a release's debit.

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/canonical"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan/compiled"
)

// EncodeRecord encodes the record of a debit as it is sealed and published.
func EncodeRecord(r ledger.Record) ([]byte, error) { return canonical.Escaped(r) }

// ReadRecord reads the record of the debit that paid for the release.
//
// Contract: after a nil error the record fits its own proof, and it belongs to the release, the plan, the status and
// the entry of the ledger that the manifest names. Errors: *[Altered].
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
	if m := d.Manifest; r.Release != m.Release || r.PlanHash != m.PlanHash || StatusText(r.Status) != m.Status ||
		r.Proof.Hash != m.Head {
		return r, d.Altered(Faultf(ProofFile, "is of another release, plan, status or entry of the ledger than %s",
			ManifestFile))
	}
	return r, nil
}

// ReadRecords reads the records of all debits that paid for the release: that of [Folder.ReadRecord] and, of a release
// of several holders, those of the others, each of which is in the ledger of that holder. Errors: *[Altered].
func (d *Folder) ReadRecords() ([]ledger.Record, error) {
	first, err := d.ReadRecord()
	all := []ledger.Record{first}
	if _, held := d.lines[measured.HoldersFile]; err != nil || !held {
		return all, err
	}
	text, err := d.Read(measured.HoldersFile)
	if err != nil {
		return nil, err
	}
	var holders []measured.Held
	if err := json.Unmarshal(text, &holders); err != nil {
		return nil, d.Altered(Faultf(measured.HoldersFile, "cannot be read"))
	}
	for _, h := range holders {
		var r ledger.Record
		if h.Withdrawn {
			continue
		}
		if err := json.Unmarshal(h.Receipt, &r); err != nil || r.Check() != nil || r.Release != first.Release ||
			r.PlanHash != first.PlanHash || r.Status != first.Status {
			return nil, d.Altered(Faultf(measured.HoldersFile, "has a receipt of %s that is not of this release",
				h.Holder))
		}
		if r.Proof != first.Proof {
			all = append(all, r)
		}
	}
	return all, nil
}

// Terms returns the terms that a plan and its account must agree on.
func Terms(p *compiled.Compiled) ledger.Terms {
	t := ledger.Terms{Protects: p.Guarantee.Protects, Neighbours: p.Guarantee.Neighbours, Definition: ledger.Rho}
	if p.Cost.Epsilon != nil {
		t.Definition = ledger.Epsilon
	}
	return t
}

// RecordIn returns the receipt of a sealed folder. It returns an error unless the receipt is for the folder's plan and
// status.
func RecordIn(s *measured.Sealed) (ledger.Record, error) {
	var record ledger.Record
	if err := json.Unmarshal(s.Receipt, &record); err != nil {
		return record, fmt.Errorf("%s: %w", measured.ReceiptFile, err)
	}
	again, err := EncodeRecord(record)
	switch {
	case err != nil:
		return record, err
	case !bytes.Equal(again, s.Receipt):
		return record, fmt.Errorf("%s is not as the ledger writes receipts", measured.ReceiptFile)
	case record.PlanHash != s.Plan.Hash() || record.Release != s.Plan.Name || record.Terms != Terms(s.Plan):
		return record, fmt.Errorf("%s is the receipt of another plan", measured.ReceiptFile)
	case s.Status != StatusText(record.Status):
		return record, fmt.Errorf("%s is of another status than the measurements", measured.ReceiptFile)
	}
	if err := record.Check(); err != nil {
		return record, fmt.Errorf("%s: %w", measured.ReceiptFile, err)
	}
	if err := checkHolders(s, record.Status); err != nil {
		return record, fmt.Errorf("%s: %w", measured.HoldersFile, err)
	}
	return record, nil
}
