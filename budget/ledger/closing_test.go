package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dprelease/dprelease/budget"
)

// TestEndings walks a release through every way in which it can end.
func TestEndings(t *testing.T) {
	ctx := context.Background()
	l, _ := fresh(t, "6")
	a := charge("a", "aa", "1")
	a.Commitment = hash("11")
	var none *NoRelease
	var closed *Closed
	if err := l.Finish(ctx, a, hash("5e")); !errors.As(err, &none) {
		t.Fatalf("finished before its debit: %v", err)
	}
	assertSays(t, l.Finish(ctx, a, hash("5e")),
		"release a is not debited, as it must be to be finished: account people does not hold it")
	if err := l.Withdraw(ctx, "people", "a", "x"); !errors.As(err, &none) {
		t.Fatalf("withdrawn before it was there: %v", err)
	}
	first := debit(t, l, a)
	assertSays(t, l.Withdraw(ctx, "people", "a", "x"), "release a is not finished", "account people has it as debited")
	if err := l.Finish(ctx, a, "5e"); err == nil {
		t.Error("finished without a seal")
	}
	must(t, l.Finish(ctx, a, hash("5e")))
	must(t, l.Finish(ctx, a, hash("5e")))
	err := l.Finish(ctx, a, hash("5f"))
	if !errors.As(err, &closed) {
		t.Fatalf("finished with another seal: %v", err)
	}
	assertSays(t, err, "with other measurements (seal 5e0000000000, these have 5f0000000000)", "must not be published")
	if err := l.Reserve(ctx, a); !errors.As(err, &closed) {
		t.Errorf("Reserve of a finished release: %v; want *Closed", err)
	}
	if r, err := l.Debit(ctx, a); !errors.As(err, &closed) || r.Valid() {
		t.Errorf("Debit of a finished release: %v, %v; want *Closed", r, err)
	}
	assertSays(t, err, "cannot be drawn again")
	must(t, l.Cancel(ctx, a))
	if day, err := l.Debited(ctx, a); err != nil || day != first.Record().Date {
		t.Errorf("Debited: %q, %v", day, err)
	}
	must(t, l.Withdraw(ctx, "people", "a", "The weights were wrong."))
	must(t, l.Withdraw(ctx, "people", "a", "again"))
	assertSays(t, errOf(l.Debit(ctx, a)), "withdrawn on 2026-03-02 (The weights were wrong.)", "stays spent",
		"give the release a new name")
	if err := l.Contains(ctx, first.Record()); err != nil {
		t.Error(err)
	}

	b := charge("b", "bb", "1")
	must(t, l.Reserve(ctx, b))
	must(t, l.Abandon(ctx, "people", "b", "Not asked for any more."))
	must(t, l.Abandon(ctx, "people", "b", "again"))
	assertBalance(t, l, "1", "0", "5")
	must(t, l.Reserve(ctx, charge("b", "b2", "2"))) // the name is free again
	must(t, l.Cancel(ctx, charge("b", "b2", "2")))
	debit(t, l, b)
	if p := show(t, l).Releases[1]; p.State != Debited || p.Reason != "" {
		t.Errorf("the release that was begun again is %+v", p)
	}
	must(t, l.Abandon(ctx, "people", "b", "The disk with its key is lost."))
	must(t, l.Abandon(ctx, "people", "b", "again"))
	assertBalance(t, l, "2", "0", "4")
	for what, err := range map[string]error{"Reserve": l.Reserve(ctx, b), "Debit": errOf(l.Debit(ctx, b)),
		"Finish": l.Finish(ctx, b, hash("5e"))} {
		if !errors.As(err, &closed) {
			t.Errorf("%s of an abandoned release: %v; want *Closed", what, err)
		}
	}
	var taken *NameTaken
	if err := l.Reserve(ctx, charge("b", "b2", "2")); !errors.As(err, &taken) {
		t.Errorf("the name of an abandoned release: %v; want *NameTaken", err)
	}
	for _, reason := range []string{"", " ", "two\nlines", strings.Repeat("x", maxTextBytes+1)} {
		if l.Abandon(ctx, "people", "b", reason) == nil ||
			errOfComparison(l.Compared(ctx, "people", "b", reason)) == nil {
			t.Errorf("the reason %.20q passes", reason)
		}
	}
	states := map[string][]State{}
	for _, p := range show(t, l).Releases {
		states[p.Release] = append(states[p.Release], p.State)
	}
	if !slices.Equal(states["a"], []State{Withdrawn}) || !slices.Equal(states["b"], []State{Abandoned, Cancelled}) {
		t.Errorf("states %v", states)
	}
	must(t, l.Verify(ctx))
}

func errOf(_ Receipt, err error) error { return err }

func errOfComparison(_ Comparison, err error) error { return err }

// TestCorrects checks that a correction is a new release, of one that was finished on the same account.
func TestCorrects(t *testing.T) {
	ctx := context.Background()
	l, _ := fresh(t, "6")
	old, fix := charge("old", "aa", "1"), charge("fix", "bb", "1")
	fix.Corrects = "old"
	debit(t, l, old)
	assertSays(t, l.Reserve(ctx, fix),
		"release old is not finished, as it must be to be corrected by release fix: account people has it as debited")
	must(t, l.Finish(ctx, old, hash("5e")))
	must(t, l.Withdraw(ctx, "people", "old", "Wrong weights."))
	r := debit(t, l, fix)
	if r.Record().Corrects != "old" || r.Record().Check() != nil {
		t.Errorf("record %+v, %v", r.Record(), r.Record().Check())
	}
	fix.Corrects = ""
	assertSays(t, l.Reserve(ctx, fix), "another release to correct")
	assertBalance(t, l, "2", "0", "4")
}

// TestRecordCheck changes every field of a record: each change contradicts the entry in its proof.
func TestRecordCheck(t *testing.T) {
	l, o, _ := atOffice(t)
	must(t, errOfComparison(l.Compared(context.Background(), "quarter", "earlier", "Coverage of the intervals.")))
	c := o.charge("quarter", "a", "1/8")
	c.FurtherAccounts = []string{"other"}
	r := debit(t, l, c).Record()
	must(t, r.Check())
	if r.Number != 1 || r.Comparisons != 1 || r.Witnessed || r.Proof.Office != o.key.Public() ||
		!slices.Equal(r.FurtherAccounts, []string{"other"}) || r.Template != hash("7e") {
		t.Errorf("record %+v", r)
	}
	text, err := json.Marshal(r)
	must(t, err)
	for name, change := range map[string]func(*Record){
		"account": func(r *Record) { r.Account = "register" }, "release": func(r *Record) { r.Release = "b" },
		"plan_hash": func(r *Record) { r.PlanHash = hash("aa") },
		"status":    func(r *Record) { r.Status = Practice }, "terms": func(r *Record) { r.Neighbours = Replace },
		"cost": func(r *Record) { r.Cost = rho("1/9") },
		"date": func(r *Record) { r.Date = "2026-03-04" }, "number": func(r *Record) { r.Number = 2 },
		"also":     func(r *Record) { r.FurtherAccounts = nil },
		"corrects": func(r *Record) { r.Corrects = "x" }, "template": func(r *Record) { r.Template = "" },
		"comparisons":      func(r *Record) { r.Comparisons = 0 },
		"witnessed":        func(r *Record) { r.Witnessed = true },
		"approvals":        func(r *Record) { r.Approvals = r.Approvals[:1] },
		"body":             func(r *Record) { r.Proof.Body = strings.Replace(r.Proof.Body, "1/8", "1/9", 1) },
		"sealed":           func(r *Record) { r.Proof.Sealed = hash("aa") },
		"previous":         func(r *Record) { r.Proof.Previous = hash("aa") },
		"hash":             func(r *Record) { r.Proof.Hash = hash("aa") },
		"signature":        func(r *Record) { r.Proof.Signature = "" },
		"office":           func(r *Record) { r.Proof.Office = o.officer.Public() },
		"hash in capitals": func(r *Record) { r.Proof.Hash = strings.ToUpper(r.Proof.Hash) },
	} {
		var changed Record
		must(t, json.Unmarshal(text, &changed))
		must(t, changed.Check())
		change(&changed)
		if err := changed.Check(); err == nil {
			t.Errorf("another %s passes", name)
		}
		if err := l.Contains(context.Background(), changed); err == nil {
			t.Errorf("the ledger contains a debit with another %s", name)
		}
	}
	if err := l.Contains(context.Background(), r); err != nil {
		t.Error(err)
	}
	elsewhere, _, _ := atOffice(t)
	err = elsewhere.Contains(context.Background(), r)
	if !errors.Is(err, ErrTampered) {
		t.Errorf("another ledger contains it: %v", err)
	}
	assertSays(t, err, "is an older copy, or another ledger: it does not hold the debit of release a (hash "+
		r.Proof.Hash[:12]+")")
}

// TestAllowances checks that each period has its own sums, and that the day of the reservation decides the period.
func TestAllowances(t *testing.T) {
	for day, want := range map[string][3]string{"2026-01-01": {"2026", "2026-Q1", "2026-01"},
		"2026-03-31": {"2026", "2026-Q1", "2026-03"}, "2026-04-01": {"2026", "2026-Q2", "2026-04"},
		"2026-09-30": {"2026", "2026-Q3", "2026-09"}, "2026-10-01": {"2026", "2026-Q4", "2026-10"},
		"2027-12-31": {"2027", "2027-Q4", "2027-12"}} {
		if got := [3]string{Year.periodOf(day), Quarter.periodOf(day), Month.periodOf(day)}; got != want {
			t.Errorf("%s lies in %v; want %v", day, got, want)
		}
	}
	ctx := context.Background()
	path := t.TempDir() + "/ledger.db"
	l := open(t, path)
	now := time.Date(2026, 3, 31, 23, 59, 0, 0, time.UTC)
	l.now = func() time.Time { return now }
	p := capped("6")
	p.Allowance = &Allowance{Quarter, epsilon("1")}
	must(t, l.Init(ctx, p))
	must(t, l.Reserve(ctx, charge("a", "aa", "3/4")))
	err := l.Reserve(ctx, charge("b", "bb", "1/2"))
	var refused *Refused
	if !errors.As(err, &refused) || refused.Period != "2026-Q1" || !refused.Left.Equal(epsilon("1/4")) {
		t.Fatalf("got %v; want *Refused in 2026-Q1", err)
	}
	assertSays(t, err, "account people refuses release b: it asks for ε = 0.5, and ε = 0.25 is left in 2026-Q1.",
		"Used of the allowance for 2026-Q1 of ε = 1: ε = 0 is spent, and ε = 0.75 is reserved", "at most ε = 0.25.")
	must(t, l.Reserve(ctx, charge("b", "bb", "1/4")))
	assertSays(t, l.Reserve(ctx, charge("c", "cc", "1/1000")), "The account admits no further release in 2026-Q1.")
	now = now.Add(2 * time.Minute)
	debit(t, l, charge("a", "aa", "3/4")) // counts in the quarter it was reserved in
	debit(t, l, charge("d", "dd", "1"))
	must(t, l.Cancel(ctx, charge("b", "bb", "1/4")))
	s := show(t, l)
	if len(s.Periods) != 2 || s.Periods[0].Period != "2026-Q1" || !s.Periods[0].Spent.Equal(epsilon("3/4")) ||
		!s.Periods[0].Left.Equal(epsilon("1/4")) ||
		s.Periods[1].Period != "2026-Q2" || !s.Periods[1].Left.IsZero() {
		t.Errorf("periods %+v", s.Periods)
	}
	assertSays(t, errors.New(s.String()),
		"Each quarter may use ε = 1, by the day of the reservation; what one leaves does not carry over.",
		"quarter   spent      reserved   left\n2026-Q1   ε = 0.75   ε = 0      ε = 0.25\n"+
			"2026-Q2   ε = 1      ε = 0      ε = 0\n")
}

// TestClock checks that days never go back: a clock that is slightly before midnight writes the later day, and any
// other clock behind the last entry must be set.
func TestClock(t *testing.T) {
	ctx := context.Background()
	l, _ := fresh(t, "6") // on 2026-03-02
	at := func(text string) {
		now, err := time.Parse(time.RFC3339, text)
		must(t, err)
		l.now = func() time.Time { return now }
	}
	at("2026-03-01T23:59:59Z")
	if r := debit(t, l, charge("a", "aa", "1")); r.Record().Date != "2026-03-02" {
		t.Errorf("a clock a second behind dates %s; want 2026-03-02", r.Record().Date)
	}
	at("2026-02-28T23:59:59Z")
	assertSays(t, l.Reserve(ctx, charge("b", "bb", "1")), "its last entry is of 2026-03-02",
		"the clock of this machine says 2026-02-28", "set the clock")
	at("2026-03-02T00:30:00+01:00") // still the first of March in UTC
	if r := debit(t, l, charge("b", "bb", "1")); r.Record().Date != "2026-03-02" {
		t.Errorf("dates %s; want 2026-03-02", r.Record().Date)
	}
	must(t, l.Verify(ctx))
}

// One entry of a wrong clock must not stop an account: requests that spend nothing continue, and no clock dates an
// entry far ahead without confirmation.
func TestAWrongClock(t *testing.T) {
	ctx := context.Background()
	path := t.TempDir() + "/ledger.db"
	l := open(t, path)
	at := func(day string) {
		now, err := time.Parse(dayLayout, day)
		must(t, err)
		l.now = func() time.Time { return now }
	}
	at("2026-03-02")
	l.today = "2026-03-03"
	assertSays(t, l.Init(ctx, capped("6")), "says 2026-03-02, and you that it is 2026-03-03")
	l.today = "2001-01-01"
	must(t, l.Init(ctx, capped("6")))
	l.today = ""
	for _, name := range []string{"a", "b", "c"} {
		must(t, l.Reserve(ctx, charge(name, "aa", "1")))
	}
	first := debit(t, l, charge("d", "aa", "1"))
	must(t, l.Finish(ctx, charge("d", "aa", "1"), hash("5e")))
	debit(t, l, charge("e", "aa", "1"))

	for _, day := range []string{"2076-03-02", "2027-04-07", "2026-02-28", "1970-01-01"} {
		at(day)
		for what, err := range map[string]error{"Reserve": l.Reserve(ctx, charge("f", "aa", "1")),
			"Debit":            errOf(l.Debit(ctx, charge("c", "aa", "1"))),
			"Grant":            l.Grant(ctx, Grant{Account: "people", Amount: epsilon("1"), Reason: "More."}),
			"Reserve too much": l.Reserve(ctx, charge("f", "aa", "100")),
			"Init":             l.Init(ctx, Policy{Account: "other", Terms: person, Cap: epsilon("1")})} {
			if err == nil {
				t.Errorf("%s on %s after 2026-03-02 is written", what, day)
				continue
			}
			assertSays(t, err, "its last entry is of 2026-03-02", "the clock of this machine says "+day,
				"nothing was written")
		}
		must(t, l.Reserve(ctx, charge("a", "aa", "1"))) // which is reserved: nothing is written
		debit(t, l, charge("e", "aa", "1"))
	}
	at("2076-03-02")
	must(t, l.Cancel(ctx, charge("a", "aa", "1")))
	must(t, l.Abandon(ctx, "people", "b", "No longer needed."))
	must(t, l.Finish(ctx, charge("e", "aa", "1"), hash("5f")))
	must(t, l.Withdraw(ctx, "people", "d", "Counted twice."))
	must(t, errOfComparison(l.Compared(ctx, "people", "e", "To see.")))
	for _, p := range show(t, l).Releases {
		if p.Date != first.Record().Date {
			t.Errorf("%s is %s since %s; want the last day that is not in doubt", p.Release, p.State, p.Date)
		}
	}

	// An office that paused for long says which day it is.
	l.today = "2027-03-01"
	assertSays(t, l.Reserve(ctx, charge("f", "aa", "1")), "--today 2076-03-02")
	at("2026-12-31")
	assertSays(t, l.Reserve(ctx, charge("f", "aa", "1")), "says 2026-12-31, and you that it is 2027-03-01")
	at("2027-03-01")
	if got := debit(t, l, charge("f", "aa", "1")).Record().Date; got != "2027-03-01" {
		t.Errorf("debited on %s", got)
	}
	l.today = ""
	at("2028-04-04") // 400 days on
	debit(t, l, charge("c", "aa", "1"))
	must(t, l.Verify(ctx))
	_, err := Open(ctx, path, OpenOptions{Today: "1.3.2027"})
	assertSays(t, err, "today is given as", "YYYY-MM-DD")
}

// TestTree checks that a refusal names the account above that refuses, and that the page of each account names its
// parent and children.
func TestTree(t *testing.T) {
	ctx := context.Background()
	l, o, _ := atOffice(t)
	debit(t, l, o.charge("register", "big", "9/10"))
	err := l.Reserve(ctx, o.charge("quarter", "a", "1/4"))
	var refused *Refused
	if !errors.As(err, &refused) || refused.Account != "register" || refused.ChargedTo != "quarter" {
		t.Fatalf("got %v; want *Refused by the register", err)
	}
	assertSays(t, err, "account register refuses release a (charged to quarter, which counts here too): it asks for "+
		"ρ = 0.25 and δ = 0, and ρ = 0.1 and δ = 0.000001 is left.")
	r := debit(t, l, o.charge("quarter", "a", "1/10"))
	if r.Record().Number != 1 {
		t.Errorf("debit %d of the quarter; want 1", r.Record().Number)
	}
	if n := debit(t, l, with3(o.charge("other", "a", "1/20"), func(c *Charge) { c.PlanHash = hash("0a") })).Record().
		Number; n != 1 {
		t.Errorf("debit %d of the other account; want 1: the same name on another account is another release", n)
	}
	s, err := l.Show(ctx, "register")
	must(t, err)
	if !s.Spent.Equal(rho("1")) || len(s.Releases) != 2 || s.Releases[1].Account != "quarter" {
		t.Errorf("the register says %+v", s)
	}
	assertSays(t, errors.New(s.String()), "Above quarter: what is reserved or spent there counts here too.",
		"a (on quarter)")
	q, err := l.Show(ctx, "quarter")
	must(t, err)
	assertSays(t, errors.New(q.String()), "Below register: what is reserved or spent here counts there too.",
		"Every plan, and every grant, is signed in each of these roles",
		"\nofficer         "+o.officer.Public().Fingerprint(),
		"Every entry is signed by the office's key, fingerprint "+
			o.key.Public().Fingerprint())
	var noParent *NoParent
	if err := l.Init(ctx, Policy{Account: "x", Terms: zcdp, Cap: rho("1"), Parent: "zz"}); !errors.As(err, &noParent) {
		t.Errorf("got %v; want *NoParent", err)
	}
	err = l.Init(ctx, Policy{Account: "x", Terms: zcdp, Cap: rho("1"), Parent: "pure"})
	assertSays(t, err, "account x cannot lie below pure, which is counted otherwise (protects person, neighbours "+
		"add-remove, cap ε = 1, official)")
}

// TestAlso checks that a release of two data sets counts in both accounts and once in each account above both.
func TestAlso(t *testing.T) {
	ctx := context.Background()
	l, o, _ := atOffice(t)
	c := o.charge("quarter", "a", "1/8")
	c.FurtherAccounts = []string{"register", "other"}
	r := debit(t, l, c)
	again := c
	again.FurtherAccounts = []string{"other", "register"}
	if debit(t, l, again).Record().Proof != r.Record().Proof {
		t.Error("accounts in another order are another debit")
	}
	for name, want := range map[string]string{"quarter": "1/8", "other": "1/8", "register": "1/8"} {
		if s, err := l.Show(ctx, name); err != nil || !s.Spent.Equal(rho(want)) {
			t.Errorf("%s has spent %v (%v); want %s", name, s.Spent, err, want)
		}
	}
	if s, err := l.Show(ctx, "pure"); err != nil || !s.Spent.IsZero() {
		t.Errorf("an account that is not read has spent %v", s.Spent)
	}
	var taken *NameTaken
	if err := l.Reserve(ctx, o.charge("other", "a", "1/8")); !errors.As(err, &taken) || taken.Account != "other" {
		t.Errorf("got %v; want *NameTaken: the name is unique in each account", err)
	}
	c.FurtherAccounts = nil
	assertSays(t, l.Reserve(ctx, c), "with other accounts")

	must(t, l.InitPractice(ctx, Policy{Account: "practice", Terms: zcdp, Cap: rho("9")}))
	mixed := o.charge("other", "mixed", "1/100")
	mixed.FurtherAccounts = []string{"practice"}
	assertSays(t, l.Reserve(ctx, mixed), "charge it to accounts of one kind")
	mixed.Account, mixed.FurtherAccounts = "practice", []string{"other"}
	assertSays(t, l.Reserve(ctx, mixed), "charge it to accounts of one kind")

	// A comparison below counts above, and not beside.
	must(t, errOfComparison(l.Compared(ctx, "quarter", "a", "Coverage.")))
	for name, want := range map[string]int64{"quarter": 1, "register": 1, "other": 0} {
		if s, err := l.Show(ctx, name); err != nil || s.Comparisons != want {
			t.Errorf("%s counts %d comparisons (%v); want %d", name, s.Comparisons, err, want)
		}
	}
}

// TestHistory checks the entries in words, including those that count in an account because they were made below it.
func TestHistory(t *testing.T) {
	ctx := context.Background()
	l, o, _ := atOffice(t)
	c := o.charge("quarter", "a", "1/8")
	debit(t, l, c)
	must(t, l.Finish(ctx, c, hash("5e")))
	must(t, l.Withdraw(ctx, "quarter", "a", "Wrong weights."))
	must(t, errOfComparison(l.Compared(ctx, "other", "b", "Coverage.")))
	must(t, l.Grant(ctx, Grant{Account: "other", Amount: rho("1/8"), Reason: "More."}))
	all, err := l.History(ctx, "")
	must(t, err)
	words := func(events []Event) string {
		var b strings.Builder
		for _, e := range events {
			fmt.Fprintf(&b, "%d %s %s %s: %s\n", e.Entry, e.Time, e.Account, e.Release, e.What)
		}
		return b.String()
	}
	signed := "approved by methodologist " + o.methods.Public().Fingerprint() + ", officer " +
		o.officer.Public().Fingerprint()
	want := `5 2026-03-05T01:00:00Z quarter a: reserved ρ = 0.125 (plan ` + c.PlanHash[:12] + `), ` + signed + `
6 2026-03-05T01:00:00Z quarter a: debited ρ = 0.125 (plan ` + c.PlanHash[:12] + `), ` + signed + `
7 2026-03-05T01:00:00Z quarter a: finished: its measurements are durable (seal 5e0000000000)
8 2026-03-05T01:00:00Z quarter a: withdrawn: Wrong weights.
9 2026-03-05T01:00:00Z other b: results were compared with the truth: Coverage.
10 2026-03-05T01:00:00Z other : ρ = 0.125 granted: More.
`
	if got := words(all[4:]); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	assertSays(t, errors.New(all[1].What),
		"opened: protects person, neighbours add-remove, cap ρ = 0.5 and δ = 0.000001, official, below register, ρ = "+
			"0.375 and δ = 0.0000001 a month, approved by methodologist and officer")
	above, err := l.History(ctx, "register")
	must(t, err)
	if len(above) != 5 || above[1].Account != "quarter" || above[4].Entry != 8 {
		t.Errorf("the register's history is\n%s", words(above))
	}
	var none *NoAccount
	if _, err := l.History(ctx, "zz"); !errors.As(err, &none) {
		t.Errorf("got %v; want *NoAccount", err)
	}
}

// TestJoint compares the figure with the composition of the same mechanisms, or with the conversion of their ρ if there
// are too many to compose.
func TestJoint(t *testing.T) {
	a := &account{}
	post := func(state State, mechanisms ...Repeated) {
		a.charges = append(a.charges, &recordedCharge{state: state, charge: Charge{Mechanisms: mechanisms}})
	}
	if a.jointPlan() != nil {
		t.Error("an account that has spent nothing has a joint plan")
	}
	post(Finished, Repeated{3, gaussian(50)})
	post(Withdrawn, Repeated{1, gaussian(50)}, Repeated{2, gaussian(90)})
	post(Reserved, Repeated{1, gaussian(1)})
	post(Cancelled, Repeated{1, gaussian(1)})
	loss, err := budget.Compose(gaussian(50), gaussian(50), gaussian(50), gaussian(50), gaussian(90), gaussian(90))
	must(t, err)
	j := a.jointPlan()
	if j.Releases != 2 || len(j.At) != 2 {
		t.Fatalf("joint plan %+v", j)
	}
	for _, at := range j.At {
		bound, err := loss.EpsilonAt(rat(at.Delta))
		must(t, err)
		told, _ := rat(at.Epsilon).Float64()
		if told < bound.Value || told > bound.Value*1.000001 {
			t.Errorf("ε %s at δ %s; want %v rounded up", at.Epsilon, at.Delta, bound.Value)
		}
	}
	assertSays(t, errors.New(j.String()), "Planned together, these releases would have cost at most ε = "+
		j.At[0].Epsilon+
		" at δ = 1e-6", "the account adds up the cost of each")
	fine, _ := rat(j.At[0].Epsilon).Float64()
	a.charges[0].charge.Cost.Delta = rat("1e-7") // of a selection
	reserved := a.jointPlan()
	bound, err := loss.EpsilonAt(rat("9e-7"))
	must(t, err)
	if told, _ := rat(reserved.At[0].Epsilon).Float64(); len(reserved.At) != 1 || told < bound.Value ||
		told > bound.Value*1.000001 {
		t.Errorf("where a selection has a δ of 1e-7: %+v; want %v at 1e-6 alone", reserved, bound.Value)
	}
	a.charges[0].charge.Cost.Delta = nil
	for i := range int64(maxDistinct) {
		post(Debited, Repeated{1, gaussian(1_000_000 + i)})
	}
	coarse, _ := rat(a.jointPlan().At[0].Epsilon).Float64()
	if coarse < fine || coarse > 1.2*fine {
		t.Errorf("by the sum of ρ ε is %v; want a little above %v", coarse, fine)
	}
	assertSays(t, errors.New(a.jointPlan().String()), "computed from the sum of all ρ", "a looser bound than the ε "+
		"in each release's own report")
	post(Debited)
	assertSays(t, errors.New(a.jointPlan().String()),
		"is not known: of 35 releases debited, 1 came without a list of mechanisms")
}

// TestManyChildrenOneCap debits two accounts from four handles at once until their parent refuses: exactly its cap is
// spent, and all accounts agree.
func TestManyChildrenOneCap(t *testing.T) {
	atEveryPlace(t, func(t *testing.T, place string) {
		ctx := context.Background()
		l := freshAt(t, place, "12")
		for _, name := range []string{"east", "west"} {
			p := capped("9")
			p.Account, p.Parent = name, "people"
			must(t, l.Init(ctx, p))
		}
		var wait sync.WaitGroup
		for g := range 4 {
			own := openAt(t, place)
			wait.Add(1)
			go func() {
				defer wait.Done()
				for i := range 5 {
					c := charge(fmt.Sprintf("r%d-%d", g, i), "aa", "1")
					c.Account = []string{"east", "west"}[g%2]
					_, err := own.Debit(ctx, c)
					var refused *Refused
					if err != nil && !errors.As(err, &refused) {
						t.Error(err)
					}
				}
			}()
		}
		wait.Wait()
		sum := epsilon("0")
		for _, name := range []string{"east", "west"} {
			s, err := l.Show(ctx, name)
			must(t, err)
			sum, err = sum.Add(s.Spent.Cost)
			must(t, err)
		}
		if s := show(t, l); !s.Spent.Equal(epsilon("12")) || !sum.Equal(epsilon("12")) || !s.Left.IsZero() {
			t.Errorf("above %v is spent and %v left, below %v; want 12", s.Spent, s.Left, sum)
		}
		must(t, l.Verify(ctx))
	})
}

// TestOddDenominators checks that amounts with coprime denominators are refused before their sums take long, even if
// they add up to an integer until one of them is given back.
func TestOddDenominators(t *testing.T) {
	ctx := context.Background()
	l := &Ledger{store: &shelf{}, now: time.Now}
	must(t, l.Init(ctx, capped("1000")))
	// 1/n or 1 - 1/n for n of 500 bits without a common factor, but for small ones
	odd := func(i int64, rest bool) budget.Cost {
		n := new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), 499), big.NewInt(2*i+1))
		r := new(big.Rat).SetFrac(big.NewInt(1), n)
		if rest {
			r.Sub(big.NewRat(1, 1), r)
		}
		return budget.Cost{Epsilon: r}
	}
	admitted, refused := int64(0), error(nil)
	for ; admitted < 100 && refused == nil; admitted++ {
		for _, rest := range []bool{false, true} {
			c := charge(fmt.Sprintf("r%d-%v", admitted, rest), "aa", "1")
			c.Cost = odd(admitted, rest)
			refused = errors.Join(refused, l.Reserve(ctx, c))
		}
	}
	assertSays(t, refused, "has another denominator than all amounts before", "more than 8192 bits",
		"ask for a rounder amount")
	if admitted < 16 || admitted > 20 {
		t.Errorf("%d were admitted; want about 8192/500", admitted)
	}
	s := show(t, l)
	debit(t, l, charge("round", "aa", "1/4"))
	if again := show(t, l); again.Spent.Epsilon.Cmp(big.NewRat(1, 4)) != 0 || !again.Reserved.Equal(s.Reserved.Cost) {
		t.Errorf("a round amount after them: spent %v, reserved %v", again.Spent, again.Reserved)
	}
	g := Grant{Account: "people", Amount: odd(admitted, false), Reason: "More."}
	assertSays(t, l.Grant(ctx, g), "ask for a rounder amount")
}

// A delta that would reach 1 is refused like any other sum above the cap.
func TestADeltaOfOneIsRefused(t *testing.T) {
	ctx := context.Background()
	l := &Ledger{store: &shelf{}, now: time.Now}
	terms := Terms{Protects: "person", Neighbours: Replace, Definition: Rho}
	must(t, l.Init(ctx, Policy{Account: "people", Terms: terms, Cap: rhoDelta("10", "0.9")}))
	c := charge("a", "aa", "1")
	c.Terms, c.Cost = terms, rhoDelta("1", "0.6")
	must(t, l.Reserve(ctx, c))
	c.Release = "b"
	var refused *Refused
	if err := l.Reserve(ctx, c); !errors.As(err, &refused) {
		t.Errorf("δ of 0.6 twice: %v; want *Refused", err)
	}
}
