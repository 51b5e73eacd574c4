package ledger

// One line of the ledger: its canonical JSON body, and the hash that chains it to the line before.

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/dprelease/dprelease/budget"
)

// kind is what an entry does. Kinds are never renamed and never change their meaning; an unknown one is refused.
type kind string

const (
	kindInit    kind = "init"
	kindReserve kind = "reserve"
	kindCancel  kind = "cancel"
	kindDebit   kind = "debit"
)

// entry is the content of one line. An init entry has Policy; the others have Release, PlanHash and Cost.
type entry struct {
	Kind     kind         `json:"kind"`
	Time     string       `json:"time"` // RFC 3339, UTC, whole seconds
	Account  string       `json:"account"`
	Policy   *opened      `json:"policy,omitempty"`
	Release  string       `json:"release,omitempty"`
	PlanHash string       `json:"plan_hash,omitempty"`
	Cost     *budget.Cost `json:"cost,omitempty"` // amounts in lowest terms: "6", "1/2"

	Commitment string `json:"commitment,omitempty"` // debit only: Charge.Commitment

	// Salt is random and never published: the published hashes of a debit's entry and of the one before it would
	// otherwise give away, by trying, when measuring began.
	Salt string `json:"salt,omitempty"`
}

// newSalt is 32 random bytes in hexadecimal.
func newSalt() (string, error) {
	var b [32]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("drawing a salt: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}

// opened is a policy as an entry writes it.
type opened struct {
	Status Status `json:"status"`
	Terms
	Cap *budget.Cost `json:"cap,omitempty"` // absent: no cap (rehearsal)
}

// timeLayout writes entry times.
const timeLayout = "2006-01-02T15:04:05Z"

// body is the canonical JSON of e: fields in the order of the struct, no white space, no HTML escapes.
func (e entry) body() (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return "", err
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// parseEntry reads a canonical body; any other text is an error.
func parseEntry(body string) (entry, error) {
	var e entry
	if err := json.Unmarshal([]byte(body), &e); err != nil {
		return entry{}, errors.New("is not a ledger entry")
	}
	again, err := e.body()
	if err != nil || again != body {
		return entry{}, errors.New("is not written in canonical form")
	}
	if t, err := time.Parse(timeLayout, e.Time); err != nil || t.Format(timeLayout) != e.Time {
		return entry{}, errors.New("has no valid time")
	}
	return e, nil
}

// digest is a SHA-256.
type digest [sha256.Size]byte

func (d digest) String() string { return hex.EncodeToString(d[:]) }

// genesis is the hash before the first entry.
func genesis() digest { return sha256.Sum256([]byte("dprelease ledger 1")) }

// chain is the hash of an entry: SHA-256(previous hash ‖ sequence as 8 bytes, big-endian ‖ body).
func chain(previous digest, sequence int64, body string) digest {
	h := sha256.New()
	h.Write(previous[:])
	var s [8]byte
	binary.BigEndian.PutUint64(s[:], uint64(sequence))
	h.Write(s[:])
	h.Write([]byte(body))
	return digest(h.Sum(nil))
}
