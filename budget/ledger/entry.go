package ledger

// One entry of the ledger: a public body, a private part, and the hash that chains both to the entry before.

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/sign"
	"github.com/dprelease/dprelease/internal/canonical"
)

// kind is the action that an entry records. Kinds are never renamed and never change their meaning; an unknown one is
// refused.
type kind string

const (
	kindInit     kind = "init"
	kindReserve  kind = "reserve"
	kindCancel   kind = "cancel"
	kindDebit    kind = "debit"
	kindRelease  kind = "release" // the measurements are durable: the release is finished
	kindAbandon  kind = "abandon"
	kindWithdraw kind = "withdraw"
	kindGrant    kind = "grant"
	kindCompare  kind = "compare"
)

// isDateSensitive reports whether the day of an entry of this kind has an effect: from when an account is open or has a
// higher cap, which period pays, until when an approval stands. Entries of other kinds take the last entry's day if the
// clock is in doubt.
func (k kind) isDateSensitive() bool {
	return k == kindInit || k == kindReserve || k == kindDebit || k == kindGrant
}

// entry is the content of one line. The fields with JSON names are its public body; the others are private.
type entry struct {
	Kind    kind           `json:"kind"`
	Date    string         `json:"date"` // YYYY-MM-DD, UTC; never before the day of the preceding entry
	Account string         `json:"account"`
	Office  sign.PublicKey `json:"office,omitzero"` // first entry only: the key that signs it and all that follow

	Policy *storedPolicy `json:"policy,omitempty"` // init

	Release  string   `json:"release,omitempty"` // all but init and grant
	PlanHash string   `json:"plan_hash,omitempty"`
	Also     []string `json:"also,omitempty"` // reserve and debit, like the fields below
	// in lowest terms: "6", "1/2"; of a grant: what it adds to the cap
	Cost       *budget.Cost `json:"cost,omitempty"`
	Template   string       `json:"template,omitempty"`   // Charge.Template
	Corrects   string       `json:"corrects,omitempty"`   // Charge.Corrects
	Mechanisms []Repeated   `json:"mechanisms,omitempty"` // reserve only
	Approvals  []Approval   `json:"approvals,omitempty"`  // the approvals that were used; also of a grant

	Attest *attestation `json:"attest,omitempty"` // debit: the state of the account at that point

	Seal   string `json:"seal,omitempty"`   // release: SHA-256 of the sealed measurements
	Reason string `json:"reason,omitempty"` // abandon, withdraw, grant and compare

	time       string // RFC 3339, UTC, whole seconds
	commitment string // debit: Charge.Commitment
}

// attestation is what a debit states in addition to the request, so that the single entry is evidence from the office
// of the state of the account.
type attestation struct {
	Status Status `json:"status"`
	Terms
	Number      int64 `json:"number"`
	Comparisons int64 `json:"comparisons"`
	Witnessed   bool  `json:"witnessed"`
}

// storedPolicy is a policy as an entry writes it.
type storedPolicy struct {
	Status Status `json:"status"`
	Terms
	Cap       *budget.Cost                `json:"cap,omitempty"` // absent: no cap (rehearsal)
	Parent    string                      `json:"parent,omitempty"`
	Allowance *Allowance                  `json:"allowance,omitempty"`
	Approvals map[string][]sign.PublicKey `json:"approvals,omitempty"`
	Witness   string                      `json:"witness,omitempty"`
}

// secret is the private part of an entry. It is never published and appears in no message. The salt keeps anybody from
// finding by trial, from the published hashes, when measuring began or what was counted.
type secret struct {
	Time       string `json:"time"`
	Salt       string `json:"salt"` // 32 random bytes in hexadecimal
	Commitment string `json:"commitment,omitempty"`
}

// Layouts of the private time and of the public day.
const (
	timeLayout = "2006-01-02T15:04:05Z"
	dayLayout  = time.DateOnly
)

// readCanonical reads into v what [canonical.Line] writes; any other text is an error.
func readCanonical(text string, v any) error {
	if err := json.Unmarshal([]byte(text), v); err != nil {
		return errors.New("is not a ledger entry")
	}
	if again, err := canonical.Line(v); err != nil || again != text {
		return errors.New("is not written in canonical form")
	}
	return nil
}

// publicBody returns the public part of e.
func (e entry) publicBody() (string, error) { return canonical.Line(e) }

// privatePart returns the private part of e, with a new salt.
func (e entry) privatePart() (string, error) {
	var salt [32]byte
	if _, err := rand.Read(salt[:]); err != nil {
		return "", fmt.Errorf("drawing a salt: %w", err)
	}
	return canonical.Line(secret{Time: e.time, Salt: hex.EncodeToString(salt[:]), Commitment: e.commitment})
}

// parseEntry reads a public body.
func parseEntry(body string) (entry, error) {
	var e entry
	if err := readCanonical(body, &e); err != nil {
		return entry{}, err
	}
	if !isDay(e.Date) {
		return entry{}, errors.New("has no valid day")
	}
	return e, nil
}

// parseSecret reads the private part of an entry of this kind.
func parseSecret(text string, k kind) (secret, error) {
	var s secret
	if err := readCanonical(text, &s); err != nil {
		return secret{}, err
	}
	t, err := time.Parse(timeLayout, s.Time)
	switch {
	case err != nil || t.Format(timeLayout) != s.Time:
		return secret{}, errors.New("has no valid time")
	case !hashPattern.MatchString(s.Salt):
		return secret{}, errors.New("has no salt")
	case s.Commitment != "" && (k != kindDebit || !hashPattern.MatchString(s.Commitment)):
		return secret{}, errors.New("carries a commitment that it cannot have")
	}
	return s, nil
}

// isDay reports whether text is a day, YYYY-MM-DD.
func isDay(text string) bool {
	t, err := time.Parse(dayLayout, text)
	return err == nil && t.Format(dayLayout) == text
}

// digest is a SHA-256.
type digest [sha256.Size]byte

func (d digest) String() string { return hex.EncodeToString(d[:]) }

// parseDigest reads what digest.String writes.
func parseDigest(text string) (d digest, ok bool) {
	if !hashPattern.MatchString(text) {
		return d, false
	}
	_, err := hex.Decode(d[:], []byte(text))
	return d, err == nil
}

// digestOf returns the SHA-256 of a text.
func digestOf(text string) digest { return sha256.Sum256([]byte(text)) }

// genesisHash returns the hash that the first entry is chained to.
func genesisHash() digest { return digestOf("dprelease ledger 2") }

// chainHash returns the hash of an entry: SHA-256(previous hash ‖ SHA-256(private part) ‖ public body).
func chainHash(previous, sealed digest, body string) digest {
	h := sha256.New()
	h.Write(previous[:])
	h.Write(sealed[:])
	h.Write([]byte(body))
	return digest(h.Sum(nil))
}

// entryPurpose is the purpose for which the office's key signs entries.
const entryPurpose = "ledger entry"

// Repeated is a mechanism and the number of times a plan runs it.
type Repeated struct {
	Count     int64            `json:"count"`
	Mechanism budget.Mechanism `json:"mechanism"`
}
