package ledger

// What a person signs: this plan, or releases like it until a day, in a role that the account asks for.

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/sign"
)

// approvalPurpose is what an approval's key signs it for.
const approvalPurpose = "approval"

// Bounds of an approval.
const (
	maxApprovalBytes = 1 << 14
	maxTextBytes     = 1000 // of a statement or a reason
	maxStanding      = 10_000
	maxReasons       = 5 // that are told of approvals of one role that do not serve
)

// Approval is one person's detached signature (Ed25519) below a plan, or below a grant.
type Approval struct {
	Plan      string         `json:"plan"`               // hash of the plan; with Standing, Charge.Template; of a grant, Grant.Hash
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

// Signed is a with Signer and Signature of the key.
func (a Approval) Signed(key sign.Key) Approval {
	a.Signer = key.Public()
	a.Signature = key.Sign(approvalPurpose, a.message())
	return a
}

// Verify returns an error unless a is complete and its signature is the signer's.
func (a Approval) Verify() error {
	switch {
	case !hashPattern.MatchString(a.Plan):
		return errors.New("the approval's plan is not 64 lower-case hexadecimal digits")
	case !namePattern.MatchString(a.Role):
		return fmt.Errorf("the approval's role is %q; use %s", a.Role, nameRule)
	case !isSentence(a.Statement):
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

// message is what is signed: the canonical JSON of all but the signature.
func (a Approval) message() []byte {
	a.Signature = ""
	text, err := canonical(a)
	if err != nil {
		return nil // no text in JSON: no signature fits it
	}
	return []byte(text)
}

// identity tells what was approved, by whom: that which a standing approval is counted under, whichever of the
// signatures that a key can make stands below it.
func (a Approval) identity() digest { return sha256.Sum256(a.message()) }

// Encode is the file of an approval: its canonical JSON, one line.
func (a Approval) Encode() []byte {
	text, err := canonical(a)
	if err != nil {
		return nil
	}
	return []byte(text + "\n")
}

// ReadApproval reads what Encode writes. It is strict: other keys, another order or other white space are an error. It
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
		return Approval{}, errors.New("this is not an approval as `dprelease approve` writes it: it was edited or is not whole; have it signed again")
	}
	return a, nil
}

// isSentence tells whether text is one line that a person can read.
func isSentence(text string) bool {
	if text == "" || len(text) > maxTextBytes || !utf8.ValidString(text) {
		return false
	}
	blank := true
	for _, r := range text {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return false
		}
		blank = blank && unicode.IsSpace(r)
	}
	return !blank
}

// equal tells whether the two are the same signature below the same text.
func (a Approval) equal(b Approval) bool {
	return a.Plan == b.Plan && a.Role == b.Role && a.Statement == b.Statement && a.Signer == b.Signer && a.Signature == b.Signature &&
		(a.Standing == nil) == (b.Standing == nil) && (a.Standing == nil || *a.Standing == *b.Standing)
}

// verify is a.Verify, which a book asks once for each approval.
func (b *book) verify(a Approval) error {
	text := string(a.Encode())
	err, known := b.verified[text]
	if !known {
		err = a.Verify()
		b.verified[text] = err
	}
	return err
}

// approve chooses, among the approvals below a charge, those that its accounts ask for: for every role of each
// account one by a key of that role, of this plan where there is one, else standing for its template.
//
// Guarantee: every role of every account that the charge counts in has signed this plan, or signed its template for
// the day and for one more release. Argument: docs/proofs/account.md.
//
// Errors: *Unapproved, for the first account that lacks a role.
func (b *book) approve(c Charge, hits []*account, day string) ([]Approval, error) {
	var used []Approval
	for _, a := range hits {
		var missing, reasons []string
		for _, role := range a.policy.roles() {
			chosen, why := b.choose(c, role, a.policy.Approvals[role], day)
			if chosen == nil {
				missing, reasons = append(missing, role), append(reasons, why[:min(len(why), maxReasons)]...)
			} else if !slices.ContainsFunc(used, chosen.equal) {
				used = append(used, *chosen)
			}
		}
		if missing != nil {
			return nil, &Unapproved{Account: a.policy.Account, Release: c.Release, PlanHash: c.PlanHash, Missing: missing, Reasons: reasons}
		}
	}
	return used, nil
}

// choose returns the approval of c that fills a role, or nil with why those that are there do not. A folder of past releases
// is full of approvals of other plans: several of them are one reason.
func (b *book) choose(c Charge, role string, keys []sign.PublicKey, day string) (chosen *Approval, why []string) {
	var others []string
	for i, a := range c.Approvals {
		if a.Role != role {
			continue
		}
		switch reason := b.unfit(a, c, keys, day); {
		case reason == "" && a.Standing == nil:
			return &c.Approvals[i], nil
		case reason == "" && chosen == nil:
			chosen = &c.Approvals[i]
		case reason == "":
		case a.Plan == c.PlanHash || a.Plan == c.Template:
			why = append(why, reason)
		default:
			others = append(others, reason)
		}
	}
	if len(others) > 1 {
		others = []string{fmt.Sprintf("%d approvals as %s are of other plans", len(others), role)}
	}
	return chosen, append(others, why...)
}

// unfit says why a does not approve c in its role, or "".
func (b *book) unfit(a Approval, c Charge, keys []sign.PublicKey, day string) string {
	by := fmt.Sprintf("the approval as %s by %s", a.Role, a.Signer.Fingerprint())
	switch err := b.verify(a); {
	case err != nil:
		return fmt.Sprintf("%s is not valid: %v", by, err)
	case !slices.Contains(keys, a.Signer):
		return by + " is by a key that the account does not list for this role"
	case a.Standing == nil && a.Plan != c.PlanHash:
		return fmt.Sprintf("%s is of another plan (%s)", by, short(a.Plan))
	case a.Standing == nil:
		return ""
	case c.Template == "" || a.Plan != c.Template:
		return fmt.Sprintf("%s stands for plans of another template (%s)", by, short(a.Plan))
	case day > a.Standing.Until:
		return fmt.Sprintf("%s stood until %s", by, a.Standing.Until)
	case b.standing[a.identity()] >= a.Standing.Releases:
		return fmt.Sprintf("%s stood for %s, which all hold a reservation or a debit", by, budget.Plural(a.Standing.Releases, "release"))
	}
	return ""
}

// count adds to the releases that stand under each standing approval.
func (b *book) count(used []Approval, change int64) {
	for _, a := range used {
		if a.Standing != nil {
			b.standing[a.identity()] += change
		}
	}
}

// cloneApprovals copies approvals so that nobody else holds them.
func cloneApprovals(all []Approval) []Approval {
	all = slices.Clone(all)
	for i := range all {
		if s := all[i].Standing; s != nil {
			all[i].Standing = new(*s)
		}
	}
	return all
}
