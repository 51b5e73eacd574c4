package ledger

// The history of an account, entry by entry, in words.

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
)

// Event is an entry in words. Its time is for the office alone and is not published.
type Event struct {
	Entry   int64  `json:"entry"`          // its number in the ledger
	Date    string `json:"date"`           // YYYY-MM-DD, UTC
	Time    string `json:"time,omitempty"` // RFC 3339, UTC; "" in an export
	Account string `json:"account"`
	Release string `json:"release,omitempty"`
	What    string `json:"what"` // "debited ε = 2"
	Hash    string `json:"hash"`
}

// String is one line.
func (e Event) String() string {
	when := e.Time
	if when == "" {
		when = e.Date
	}
	of := e.Account
	if e.Release != "" {
		of += ", release " + e.Release
	}
	return fmt.Sprintf("%d  %s  %s: %s", e.Entry, when, of, e.What)
}

// History returns the entries that concern an account, in order: the entries on it, and the charges that count in it
// because they were made below it or name it as a further account. For "" it returns all. Errors: *NoAccount; wraps
// ErrTampered.
func (l *Ledger) History(ctx context.Context, account string) ([]Event, error) {
	b, err := l.view(ctx)
	if err != nil {
		return nil, err
	}
	return b.history(account)
}

func (b *book) history(account string) ([]Event, error) {
	if account != "" && b.accounts[account] == nil {
		return nil, &NoAccount{Ledger: b.ledger, Account: account}
	}
	var events []Event
	for _, l := range b.lines {
		e, err := parseEntry(l.body)
		if err != nil {
			return nil, fmt.Errorf("ledger %s: entry %d %w", b.ledger, l.sequence, err)
		}
		if account != "" && !b.concernsAccount(e, account) {
			continue
		}
		event := Event{Entry: l.sequence, Date: e.Date, Account: e.Account, Release: e.Release, What: e.inWords(),
			Hash: l.hash.String()}
		if l.private != "" {
			s, err := parseSecret(l.private, e.Kind)
			if err != nil {
				return nil, fmt.Errorf("ledger %s: entry %d %w", b.ledger, l.sequence, err)
			}
			event.Time = s.Time
		}
		events = append(events, event)
	}
	return events, nil
}

// concernsAccount reports whether an entry is on the account, or is of a charge that counts in it.
func (b *book) concernsAccount(e entry, account string) bool {
	if e.Account == account || e.Kind == kindInit || e.Kind == kindGrant {
		return e.Account == account
	}
	names := []string{e.Account}
	charge := Charge{Account: e.Account, Release: e.Release, PlanHash: e.PlanHash}
	if p := b.accounts[e.Account].findCharge(charge); p != nil {
		names = append(names, p.charge.FurtherAccounts...)
	}
	for _, name := range names {
		for a := b.accounts[name]; a != nil; a = a.parent {
			if a.policy.Account == account {
				return true
			}
		}
	}
	return false
}

// inWords describes what an entry did.
func (e entry) inWords() string {
	switch e.Kind {
	case kindInit:
		a := account{policy: e.Policy.policyOf(e.Account), status: e.Policy.Status}
		return "opened: " + a.inWords()
	case kindReserve:
		return e.chargeInWords("reserved")
	case kindDebit:
		return e.chargeInWords("debited")
	case kindCancel:
		return "the reservation was given back"
	case kindRelease:
		return fmt.Sprintf("finished: its measurements are durable (seal %s)", shortHash(e.Seal))
	case kindAbandon:
		return "abandoned: " + e.Reason
	case kindWithdraw:
		return "withdrawn: " + e.Reason
	case kindGrant:
		return fmt.Sprintf("%s granted%s: %s", inWords(*e.Cost, false), approversInWords(e.Approvals), e.Reason)
	}
	return "results were compared with the truth: " + e.Reason
}

func (e entry) chargeInWords(verb string) string {
	text := fmt.Sprintf("%s %s (plan %s)", verb, inWords(*e.Cost, false), shortHash(e.PlanHash))
	if len(e.Also) > 0 {
		text += ", also on " + strings.Join(e.Also, ", ")
	}
	if e.Corrects != "" {
		text += ", corrects " + e.Corrects
	}
	return text + approversInWords(e.Approvals)
}

// approversInWords lists the roles that approved, with the fingerprints of their keys.
func approversInWords(approvals []Approval) string {
	if len(approvals) == 0 {
		return ""
	}
	var names []string
	for _, a := range approvals {
		name := fmt.Sprintf("%s %s", a.Role, a.Signer.Fingerprint())
		if a.Standing != nil {
			name += fmt.Sprintf(" (standing until %s, for %s)", a.Standing.Until,
				budget.Plural(a.Standing.Releases, "release"))
		}
		names = append(names, name)
	}
	return ", approved by " + strings.Join(slices.Compact(names), ", ")
}
