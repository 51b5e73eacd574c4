package ledger

// Approvals: what a person signs is one plan, or releases of a template until a day, in a role that the account
// requires.

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/dprelease/dprelease/budget/sign"
	"github.com/dprelease/dprelease/internal/canonical"
)

// approvalPurpose is the purpose for which keys sign approvals.
const approvalPurpose = "approval"

// Bounds on an approval: the size of its file, and the number of releases that it covers.
const (
	maxApprovalBytes = 1 << 14
	maxStanding      = 10_000
)

// Approval is one person's detached signature (Ed25519) below a plan, or below a grant.
type Approval struct {
	// hash of the plan; with Standing, Charge.Template; of a grant, Grant.Hash
	Plan      string         `json:"plan"`
	Words     string         `json:"words,omitempty"`    // hash of the words of the plan; none of a grant
	Role      string         `json:"role"`               // one of the account's policy
	Statement string         `json:"statement"`          // what the signer attests, one sentence
	Standing  *Standing      `json:"standing,omitempty"` // for releases to come; nil: for this plan alone
	Signer    sign.PublicKey `json:"signer"`
	Signature string         `json:"signature,omitempty"` // for "approval", over the canonical JSON of the others
}

// Standing bounds an approval of a plan with its parameters blank.
type Standing struct {
	Until    string `json:"until"`    // YYYY-MM-DD, UTC: the last day on which a release may be reserved
	Releases int64  `json:"releases"` // how many releases may hold a reservation or a debit under it
}

// Signed returns a with the signer and the signature of the key.
func (a Approval) Signed(key sign.Key) Approval {
	a.Signer = key.Public()
	a.Signature = key.Sign(approvalPurpose, a.message())
	return a
}

// Verify returns an error unless a is complete and carries a valid signature of its signer.
func (a Approval) Verify() error {
	switch {
	case !hashPattern.MatchString(a.Plan):
		return errors.New("the approval's plan is not 64 lower-case hexadecimal digits")
	case a.Words != "" && !hashPattern.MatchString(a.Words):
		return errors.New("the words of the approval are not 64 lower-case hexadecimal digits")
	case !namePattern.MatchString(a.Role):
		return fmt.Errorf("the approval's role is %q; use %s", a.Role, nameRule)
	case !isOneLine(a.Statement):
		return fmt.Errorf("the approval's statement is not one line of text of at most %d bytes", maxTextBytes)
	case a.Standing != nil && !isDay(a.Standing.Until):
		return fmt.Errorf("the approval stands until %q; expected a day, YYYY-MM-DD", a.Standing.Until)
	case a.Standing != nil && (a.Standing.Releases < 1 || a.Standing.Releases > maxStanding):
		return fmt.Errorf("the approval stands for %d releases; expected 1 to %d", a.Standing.Releases, maxStanding)
	case a.Signer.IsZero():
		return errors.New("the approval names no signer")
	}
	if err := a.Signer.Verify(approvalPurpose, a.message(), a.Signature); err != nil {
		return fmt.Errorf("the approval of role %s: %w", a.Role, err)
	}
	return nil
}

// RenewsWords reports whether a is a valid approval of other words of a plan by the signer of an earlier approval, in
// the same role.
func (a Approval) RenewsWords(earlier Approval, plan, words string) bool {
	return a.Plan == plan && a.Words == words && a.Standing == nil && a.Role == earlier.Role &&
		a.Signer == earlier.Signer && a.Verify() == nil
}

// message returns the signed text: the canonical JSON of a without its signature.
func (a Approval) message() []byte {
	a.Signature = ""
	text, err := canonical.Line(a)
	if err != nil {
		return nil // not representable in JSON, so no signature can fit it
	}
	return []byte(text)
}

// identity returns the key under which uses of a standing approval are counted. It depends on what was approved and by
// whom, and not on which of the valid signatures of the key was made.
func (a Approval) identity() digest { return sha256.Sum256(a.message()) }

// Encode returns the content of an approval file: its canonical JSON, one line.
func (a Approval) Encode() []byte {
	text, err := canonical.Line(a)
	if err != nil {
		return nil
	}
	return []byte(text + "\n")
}

// ReadApproval reads what Encode writes. It is strict: other keys, another order or other white space are errors. It
// does not check the signature; see [Approval.Verify].
func ReadApproval(b []byte) (Approval, error) {
	var a Approval
	if len(b) > maxApprovalBytes {
		return a, fmt.Errorf("an approval has at most %d bytes", maxApprovalBytes)
	}
	decoder := json.NewDecoder(bytes.NewReader(b))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&a); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("it is empty")
		}
		return Approval{}, fmt.Errorf("this is not an approval as `dprelease approve` writes it: %w", err)
	}
	if !bytes.Equal(a.Encode(), b) {
		return Approval{}, errors.New(
			"this is not an approval as `dprelease approve` writes it: it was edited or is not whole; have it signed again")
	}
	return a, nil
}

// equal reports whether a and b are the same signature on the same text.
func (a Approval) equal(b Approval) bool {
	return a.Plan == b.Plan && a.Words == b.Words && a.Role == b.Role && a.Statement == b.Statement &&
		a.Signer == b.Signer && a.Signature == b.Signature &&
		(a.Standing == nil) == (b.Standing == nil) && (a.Standing == nil || *a.Standing == *b.Standing)
}

// cloneApprovals returns a deep copy of approvals.
func cloneApprovals(all []Approval) []Approval {
	all = slices.Clone(all)
	for i := range all {
		if s := all[i].Standing; s != nil {
			all[i].Standing = new(*s)
		}
	}
	return all
}
