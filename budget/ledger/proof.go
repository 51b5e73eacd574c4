package ledger

// The entry of a debit, in a form that can be checked without the ledger.

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/budget/sign"
)

// Proof is the entry of a debit as it may be published: its body, and what its hash was computed from.
type Proof struct {
	Body      string         `json:"body"`     // canonical JSON of the entry
	Sealed    string         `json:"sealed"`   // SHA-256 of its private part, which stays in the ledger
	Previous  string         `json:"previous"` // hash of the entry before it
	Hash      string         `json:"hash"`     // SHA-256(previous ‖ sealed ‖ body)
	Signature string         `json:"signature,omitempty"`
	Office    sign.PublicKey `json:"office,omitzero"` // the key that signed it; zero if the ledger is not signed
}

// Check returns an error unless the record matches the entry in its proof: the hash fits the entry, the entry has the
// contents of the record, and the office named signed it. It cannot check whether the office is the true one, nor
// whether its ledger still holds the entry: compare the key's fingerprint, and see [Ledger.Contains].
func (r Record) Check() error {
	p := r.Proof
	previous, ok := parseDigest(p.Previous)
	sealed, ok2 := parseDigest(p.Sealed)
	hash, ok3 := parseDigest(p.Hash)
	if !ok || !ok2 || !ok3 {
		return errors.New("the ledger's proof has a hash that is not 64 lower-case hexadecimal digits")
	}
	if chainHash(previous, sealed, p.Body) != hash {
		return errors.New("the ledger's proof does not have the hash of its entry")
	}
	switch {
	case p.Office.IsZero() && p.Signature != "":
		return errors.New("the ledger's proof is signed and names no key")
	case !p.Office.IsZero():
		if err := p.Office.Verify(entryPurpose, hash[:], p.Signature); err != nil {
			return fmt.Errorf("the ledger's proof: %w", err)
		}
	}
	e, err := parseEntry(p.Body)
	if err != nil {
		return fmt.Errorf("the entry in the ledger's proof %w", err)
	}
	if e.Kind != kindDebit || !e.hasShape() {
		return errors.New("the entry in the ledger's proof is no debit")
	}
	return r.checkAgainst(e)
}

// checkAgainst returns an error that names the first field in which the record differs from the entry of its debit.
func (r Record) checkAgainst(e entry) error {
	for _, field := range []struct {
		name string
		same bool
	}{
		{"account", r.Account == e.Account},
		{"release", r.Release == e.Release},
		{"plan_hash", r.PlanHash == e.PlanHash},
		{"status", r.Status == e.Attest.Status},
		{"terms", r.Terms == e.Attest.Terms},
		{"cost", r.Cost.Equal(*e.Cost)},
		{"date", r.Date == e.Date},
		{"number", r.Number == e.Attest.Number},
		{"also", slices.Equal(r.FurtherAccounts, e.Also)},
		{"corrects", r.Corrects == e.Corrects},
		{"template", r.Template == e.Template},
		{"comparisons", r.Comparisons == e.Attest.Comparisons},
		{"witnessed", r.Witnessed == e.Attest.Witnessed},
		{"approvals", slices.EqualFunc(r.Approvals, e.Approvals, Approval.equal)},
	} {
		if !field.same {
			return fmt.Errorf("the record's %s is not what the entry in the ledger's proof says", field.name)
		}
	}
	return nil
}

// checkContains returns a *NotHeld unless the book holds the debit of the record.
func (b *book) checkContains(r Record) error {
	if err := r.Check(); err != nil {
		return fmt.Errorf("release %s: %w", r.Release, err)
	}
	if a := b.accounts[r.Account]; a != nil {
		if p := a.findCharge(Charge{Account: r.Account, Release: r.Release, PlanHash: r.PlanHash}); p != nil &&
			p.proof == r.Proof {
			return nil
		}
	}
	return &NotHeld{Ledger: b.ledger, Release: r.Release, Hash: r.Proof.Hash}
}
