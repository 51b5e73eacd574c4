package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dprelease/dprelease/budget"
)

var person = Terms{Protects: "person", Neighbours: AddRemove, Definition: Epsilon}

func rat(text string) *big.Rat {
	r, err := budget.ParseRat(text)
	if err != nil {
		panic(err)
	}
	return r
}

func epsilon(text string) budget.Cost { return budget.Cost{Epsilon: rat(text)} }

func rho(text string) budget.Cost { return budget.Cost{Rho: rat(text)} }

func rhoDelta(r, d string) budget.Cost { return budget.Cost{Rho: rat(r), Delta: rat(d)} }

// hash returns a plan hash with the given first digits.
func hash(first string) string { return first + strings.Repeat("0", 64-len(first)) }

// charge returns a charge of ε on the account "people".
func charge(release, plan, amount string) Charge {
	return Charge{Account: "people", Release: release, PlanHash: hash(plan), Terms: person, Cost: epsilon(amount)}
}

func capped(amount string) Policy {
	return Policy{Account: "people", Terms: person, Cap: epsilon(amount)}
}

func open(t testing.TB, path string) *Ledger {
	t.Helper()
	l, err := Open(context.Background(), path, OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	l.now = func() time.Time { return time.Date(2026, 3, 1, 23, 59, 58, 7, time.FixedZone("", -3600)) }
	return l
}

// vouched returns options that confirm today's date, for tests that use the real clock on a ledger that open began on
// another day.
func vouched() OpenOptions { return OpenOptions{Today: time.Now().UTC().Format(dayLayout)} }

// fresh returns a new ledger with the account "people" under a cap in ε, and the path of its file.
func fresh(t testing.TB, limit string) (*Ledger, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := open(t, path)
	must(t, l.Init(context.Background(), capped(limit)))
	return l, path
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func debit(t testing.TB, l *Ledger, c Charge) Receipt {
	t.Helper()
	r, err := l.Debit(context.Background(), c)
	must(t, err)
	if !r.Valid() {
		t.Fatal("Debit returned an invalid receipt")
	}
	return r
}

func show(t testing.TB, l *Ledger) Statement {
	t.Helper()
	s, err := l.Show(context.Background(), "people")
	must(t, err)
	return s
}

// assertBalance compares what the account "people" has spent, reserved and left.
func assertBalance(t testing.TB, l *Ledger, spent, reserved, left string) {
	t.Helper()
	s := show(t, l)
	if !s.Spent.Equal(epsilon(spent)) || !s.Reserved.Equal(epsilon(reserved)) || !s.Left.Equal(epsilon(left)) {
		t.Errorf("spent %v, reserved %v, left %v; want %s, %s, %s", s.Spent, s.Reserved, s.Left, spent, reserved, left)
	}
}

func assertSays(t testing.TB, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error; want one that says %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
}

func TestReserveDebitCancel(t *testing.T) {
	ctx := context.Background()
	l, _ := fresh(t, "6")
	a, b := charge("a", "aa", "2"), charge("b", "bb", "1/3")
	must(t, l.Reserve(ctx, a))
	must(t, l.Reserve(ctx, a))
	assertBalance(t, l, "0", "2", "4")
	must(t, l.Cancel(ctx, a))
	must(t, l.Cancel(ctx, a))
	assertBalance(t, l, "0", "0", "6")
	must(t, l.Reserve(ctx, a))
	debit(t, l, a)
	must(t, l.Reserve(ctx, a))
	must(t, l.Cancel(ctx, a))
	assertBalance(t, l, "2", "0", "4")
	debit(t, l, b)
	assertBalance(t, l, "7/3", "0", "11/3")
	must(t, l.Cancel(ctx, charge("never", "cc", "1")))
	if s := show(t, l); s.Entries != 7 {
		t.Errorf("%d entries; want 7: what changes nothing must write nothing", s.Entries)
	}
	must(t, l.Verify(ctx))
}

func TestDebitIsIdempotent(t *testing.T) {
	l, path := fresh(t, "6")
	first := debit(t, l, charge("a", "aa", "2"))
	debit(t, l, charge("b", "bb", "2"))
	must(t, l.Close())
	again := open(t, path)
	again.now = func() time.Time { return time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC) }
	second := debit(t, again, charge("a", "aa", "2"))
	one, _ := json.Marshal(first.Record())
	two, _ := json.Marshal(second.Record())
	if string(one) != string(two) {
		t.Errorf("the same charge got two receipts:\n%s\n%s", one, two)
	}
	assertBalance(t, again, "4", "0", "2")
}

func TestReceipt(t *testing.T) {
	l, _ := fresh(t, "6")
	r := debit(t, l, charge("a", "aa", "2"))
	if r.Status() != Official || r.PlanHash() != hash("aa") {
		t.Errorf("receipt of an official account is %v", r)
	}
	rec := r.Record()
	if rec.Date != "2026-03-02" || rec.Number != 1 || len(rec.Proof.Hash) != 64 || len(rec.Proof.Previous) != 64 ||
		rec.Terms != person {
		t.Errorf("record %+v", rec)
	}
	text, err := json.Marshal(rec)
	must(t, err)
	for _, clock := range []string{"00:59", "23:59"} {
		if strings.Contains(string(text), clock) {
			t.Errorf("the record tells the time of day: %s", text)
		}
	}
	rec.Cost.Epsilon.SetInt64(99)
	if !r.Record().Cost.Equal(epsilon("2")) {
		t.Error("a change to a record reached its receipt")
	}
	want := "a: ε = 2 from account people on 2026-03-02 (debit 1, entry " + rec.Proof.Hash[:12] + ", official)"
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if got := fmt.Sprintf(verb, r); got != want {
			t.Errorf("%s prints %q; want %q", verb, got, want)
		}
	}
	var zero Receipt
	if zero.Valid() || zero.Status() != "" || zero.PlanHash() != "" || zero.String() != "invalid receipt" {
		t.Errorf("the zero receipt passes for one: %v", zero)
	}
}

func TestFailedDebitGivesNoReceipt(t *testing.T) {
	l, _ := fresh(t, "1")
	r, err := l.Debit(context.Background(), charge("a", "aa", "2"))
	if err == nil || r.Valid() {
		t.Errorf("Debit over the cap: receipt %v, error %v", r, err)
	}
}

func TestRefused(t *testing.T) {
	ctx := context.Background()
	l, _ := fresh(t, "6")
	debit(t, l, charge("a", "aa", "4"))
	must(t, l.Reserve(ctx, charge("b", "bb", "1")))
	err := l.Reserve(ctx, charge("c", "cc", "1.000000000001"))
	var refused *Refused
	if !errors.As(err, &refused) {
		t.Fatalf("got %v; want *Refused", err)
	}
	if refused.Account != "people" || !refused.Cap.Equal(epsilon("6")) || !refused.Spent.Equal(epsilon("4")) ||
		!refused.Reserved.Equal(epsilon("1")) || !refused.Asked.Equal(epsilon("1.000000000001")) ||
		!refused.Left.Equal(epsilon("1")) {
		t.Errorf("got %+v", refused)
	}
	assertSays(t, err, "account people refuses release c: it asks for ε = 1.000000000001, and ε = 1 is left.",
		"Used of the cap of ε = 6: ε = 4 is spent, and ε = 1 is reserved", "at most ε = 1.",
		"`dprelease ledger show people --ledger FILE`")
	must(t, l.Reserve(ctx, charge("c", "cc", "1")))
	assertSays(t, l.Reserve(ctx, charge("d", "dd", "1/1000000000000000000")), "ε = 0 is left",
		"admits no further release")
	assertBalance(t, l, "4", "2", "0")
}

func TestRefusedInRhoAndDelta(t *testing.T) {
	ctx := context.Background()
	terms := Terms{Protects: "trip", Neighbours: Replace, Definition: Rho}
	l := open(t, filepath.Join(t.TempDir(), "ledger.db"))
	must(t, l.Init(ctx, Policy{Account: "trips", Terms: terms, Cap: rhoDelta("1/2", "1e-6")}))
	must(t, l.Init(ctx, Policy{Account: "no-delta", Terms: terms, Cap: rho("1/2")}))
	on := func(account, release string, cost budget.Cost) Charge {
		return Charge{Account: account, Release: release, PlanHash: hash("aa"), Terms: terms, Cost: cost}
	}
	must(t, l.Reserve(ctx, on("trips", "a", rhoDelta("1/4", "1e-6"))))
	assertSays(t, l.Reserve(ctx, on("trips", "b", rhoDelta("1/4", "1e-30"))),
		"asks for ρ = 0.25 and δ = about 1e-30 (exactly 1/1000000000000000000000000000000)",
		"ρ = 0.25 and δ = 0 is left")
	must(t, l.Reserve(ctx, on("trips", "c", rho("1/4"))))
	var refused *Refused
	if err := l.Reserve(ctx, on("trips", "d", rho("1/1000"))); !errors.As(err, &refused) {
		t.Errorf("got %v; want *Refused", err)
	}
	assertSays(t, l.Reserve(ctx, on("no-delta", "a", rhoDelta("1/4", "1e-9"))), "ρ = 0.5 and δ = 0 is left")
	must(t, l.Reserve(ctx, on("no-delta", "a", rhoDelta("1/2", "0"))))
	must(t, l.Reserve(ctx, on("no-delta", "a", rho("1/2"))))
}

func TestTermsMismatch(t *testing.T) {
	ctx := context.Background()
	l, _ := fresh(t, "6")
	must(t, l.Init(ctx, Policy{Account: "zcdp", Terms: Terms{"person", AddRemove, Rho}, Cap: rho("1")}))
	for name, c := range map[string]struct {
		change func(*Charge)
		says   []string
	}{
		"protects": {func(c *Charge) { c.Terms.Protects = "household" },
			[]string{`"household"`, `"person"`, "`protects: person`"}},
		"neighbours": {func(c *Charge) { c.Terms.Neighbours = Replace },
			[]string{`"replace"`, `"add-remove"`, "`neighbours: add-remove`"}},
		"definition": {func(c *Charge) { c.Terms.Definition, c.Cost = Rho, rho("1") },
			[]string{`"rho"`, `"epsilon"`, "`budget: {epsilon: …}`"}},
		"cost": {func(c *Charge) { c.Cost = rho("1") }, []string{`"rho"`, `"epsilon"`}},
		"pure on zcdp": {func(c *Charge) { c.Account = "zcdp" },
			[]string{`"epsilon" in the release and "rho" in the account`,
				"a budget in rho"}},
		"cost on zcdp": {func(c *Charge) { c.Account, c.Terms.Definition = "zcdp", Rho },
			[]string{`"epsilon" in the release and "rho"`}},
	} {
		bad := charge("a", "aa", "1")
		c.change(&bad)
		err := l.Reserve(ctx, bad)
		var mismatch *TermsMismatch
		if !errors.As(err, &mismatch) {
			t.Errorf("%s: got %v; want *TermsMismatch", name, err)
			continue
		}
		assertSays(t, err, c.says...)
	}
	if s := show(t, l); s.Entries != 2 {
		t.Errorf("refused charges wrote %d entries", s.Entries-2)
	}
}

func TestInvalidCharges(t *testing.T) {
	ctx := context.Background()
	l, _ := fresh(t, "6")
	for name, change := range map[string]func(*Charge){
		"account":   func(c *Charge) { c.Account = "Some people" },
		"release":   func(c *Charge) { c.Release = "../a" },
		"long name": func(c *Charge) { c.Release = strings.Repeat("a", 101) },
		"no hash":   func(c *Charge) { c.PlanHash = "" },
		"upper":     func(c *Charge) { c.PlanHash = hash("AA") },
		"no cost":   func(c *Charge) { c.Cost = budget.Cost{} },
		"zero":      func(c *Charge) { c.Cost = epsilon("0") },
		"negative":  func(c *Charge) { c.Cost = epsilon("-1") },
		"mixed":     func(c *Charge) { c.Cost = budget.Cost{Epsilon: rat("1"), Rho: rat("1")} },
		"delta":     func(c *Charge) { c.Cost = budget.Cost{Epsilon: rat("1"), Delta: rat("1")} },
		"huge":      func(c *Charge) { c.Cost = epsilon("1/" + strings.Repeat("3", 400)) },
	} {
		c := charge("a", "aa", "1")
		change(&c)
		if _, err := l.Debit(ctx, c); err == nil {
			t.Errorf("%s: debited", name)
		}
	}
	assertBalance(t, l, "0", "0", "6")
}

func TestNoAccount(t *testing.T) {
	ctx := context.Background()
	l, _ := fresh(t, "6")
	c := charge("a", "aa", "1")
	c.Account = "others"
	_, showErr := l.Show(ctx, "others")
	_, debitErr := l.Debit(ctx, c)
	for _, err := range []error{l.Reserve(ctx, c), l.Cancel(ctx, c), debitErr, showErr} {
		var none *NoAccount
		if !errors.As(err, &none) || none.Account != "others" {
			t.Errorf("got %v; want *NoAccount", err)
			continue
		}
		assertSays(t, err, "others", "`dprelease ledger init policy.yaml`")
	}
}

func TestNameTaken(t *testing.T) {
	ctx := context.Background()
	l, _ := fresh(t, "6")
	must(t, l.Reserve(ctx, charge("a", "aa", "1")))
	other := charge("a", "bb", "1")
	var taken *NameTaken
	if err := l.Reserve(ctx, other); !errors.As(err, &taken) {
		t.Fatalf("got %v; want *NameTaken", err)
	} else {
		assertSays(t, err, "release name a is reserved", "choose a new name")
	}
	must(t, l.Cancel(ctx, charge("a", "aa", "1")))
	debit(t, l, other)
	_, err := l.Debit(ctx, charge("a", "aa", "1"))
	if !errors.As(err, &taken) || taken.TakenBy != hash("bb") {
		t.Fatalf("got %v; want *NameTaken by bb", err)
	}
	assertSays(t, err, "release name a was spent", "choose a new name")
	assertSays(t, l.Reserve(ctx, charge("a", "bb", "2")), "one plan has one cost")
	assertBalance(t, l, "1", "0", "5")
}

func TestInit(t *testing.T) {
	ctx := context.Background()
	l, _ := fresh(t, "6")
	must(t, l.Init(ctx, capped("6.0")))
	for name, err := range map[string]error{
		"cap": l.Init(ctx, capped("7")),
		"neighbours": l.Init(ctx, Policy{Account: "people", Terms: Terms{"person", Replace, Epsilon},
			Cap: epsilon("6")}),
		"unit": l.Init(ctx, Policy{Account: "people", Terms: Terms{"patient", AddRemove, Epsilon},
			Cap: epsilon("6")}),
		"definition": l.Init(ctx, Policy{Account: "people", Terms: Terms{"person", AddRemove, Rho}, Cap: rho("6")}),
		"practice":   l.InitPractice(ctx, capped("6")),
	} {
		if !errors.Is(err, ErrAccountExists) {
			t.Errorf("another %s: got %v; want ErrAccountExists", name, err)
			continue
		}
		assertSays(t, err, "people", "protects person, neighbours add-remove, cap ε = 6, official",
			"choose a new account name")
	}
	for _, bad := range []Policy{
		{},
		{Account: "people", Terms: Terms{"person", AddRemove, Rho}, Cap: epsilon("6")},
		{Account: "x", Terms: Terms{"person", "near", Epsilon}, Cap: epsilon("6")},
		{Account: "x", Terms: Terms{"", AddRemove, Epsilon}, Cap: epsilon("6")},
		{Account: "x", Terms: Terms{"a\nb", AddRemove, Epsilon}, Cap: epsilon("6")},
		{Account: "x", Terms: Terms{"person", AddRemove, "f-dp"}, Cap: epsilon("6")},
		{Account: "x", Terms: person, Cap: epsilon("0")},
		{Account: "x", Terms: Terms{"person", AddRemove, Rho}, Cap: rhoDelta("0", "1e-6")},
		{Account: "x", Terms: Terms{"person", AddRemove, Rho}, Cap: rhoDelta("1", "1")},
		{Account: "X y", Terms: person, Cap: epsilon("6")},
	} {
		if l.Init(ctx, bad) == nil {
			t.Errorf("Init accepted %+v", bad)
		}
	}
	names, err := l.Accounts(ctx)
	must(t, err)
	if len(names) != 1 || names[0] != "people" {
		t.Errorf("accounts %q", names)
	}
}

func TestPracticeAccount(t *testing.T) {
	ctx := context.Background()
	l := open(t, filepath.Join(t.TempDir(), "ledger.db"))
	must(t, l.InitPractice(ctx, capped("3")))
	must(t, l.InitPractice(ctx, capped("3")))
	if err := l.Init(ctx, capped("3")); !errors.Is(err, ErrAccountExists) {
		t.Errorf("a practice account became official: %v", err)
	}
	if r := debit(t, l, charge("a", "aa", "1")); r.Status() != Practice {
		t.Errorf("status %q; want practice", r.Status())
	}
	if page := show(t, l).String(); !strings.Contains(page, "PRACTICE, NOT A RELEASE") {
		t.Errorf("the page hides that the account is for practice:\n%s", page)
	}
	var refused *Refused
	if err := l.Reserve(ctx, charge("b", "bb", "2.1")); !errors.As(err, &refused) {
		t.Errorf("a practice account has a cap; got %v", err)
	}
}

func TestRehearsal(t *testing.T) {
	ctx := context.Background()
	l := OpenRehearsal()
	defer l.Close()
	c := charge("a", "aa", "1000")
	must(t, l.Reserve(ctx, c))
	r := debit(t, l, c)
	if r.Status() != Rehearsal || r.Record().Status != Rehearsal {
		t.Errorf("status %q; want rehearsal", r.Status())
	}
	if again := debit(t, l, c); again.String() != r.String() || again.Record().Proof.Hash != r.Record().Proof.Hash {
		t.Error("the same charge got two receipts")
	}
	var taken *NameTaken
	if err := l.Reserve(ctx, charge("a", "bb", "1")); !errors.As(err, &taken) {
		t.Errorf("got %v; want *NameTaken", err)
	}
	if err := l.Init(ctx, capped("6")); err == nil {
		t.Error("a rehearsal opened an account under a policy")
	}
	if page := show(t, l).String(); !strings.Contains(page, "REHEARSAL") || !strings.Contains(page, "cap        none") {
		t.Errorf("page:\n%s", page)
	}
	must(t, l.Verify(ctx))
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			if _, err := l.Debit(ctx, charge(fmt.Sprint("r", i%4), "cc", "1")); err != nil {
				t.Error(err)
			}
			if _, err := l.Show(ctx, "people"); err != nil {
				t.Error(err)
			}
		}()
	}
	wait.Wait()
	if s := show(t, l); !s.Spent.Equal(epsilon("1004")) {
		t.Errorf("spent %v; want 1004", s.Spent)
	}
}

func TestStatementPage(t *testing.T) {
	ctx := context.Background()
	l, _ := fresh(t, "6")
	debit(t, l, charge("labour-2026q1", "0123456789abcdef", "2"))
	must(t, l.Reserve(ctx, charge("labour-2026q2", "fedcba9876543210", "1/3")))
	must(t, l.Reserve(ctx, charge("trial", "aa", "1")))
	must(t, l.Cancel(ctx, charge("trial", "aa", "1")))
	s := show(t, l)
	want := `Privacy account people: official
Protects each person; neighbouring tables differ by one person added or removed. Opened 2026-03-02.

cap        ε = 6      100.0%
spent      ε = 2      33.4%
reserved   ε = 1/3    5.6%
left       ε = 11/3   61.1%

date         state       cost                    plan           release
2026-03-02   debited     ε = 2                   0123456789ab   labour-2026q1
2026-03-02   reserved    ε = 1/3                 fedcba987654   labour-2026q2
2026-03-02   cancelled   none; asked for ε = 1   aa0000000000   trial
What is reserved counts against the cap until its release is finished (run it again) or cancelled.
What is cancelled cost nothing: it ended before its debit, and its reservation was given back.
What is debited is spent; its release is not finished: run it again, and it resumes at no further cost.

As of entry 6 of the ledger, head ` + s.Head + `.
This ledger has no witness: a rollback of its file to an older copy cannot be detected.
Keep the entry number and the head above elsewhere, in the minutes for instance: an older copy ends before that entry.
`
	if got := s.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	text, err := json.Marshal(s)
	must(t, err)
	if !strings.Contains(string(text), `"left":{"epsilon":"11/3","epsilon_number":3.6666666666666665}`) ||
		!strings.Contains(string(text), `"protects":"person"`) {
		t.Errorf("json %s", text)
	}
}

func TestEmptyStatement(t *testing.T) {
	l, _ := fresh(t, "6")
	if page := show(t, l).String(); !strings.Contains(page, "No release has asked anything of it.") {
		t.Errorf("page:\n%s", page)
	}
}

// TestManyLedgersOneCap spends a cap of 20 from 8 handles at once, 40 charges of 1 each way: exactly 20 must pass.
func TestManyLedgersOneCap(t *testing.T) {
	ctx := context.Background()
	_, path := fresh(t, "20")
	var wait sync.WaitGroup
	var lock sync.Mutex
	passed := 0
	for g := range 8 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			l, err := Open(ctx, path, vouched())
			if err != nil {
				t.Error(err)
				return
			}
			defer l.Close()
			for i := range 5 {
				_, err := l.Debit(ctx, charge(fmt.Sprintf("r%d-%d", g, i), "aa", "1"))
				var refused *Refused
				switch {
				case err == nil:
					lock.Lock()
					passed++
					lock.Unlock()
				case !errors.As(err, &refused):
					t.Error(err)
				}
			}
		}()
	}
	wait.Wait()
	if passed != 20 {
		t.Errorf("%d debits passed; want 20", passed)
	}
	l := open(t, path)
	must(t, l.Verify(ctx))
	assertBalance(t, l, "20", "0", "0")
}

// TestManyLedgersOneCharge debits one charge from 8 handles at once: one entry, one receipt.
func TestManyLedgersOneCharge(t *testing.T) {
	ctx := context.Background()
	l, path := fresh(t, "20")
	receipts := make([]Receipt, 8)
	var wait sync.WaitGroup
	for g := range receipts {
		wait.Add(1)
		go func() {
			defer wait.Done()
			own, err := Open(ctx, path, vouched())
			if err != nil {
				t.Error(err)
				return
			}
			defer own.Close()
			if receipts[g], err = own.Debit(ctx, charge("a", "aa", "1")); err != nil {
				t.Error(err)
			}
		}()
	}
	wait.Wait()
	for _, r := range receipts {
		if r.Record().Proof.Hash != receipts[0].Record().Proof.Hash || r.Record().Number != 1 {
			t.Errorf("receipts differ: %v and %v", r, receipts[0])
		}
	}
	assertBalance(t, l, "1", "0", "19")
}

// TestManyKeysOneCharge debits one charge for 8 noise keys at once: one of them may draw, the others are refused.
func TestManyKeysOneCharge(t *testing.T) {
	ctx := context.Background()
	l, path := fresh(t, "20")
	errs := make([]error, 8)
	var wait sync.WaitGroup
	for g := range errs {
		wait.Add(1)
		go func() {
			defer wait.Done()
			own, err := Open(ctx, path, vouched())
			if err != nil {
				t.Error(err)
				return
			}
			defer own.Close()
			c := charge("a", "aa", "1")
			c.Commitment = hash(fmt.Sprint(g))
			_, errs[g] = own.Debit(ctx, c)
		}()
	}
	wait.Wait()
	won := 0
	for _, err := range errs {
		var closed *Closed
		switch {
		case err == nil:
			won++
		case !errors.As(err, &closed):
			t.Error(err)
		}
	}
	if won != 1 {
		t.Errorf("%d keys got a receipt; want 1", won)
	}
	assertBalance(t, l, "1", "0", "19")
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	l, _ := fresh(t, "6")
	cancel()
	if _, err := l.Debit(ctx, charge("a", "aa", "1")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v; want context.Canceled", err)
	}
	if err := OpenRehearsal().Reserve(ctx, charge("a", "aa", "1")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v; want context.Canceled", err)
	}
	assertBalance(t, l, "0", "0", "6")
}
