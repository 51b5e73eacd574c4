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

// kind is what an entry does. Kinds are never renamed and never change their meaning; an unknown one is refused.
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

// dated reports whether the day of an entry of this kind decides something: from when an account is open or has more,
// which period pays, until when an approval stands. The others take the last entry's day where the clock is doubted.
func (k kind) dated() bool {
	return k == kindInit || k == kindReserve || k == kindDebit || k == kindGrant
}

// entry is the content of one line. The fields with JSON names are its public body; the others are private.
type entry struct {
	Kind    kind           `json:"kind"`
	Date    string         `json:"date"` // YYYY-MM-DD, UTC; never before that of the entry before
	Account string         `json:"account"`
	Office  sign.PublicKey `json:"office,omitzero"` // first entry only: who signs this and all that follow

	Policy *opened `json:"policy,omitempty"` // init

	Release  string   `json:"release,omitempty"` // all but init and grant
	PlanHash string   `json:"plan_hash,omitempty"`
	Also     []string `json:"also,omitempty"` // reserve and debit, as what follows
	// in lowest terms: "6", "1/2"; of a grant: what it adds to the cap
	Cost       *budget.Cost `json:"cost,omitempty"`
	Template   string       `json:"template,omitempty"`   // Charge.Template
	Corrects   string       `json:"corrects,omitempty"`   // Charge.Corrects
	Mechanisms []Repeated   `json:"mechanisms,omitempty"` // reserve only
	Approvals  []Approval   `json:"approvals,omitempty"`  // those that were used; also of a grant

	Attest *attest `json:"attest,omitempty"` // debit: what the account says of it

	Seal   string `json:"seal,omitempty"`   // release: SHA-256 of the sealed measurements
	Reason string `json:"reason,omitempty"` // abandon, withdraw, grant and compare

	time       string // RFC 3339, UTC, whole seconds
	commitment string // debit: Charge.Commitment
}

// attest is what a debit says beyond what was asked, so that whoever holds that one entry has it from the office.
type attest struct {
	Status Status `json:"status"`
	Terms
	Number      int64 `json:"number"`
	Comparisons int64 `json:"comparisons"`
	Witnessed   bool  `json:"witnessed"`
}

// opened is a policy as an entry writes it.
type opened struct {
	Status Status `json:"status"`
	Terms
	Cap       *budget.Cost                `json:"cap,omitempty"` // absent: no cap (rehearsal)
	Parent    string                      `json:"parent,omitempty"`
	Allowance *Allowance                  `json:"allowance,omitempty"`
	Approvals map[string][]sign.PublicKey `json:"approvals,omitempty"`
	Witness   string                      `json:"witness,omitempty"`
}

// secret is the private part of an entry. It is never published and appears in no message: the salt keeps the
// published hashes from giving away, by trying, when measuring began or what was counted.
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

// readCanonical reads what [canonical.Line] writes into v; any other text is an error.
func readCanonical(text string, v any) error {
	if err := json.Unmarshal([]byte(text), v); err != nil {
		return errors.New("is not a ledger entry")
	}
	if again, err := canonical.Line(v); err != nil || again != text {
		return errors.New("is not written in canonical form")
	}
	return nil
}

// body is the public part of e.
func (e entry) body() (string, error) { return canonical.Line(e) }

// private is the private part of e, with a new salt.
func (e entry) private() (string, error) {
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

// digestOf is the SHA-256 of a text.
func digestOf(text string) digest { return sha256.Sum256([]byte(text)) }

// genesis is the hash before the first entry.
func genesis() digest { return digestOf("dprelease ledger 2") }

// chain is the hash of an entry: SHA-256(previous hash ‖ SHA-256(private part) ‖ public body).
func chain(previous, sealed digest, body string) digest {
	h := sha256.New()
	h.Write(previous[:])
	h.Write(sealed[:])
	h.Write([]byte(body))
	return digest(h.Sum(nil))
}

// entryPurpose is what the office's key signs entries for.
const entryPurpose = "ledger entry"

// Repeated is a mechanism and how often a plan runs it.
type Repeated struct {
	Count     int64            `json:"count"`
	Mechanism budget.Mechanism `json:"mechanism"`
}
