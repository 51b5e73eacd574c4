package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/sign"
	"pgregory.net/rapid"
)

// shelf is a store of official accounts in memory, which checks every line again whenever it is read.
type shelf struct {
	turn  sync.Mutex
	lines []line
}

func (s *shelf) loadBook() (*book, error) {
	b := newBook("shelf")
	for _, l := range s.lines {
		if err := b.readLine(l); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (s *shelf) view(context.Context) (*book, error) {
	s.turn.Lock()
	defer s.turn.Unlock()
	return s.loadBook()
}

func (s *shelf) update(_ context.Context, change func(*book) ([]line, error)) (*book, error) {
	s.turn.Lock()
	defer s.turn.Unlock()
	b, err := s.loadBook()
	if err != nil {
		return nil, err
	}
	lines, err := change(b)
	if err != nil {
		return nil, err
	}
	s.lines = append(s.lines, lines...)
	return b, nil
}

func (s *shelf) checkStorage(context.Context) error { return nil }

func (*shelf) upgrade(context.Context) ([]string, error) { return nil, nil }
func (s *shelf) close() error                            { return nil }

// node is an account of the model. Amounts are in twelfths of ρ.
type node struct {
	limit, allowance int64 // allowance of a month; 0: none
	parent           string
	asks             bool // the role officer must approve
}

// held is a charge of the model.
type held struct {
	account, release, plan string
	also                   []string
	cost                   int64
	state                  State
	month                  int // in which it was reserved
	standing               bool
	seal                   string
}

// treeModel is a ledger that keeps only the list of charges, and computes all sums from it each time.
type treeModel struct {
	nodes   map[string]*node
	charges []*held
	granted map[string]bool
	month   int
	day     int
}

const standingReleases = 2

// above returns the accounts that a charge counts in.
func (m *treeModel) above(account string, also []string) map[string]bool {
	all := map[string]bool{}
	for _, name := range append([]string{account}, also...) {
		for ; name != ""; name = m.nodes[name].parent {
			all[name] = true
		}
	}
	return all
}

// used sums what counts in an account, in all months or in one.
func (m *treeModel) used(account string, month int) (spent, reserved int64) {
	for _, h := range m.charges {
		if !m.above(h.account, h.also)[account] || month >= 0 && h.month != month {
			continue
		}
		switch h.state {
		case Reserved:
			reserved += h.cost
		case Cancelled:
		default:
			spent += h.cost
		}
	}
	return spent, reserved
}

func (m *treeModel) find(account, release, plan string) *held {
	for _, h := range m.charges {
		if h.account == account && h.release == release && h.plan == plan && h.state != Cancelled {
			return h
		}
	}
	return nil
}

// reserve returns how Reserve must answer, and applies the reservation.
func (m *treeModel) reserve(h held, approval string) string {
	if old := m.find(h.account, h.release, h.plan); old != nil {
		switch {
		case old.cost != h.cost || !slices.Equal(old.also, h.also):
			return "other"
		case old.state != Reserved && old.state != Debited:
			return "closed"
		}
		return ""
	}
	direct := append([]string{h.account}, h.also...)
	for _, old := range m.charges {
		if old.account == h.account && old.release == h.release && old.plan == h.plan &&
			!slices.Equal(old.also, h.also) {
			return "other"
		}
	}
	for _, old := range m.charges {
		for _, name := range append([]string{old.account}, old.also...) {
			if old.state != Cancelled && old.release == h.release && slices.Contains(direct, name) {
				return "taken"
			}
		}
	}
	needs := false
	for name := range m.above(h.account, h.also) {
		needs = needs || m.nodes[name].asks
	}
	if needs {
		standing := 0
		for _, old := range m.charges {
			if old.standing && old.state != Cancelled {
				standing++
			}
		}
		if approval == "none" || approval == "standing" && (standing >= standingReleases || m.month > 2) {
			return "unapproved"
		}
		h.standing = approval == "standing"
	}
	for name := range m.above(h.account, h.also) {
		n := m.nodes[name]
		if spent, reserved := m.used(name, -1); spent+reserved+h.cost > n.limit {
			return "refused"
		}
		if spent, reserved := m.used(name, m.month); n.allowance > 0 && spent+reserved+h.cost > n.allowance {
			return "refused"
		}
	}
	h.state, h.month = Reserved, m.month
	m.charges = append(m.charges, &h)
	return ""
}

// answerOf returns an error in the words of the model.
func answerOf(err error) string {
	var (
		taken      *NameTaken
		refused    *Refused
		unapproved *Unapproved
		closed     *Closed
		none       *NoRelease
	)
	switch {
	case err == nil:
		return ""
	case errors.As(err, &taken):
		return "taken"
	case errors.As(err, &refused):
		return "refused"
	case errors.As(err, &unapproved):
		return "unapproved"
	case errors.As(err, &closed):
		return "closed"
	case errors.As(err, &none):
		return "none"
	case errors.Is(err, ErrTampered):
		return "tampered: " + err.Error()
	}
	return "other"
}

func twelfths(n int64) budget.Cost { return budget.Cost{Rho: big.NewRat(n, 12)} }

// treeLedger opens the accounts of the model.
func treeLedger(t *rapid.T, m *treeModel, officer sign.Key) *Ledger {
	l := &Ledger{store: &shelf{}}
	l.now = func() time.Time {
		now := time.Date(2026, time.Month(1+m.month), m.day, 12, 0, 0, 0, time.UTC)
		l.today = now.Format(dayLayout) // months may pass without an entry
		return now
	}
	for _, name := range []string{"register", "q1", "q2", "side"} {
		n := m.nodes[name]
		p := Policy{Account: name, Terms: Terms{"person", Replace, Rho}, Cap: twelfths(n.limit), Parent: n.parent}
		if n.allowance > 0 {
			p.Allowance = &Allowance{Month, twelfths(n.allowance)}
		}
		if n.asks {
			p.Approvals = map[string][]sign.PublicKey{"officer": {officer.Public()}}
		}
		if err := l.Init(context.Background(), p); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// TestTreeAgainstModel runs random charges on a tree of accounts, with allowances, approvals, grants and every way in
// which a charge ends, and compares them with the model.
func TestTreeAgainstModel(t *testing.T) {
	officer := newKey(t)
	standing := Approval{Plan: hash("7e"), Role: "officer", Statement: "As ever.",
		Standing: &Standing{"2026-03-31", standingReleases}}.Signed(officer)
	checks := 0
	rapid.Check(t, func(t *rapid.T) {
		if checks++; checks > mostChecks() {
			return
		}
		ctx := context.Background()
		m := &treeModel{day: 1, granted: map[string]bool{}, nodes: map[string]*node{"register": {limit: 60},
			"q1": {limit: 40, allowance: 20, parent: "register"},
			"q2": {limit: 40, parent: "register", asks: true}, "side": {limit: 30}}}
		l := treeLedger(t, m, officer)
		grants := 0
		draw := func(t *rapid.T) (held, string, Charge) {
			h := held{account: rapid.SampledFrom([]string{"q1", "q2", "side", "register"}).Draw(t, "account"),
				release: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "release"),
				plan:    rapid.SampledFrom([]string{"1", "2"}).Draw(t, "plan"),
				cost:    rapid.Int64Range(1, 15).Draw(t, "twelfths")}
			if other := rapid.SampledFrom([]string{"", "", "side", "q1", "q2"}).Draw(t, "also"); other != "" &&
				other != h.account {
				h.also = []string{other}
			}
			approval := rapid.SampledFrom([]string{"none", "plan", "standing"}).Draw(t, "approval")
			c := Charge{Account: h.account, FurtherAccounts: h.also, Release: h.release, PlanHash: hash(h.plan),
				Template: hash("7e"),
				Terms:    Terms{"person", Replace, Rho}, Cost: twelfths(h.cost)}
			switch approval {
			case "plan":
				c.Approvals = []Approval{Approval{Plan: hash("99"), Role: "officer",
					Statement: "Of another plan."}.Signed(officer),
					Approval{Plan: hash(h.plan), Role: "officer", Statement: "Read."}.Signed(officer), standing}
			case "standing":
				c.Approvals = []Approval{standing}
			}
			return h, approval, c
		}
		t.Repeat(map[string]func(*rapid.T){
			"reserve": func(t *rapid.T) {
				h, approval, c := draw(t)
				want := m.reserve(h, approval)
				if got := answerOf(l.Reserve(ctx, c)); got != want {
					t.Fatalf("Reserve answers %q; want %q", got, want)
				}
			},
			"debit": func(t *rapid.T) {
				h, approval, c := draw(t)
				want := m.reserve(h, approval)
				_, err := l.Debit(ctx, c)
				if got := answerOf(err); got != want {
					t.Fatalf("Debit answers %q (%v); want %q", got, err, want)
				}
				if want == "" {
					m.find(h.account, h.release, h.plan).state = Debited
				}
			},
			"cancel": func(t *rapid.T) {
				h, _, c := draw(t)
				if err := l.Cancel(ctx, c); err != nil {
					t.Fatal(err)
				}
				if old := m.find(h.account, h.release, h.plan); old != nil && old.state == Reserved {
					old.state = Cancelled
				}
			},
			"finish": func(t *rapid.T) {
				h, _, c := draw(t)
				seal := rapid.SampledFrom([]string{"5e", "5f"}).Draw(t, "seal")
				want := "none"
				if old := m.find(h.account, h.release, h.plan); old != nil && old.state != Reserved {
					switch {
					case old.state == Debited:
						old.state, old.seal, want = Finished, seal, ""
					case old.state == Finished && old.seal == seal:
						want = ""
					default:
						want = "closed"
					}
				}
				if got := answerOf(l.Finish(ctx, c, hash(seal))); got != want {
					t.Fatalf("Finish answers %q; want %q", got, want)
				}
			},
			"end": func(t *rapid.T) { endBeside(t, m, l) },
			"grant": func(t *rapid.T) {
				name := rapid.SampledFrom([]string{"register", "q1", "q2"}).Draw(t, "account")
				g := Grant{Account: name, Amount: twelfths(5), Reason: fmt.Sprint("need ", grants/3)} // some come again
				signed := rapid.Bool().Draw(t, "signed")
				if signed {
					g.Approvals = []Approval{Approval{Plan: g.Hash(), Role: "officer",
						Statement: "Yes."}.Signed(officer)}
				}
				key := fmt.Sprint(name, g.Reason)
				want := ""
				if !m.granted[key] && m.nodes[name].asks && !signed {
					want = "unapproved"
				}
				if got := answerOf(l.Grant(ctx, g)); got != want {
					t.Fatalf("Grant answers %q; want %q", got, want)
				}
				grants++
				if want == "" && !m.granted[key] {
					m.granted[key] = true
					m.nodes[name].limit += 5
				}
			},
			"tomorrow": func(t *rapid.T) {
				if m.day++; m.day > 3 {
					m.month, m.day = m.month+1, 1
				}
			},
			"export": func(t *rapid.T) { exportBeside(t, m, l) },
			"":       func(t *rapid.T) { compareTree(t, m, l) },
		})
	})
}

// endings are the states after Abandon (false) and Withdraw (true).
var endings = map[bool]map[State]State{
	false: {Reserved: Cancelled, Debited: Abandoned, Abandoned: Abandoned},
	true:  {Finished: Withdrawn, Withdrawn: Withdrawn},
}

// endBeside abandons or withdraws a release by its name.
func endBeside(t *rapid.T, m *treeModel, l *Ledger) {
	account := rapid.SampledFrom([]string{"q1", "q2", "side", "register"}).Draw(t, "account")
	release := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "release")
	want, ever := "none", false
	withdraw := rapid.Bool().Draw(t, "withdraw")
	for _, h := range m.charges {
		if h.release != release || !slices.Contains(append([]string{h.account}, h.also...), account) {
			continue
		}
		ever = true
		if h.state == Cancelled {
			continue
		}
		ever = false
		if to := endings[withdraw][h.state]; to != "" {
			h.state, want = to, ""
		}
		break
	}
	end := l.Abandon
	if withdraw {
		end = l.Withdraw
	} else if ever {
		want = "" // given back before
	}
	if got := answerOf(end(context.Background(), account, release, "no longer needed")); got != want {
		t.Fatalf("ending %s on %s (withdraw: %v) answers %q; want %q", release, account, withdraw, got, want)
	}
}

// exportBeside compares every statement of an export with that of the ledger.
func exportBeside(t *rapid.T, m *treeModel, l *Ledger) {
	var text bytes.Buffer
	if err := l.Export(context.Background(), &text); err != nil {
		t.Fatal(err)
	}
	export, err := ReadExport(&text)
	if err != nil {
		t.Fatal(err)
	}
	for name := range m.nodes {
		s, err := l.Show(context.Background(), name)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := export.Statement(name); err != nil || again.String() != s.String() {
			t.Fatalf("the export says of %s (%v)\n%s\nthe ledger\n%s", name, err, again, s)
		}
	}
}

// compareTree compares every statement with the sums of the model.
func compareTree(t *rapid.T, m *treeModel, l *Ledger) {
	b, err := l.store.view(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range m.nodes {
		s, err := b.statement(name)
		if err != nil {
			t.Fatal(err)
		}
		spent, reserved := m.used(name, -1)
		if spent+reserved > n.limit {
			t.Fatalf("the model itself overspends %s", name)
		}
		assertTwelfths(t, name+" spent", s.Spent.Cost, spent)
		assertTwelfths(t, name+" reserved", s.Reserved.Cost, reserved)
		assertTwelfths(t, name+" cap", s.Cap.Cost, n.limit)
		assertTwelfths(t, name+" left", s.Left.Cost, n.limit-spent-reserved)
		for _, p := range s.Periods {
			month, err := time.Parse("2006-01", p.Period)
			if err != nil {
				t.Fatal(err)
			}
			spent, reserved := m.used(name, 12*(month.Year()-2026)+int(month.Month())-1)
			assertTwelfths(t, name+" spent in "+p.Period, p.Spent.Cost, spent)
			assertTwelfths(t, name+" reserved in "+p.Period, p.Reserved.Cost, reserved)
		}
	}
}

func assertTwelfths(t *rapid.T, what string, got budget.Cost, want int64) {
	if got.Rho.Cmp(big.NewRat(want, 12)) != 0 {
		t.Fatalf("%s: %v; want %d twelfths", what, got, want)
	}
}
