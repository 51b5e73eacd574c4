package ledger

// The page a budget officer reads and a board minutes.

import (
	"fmt"
	"math/big"
	"strings"
	"text/tabwriter"

	"github.com/dprelease/dprelease/budget"
)

// Statement is an account as of the last entry of its ledger. All amounts are exact.
type Statement struct {
	Account string `json:"account"`
	Status  Status `json:"status"`
	Terms
	Opened   string      `json:"opened"` // YYYY-MM-DD, UTC
	Cap      budget.Cost `json:"cap"`    // nothing for a rehearsal
	Spent    budget.Cost `json:"spent"`
	Reserved budget.Cost `json:"reserved"`
	Left     budget.Cost `json:"left"`     // Cap - Spent - Reserved; nothing for a rehearsal
	Releases []Posting   `json:"releases"` // in the order of their first reservation
	Entries  int64       `json:"entries"`  // in the whole ledger
	Head     string      `json:"head"`     // hash of the last of them
}

// Posting is one release of a Statement.
type Posting struct {
	Release  string      `json:"release"`
	PlanHash string      `json:"plan_hash"`
	Cost     budget.Cost `json:"cost"`
	State    State       `json:"state"` // a Cancelled one costs nothing
	Date     string      `json:"date"`  // YYYY-MM-DD, UTC, on which it came into that state
}

// statement tells of one account. Errors: *NoAccount.
func (b *book) statement(name string) (Statement, error) {
	a := b.accounts[name]
	if a == nil {
		return Statement{}, &NoAccount{Ledger: b.ledger, Account: name}
	}
	limit, err := a.limit()
	var left budget.Cost
	if err == nil && a.status != Rehearsal {
		left, err = a.total.left(limit)
	}
	if err != nil {
		return Statement{}, fmt.Errorf("ledger %s, account %s: %w", b.ledger, name, err)
	}
	s := Statement{Account: name, Status: a.status, Terms: a.policy.Terms, Opened: a.opened, Entries: b.sequence, Head: b.head.String(),
		Cap: normal(limit), Spent: normal(a.total.spent), Reserved: normal(a.total.reserved), Left: normal(left)}
	for _, p := range a.postings {
		s.Releases = append(s.Releases, Posting{Release: p.charge.Release, PlanHash: p.charge.PlanHash, Cost: normal(p.charge.Cost), State: p.state, Date: p.date})
	}
	return s, nil
}

// String renders the page, in plain text.
func (s Statement) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Privacy account %s: %s\n", s.Account, s.Status.words())
	fmt.Fprintf(&b, "Protects each %s; neighbouring tables differ by %s. Opened %s.\n\n", s.Protects, s.neighboursInWords(), s.Opened)
	s.writeBalance(&b)
	b.WriteString("\n")
	s.writeReleases(&b)
	fmt.Fprintf(&b, "\nAs of entry %d of the ledger, head %s.\n", s.Entries, s.Head)
	b.WriteString("This ledger has no witness: a rollback of its file to an older copy cannot be detected.\n")
	b.WriteString("Keep the entry number and the head above elsewhere, in the minutes for instance: an older copy ends before that entry.\n")
	return b.String()
}

func (s Statement) neighboursInWords() string {
	if s.Neighbours == Replace {
		return "one " + s.Protects + " replaced by another"
	}
	return "one " + s.Protects + " added or removed"
}

// writeBalance writes cap, spent, reserved and left, each with its share of the cap.
func (s Statement) writeBalance(b *strings.Builder) {
	w := tabwriter.NewWriter(b, 0, 0, 3, ' ', 0)
	row := func(name string, c budget.Cost, up bool) {
		fmt.Fprintf(w, "%s\t%s", name, inWords(c, s.Cap.Delta != nil))
		if share := shareOf(c, s.Cap, up); share != "" {
			fmt.Fprintf(w, "\t%s", share)
		}
		fmt.Fprintln(w)
	}
	if s.Status == Rehearsal {
		fmt.Fprintln(w, "cap\tnone")
	} else {
		row("cap", s.Cap, true)
	}
	row("spent", s.Spent, true)
	row("reserved", s.Reserved, true)
	if s.Status != Rehearsal {
		row("left", s.Left, false)
	}
	w.Flush()
}

// shareOf is c in percent of limit, in the main amount, rounded to one place against the account's favour.
func shareOf(c, limit budget.Cost, up bool) string {
	part, whole := c.Epsilon, limit.Epsilon
	if whole == nil {
		part, whole = c.Rho, limit.Rho
	}
	if part == nil || whole == nil {
		return ""
	}
	permille := new(big.Rat).Quo(part, whole)
	permille.Mul(permille, big.NewRat(1000, 1))
	tenths := new(big.Int).Quo(permille.Num(), permille.Denom())
	if up && !permille.IsInt() {
		tenths.Add(tenths, big.NewInt(1))
	}
	return new(big.Rat).SetFrac(tenths, big.NewInt(10)).FloatString(1) + " %"
}

// writeReleases writes one line a release.
func (s Statement) writeReleases(b *strings.Builder) {
	if len(s.Releases) == 0 {
		b.WriteString("No release has asked anything of it.\n")
		return
	}
	w := tabwriter.NewWriter(b, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "date\tstate\tcost\tplan\trelease")
	unfinished := false
	for _, p := range s.Releases {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", p.Date, p.State, inWords(p.Cost, false), short(p.PlanHash), p.Release)
		unfinished = unfinished || p.State == Reserved
	}
	w.Flush()
	if unfinished {
		b.WriteString("What is reserved counts against the cap until its release is finished (run it again) or cancelled.\n")
	}
}
