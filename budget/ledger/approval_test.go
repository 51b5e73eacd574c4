package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dprelease/dprelease/budget/sign"
)

// atOffice returns a ledger file with the accounts of newOffice and a clock that the test sets.
func atOffice(t testing.TB) (*Ledger, *office, *string) {
	t.Helper()
	o := newOffice(t)
	day := new("2026-03-05")
	l, err := Open(context.Background(), filepath.Join(t.TempDir(), "ledger.db"), OpenOptions{Office: &o.key})
	must(t, err)
	t.Cleanup(func() { l.Close() })
	l.now = func() time.Time {
		d, err := time.Parse(dayLayout, *day)
		must(t, err)
		l.today = *day // months may pass without an entry
		return d.Add(time.Hour)
	}
	for _, name := range o.book.names {
		must(t, l.Init(context.Background(), o.book.accounts[name].policy))
	}
	return l, o, day
}

func TestUnapproved(t *testing.T) {
	ctx := context.Background()
	l, o, _ := atOffice(t)
	c := o.charge("quarter", "a", "1/8")
	good := c.Approvals
	stranger := newKey(t)
	for name, given := range map[string]struct {
		approvals []Approval
		says      []string
	}{
		"none": {nil, []string{"account quarter refuses release a: its plan (" + c.PlanHash[:12] +
			") is not approved by methodologist and officer.",
			"dprelease approve PLAN --role ROLE --key FILE"}},
		"one": {good[:1], []string{"is not approved by methodologist."}},
		"stranger": {[]Approval{good[0], Approval{Plan: c.PlanHash, Role: "methodologist",
			Statement: "x"}.Signed(stranger)}, []string{"approved by methodologist.", stranger.Public().Fingerprint(),
			"by a key that the account does not list"}},
		"other plan": {[]Approval{good[0], Approval{Plan: hash("99"), Role: "methodologist",
			Statement: "x"}.Signed(o.methods)}, []string{"is of another plan (990000000000)"}},
		"altered": {[]Approval{good[0], with2(good[1], func(a *Approval) { a.Statement = "I agree to anything." })},
			[]string{"is not valid"}},
		"template": {append([]Approval{Approval{Plan: hash("66"), Role: "officer", Statement: "x",
			Standing: &Standing{"2030-01-01", 3}}.Signed(o.officer)}, good[1]),
			[]string{"stands for plans of another template"}},
		"expired": {append(o.standing("2026-03-04", 3)[:1], good[1]), []string{"stood until 2026-03-04"}},
	} {
		c.Approvals = given.approvals
		err := l.Reserve(ctx, c)
		var unapproved *Unapproved
		if !errors.As(err, &unapproved) || unapproved.Account != "quarter" || len(unapproved.Missing) == 0 {
			t.Errorf("%s: got %v; want *Unapproved", name, err)
			continue
		}
		assertSays(t, err, given.says...)
	}
	// On the parent, which asks for nobody, the same plan needs no approval; beside the quarter it does.
	above := o.charge("register", "a", "1/8")
	above.Approvals = nil
	must(t, l.Reserve(ctx, above))
	beside := o.charge("other", "b", "1/8")
	beside.FurtherAccounts, beside.Approvals = []string{"quarter"}, nil
	var unapproved *Unapproved
	if err := l.Reserve(ctx, beside); !errors.As(err, &unapproved) {
		t.Errorf("a further account asks for approvals: got %v", err)
	}
	c.Approvals = append([]Approval{Approval{Plan: hash("99"), Role: "officer",
		Statement: "Another."}.Signed(o.officer)},
		good...)
	r := debit(t, l, c)
	got := r.Record().Approvals
	if len(got) != 2 || !got[0].equal(good[1]) || !got[1].equal(good[0]) {
		t.Errorf("the record carries the approvals %+v; want the two that were used", got)
	}
	must(t, r.Record().Check())
	must(t, l.Verify(ctx))
}

// TestApprovalsOfOtherPlans checks that approvals of past releases in the same folder are counted in the message and
// not listed.
func TestApprovalsOfOtherPlans(t *testing.T) {
	l, o, _ := atOffice(t)
	c := o.charge("quarter", "a", "1/8")
	c.Approvals = []Approval{c.Approvals[1], Approval{Plan: c.Template, Role: "officer", Statement: "x",
		Standing: &Standing{"2026-03-04", 3}}.Signed(o.officer)}
	for _, plan := range []string{"91", "92", "93"} {
		c.Approvals = append(c.Approvals, Approval{Plan: hash(plan), Role: "officer", Statement: "x"}.Signed(o.officer))
	}
	err := l.Reserve(context.Background(), c)
	assertSays(t, err, "is not approved by officer.", "3 approvals as officer are of other plans.",
		"stood until 2026-03-04")
	if strings.Contains(err.Error(), "of another plan") {
		t.Errorf("the message lists approvals of other plans: %v", err)
	}
}

// TestOneSignatureForTwoAccounts checks that one signature suffices for a key that both an account and its parent list.
func TestOneSignatureForTwoAccounts(t *testing.T) {
	ctx := context.Background()
	l, _ := fresh(t, "6")
	officer := newKey(t)
	for _, names := range [][2]string{{"above", ""}, {"below", "above"}} {
		p := capped("6")
		p.Account, p.Parent, p.Approvals = names[0], names[1],
			map[string][]sign.PublicKey{"officer": {officer.Public()}}
		must(t, l.Init(ctx, p))
	}
	c := charge("a", "aa", "1")
	c.Account, c.Template = "below", hash("7e")
	c.Approvals = []Approval{Approval{Plan: hash("7e"), Role: "officer", Statement: "As ever.",
		Standing: &Standing{"2026-12-31", 2}}.Signed(officer)}
	if r := debit(t, l, c); len(r.Record().Approvals) != 1 {
		t.Errorf("the record carries %d approvals; want the one", len(r.Record().Approvals))
	}
	if s, err := l.Show(ctx, "above"); err != nil || len(s.Standing) != 1 || s.Standing[0].Used != 1 {
		t.Errorf("the standing approval counts %+v (%v); want one release", s.Standing, err)
	}
}

// TestStandingApproval checks that a standing approval counts releases, recovers those cancelled or abandoned before
// their debit, and ends on its day.
func TestStandingApproval(t *testing.T) {
	ctx := context.Background()
	l, o, day := atOffice(t)
	standing := o.standing("2026-03-31", 2)
	under := func(release string) Charge {
		c := o.charge("quarter", release, "1/100")
		c.Approvals = standing
		return c
	}
	refused := func(release, says string) {
		t.Helper()
		var unapproved *Unapproved
		err := l.Reserve(ctx, under(release))
		if !errors.As(err, &unapproved) {
			t.Fatalf("got %v; want *Unapproved", err)
		}
		assertSays(t, err, says)
	}
	debit(t, l, under("a"))
	must(t, l.Reserve(ctx, under("b")))
	refused("c", "stood for 2 releases, which all hold a reservation or a debit")
	must(t, l.Cancel(ctx, under("b")))
	must(t, l.Reserve(ctx, under("c")))
	must(t, l.Abandon(ctx, "quarter", "c", "not needed"))
	must(t, l.Reserve(ctx, under("d")))
	refused("e", "stood for 2 releases")
	// The same words signed by the same person are the same approval, whatever else stands beside them.
	standing = []Approval{standing[1], o.standing("2026-03-31", 2)[0]}
	refused("e", "stood for 2 releases")
	standing = o.standing("2026-03-31", 3)
	must(t, l.Reserve(ctx, under("e")))
	*day = "2026-04-01"
	refused("f", "stood until 2026-03-31")
	debit(t, l, under("e")) // it was reserved in time
	s, err := l.Show(ctx, "quarter")
	must(t, err)
	if len(s.Standing) != 4 || s.Standing[0].Used != 2 || s.Standing[0].Releases != 2 || s.Standing[2].Used != 1 {
		t.Errorf("the statement counts %+v", s.Standing)
	}
	assertSays(t, errors.New(s.String()), "methodologist   2026-03-31   2 of 2", "officer         2026-03-31   1 of 3")
	must(t, l.Verify(ctx))
}

func TestApprovalFile(t *testing.T) {
	key := newKey(t)
	a := Approval{Plan: hash("aa"), Role: "officer", Statement: `I have read "<this>".`,
		Standing: &Standing{"2026-12-31", 4}}.Signed(key)
	must(t, a.Verify())
	want := `{"plan":"` + hash("aa") +
		`","role":"officer","statement":"I have read \"<this>\".","standing":{"until":"2026-12-31","releases":4},"signer":"` +
		key.Public().String() + `","signature":"` + a.Signature + "\"}\n"
	if string(a.Encode()) != want {
		t.Errorf("the file is\n%swant\n%s", a.Encode(), want)
	}
	read, err := ReadApproval([]byte(want))
	must(t, err)
	if !read.equal(a) {
		t.Errorf("read %+v", read)
	}
	signed := strings.TrimSuffix(strings.Split(want, `,"signature"`)[0], "\n") + "}"
	if err := key.Public().Verify("approval", []byte(signed), a.Signature); err != nil {
		t.Errorf("the signature is not over the canonical JSON of the others: %v", err)
	}
	for name, text := range map[string]string{
		"no newline": strings.TrimSuffix(want, "\n"), "two": want + want, "space": strings.Replace(want, ":", ": ", 1),
		"empty":       "",
		"unknown key": strings.Replace(want, `"role"`, `"rank":"x","role"`, 1),
		"bad key":     strings.Replace(want, "ed25519:", "ed25519:!", 1),
		"long":        want + strings.Repeat(" ", maxApprovalBytes),
		"repeated": strings.Replace(want, `"role":"officer"`,
			`"role":"x","role":"officer"`, 1),
	} {
		if _, err := ReadApproval([]byte(text)); err == nil {
			t.Errorf("%s: read", name)
		}
	}
	for name, change := range map[string]func(*Approval){
		"plan": func(a *Approval) { a.Plan = hash("ab") }, "role": func(a *Approval) { a.Role = "other" },
		"statement": func(a *Approval) { a.Statement = "x" },
		"until":     func(a *Approval) { a.Standing = &Standing{"2027-12-31", 4} },
		"releases":  func(a *Approval) { a.Standing = &Standing{"2026-12-31", 5} },
		"standing":  func(a *Approval) { a.Standing = nil },
		"signer":    func(a *Approval) { a.Signer = newKey(t).Public() },
		"signature": func(a *Approval) { a.Signature = "" },
	} {
		b := a
		change(&b)
		if b.Verify() == nil {
			t.Errorf("another %s passes under the same signature", name)
		}
	}
	for name, bad := range map[string]Approval{
		"no plan": {Role: "r", Statement: "x"}, "no role": {Plan: hash("aa"), Statement: "x"},
		"no statement": {Plan: hash("aa"), Role: "r"},
		"two lines":    {Plan: hash("aa"), Role: "r", Statement: "a\nb"},
		"no day": {Plan: hash("aa"), Role: "r", Statement: "x",
			Standing: &Standing{"2026-02-30", 1}},
		"for none": {Plan: hash("aa"), Role: "r", Statement: "x", Standing: &Standing{"2026-02-03", 0}},
	} {
		if bad.Signed(key).Verify() == nil {
			t.Errorf("%s: valid", name)
		}
	}
}

func TestGrant(t *testing.T) {
	ctx := context.Background()
	l, o, _ := atOffice(t)
	g := Grant{Account: "quarter", Amount: rhoDelta("1/4", "1e-7"), Reason: "The health survey joins."}
	err := l.Grant(ctx, g)
	var unapproved *Unapproved
	if !errors.As(err, &unapproved) || !unapproved.Grant {
		t.Fatalf("got %v; want *Unapproved", err)
	}
	assertSays(t, err, "account quarter: the grant ("+g.Hash()[:12]+") is not approved by methodologist and officer.",
		"`dprelease ledger grant`")
	for role, key := range map[string]sign.Key{"officer": o.officer, "methodologist": o.methods} {
		g.Approvals = append(g.Approvals, Approval{Plan: g.Hash(), Role: role, Statement: "Yes."}.Signed(key))
	}
	must(t, l.Grant(ctx, g))
	must(t, l.Grant(ctx, g))
	s, err := l.Show(ctx, "quarter")
	must(t, err)
	if !s.Cap.Equal(rhoDelta("3/4", "11/10000000")) || !s.Left.Equal(s.Cap.Cost) || len(s.Grants) != 1 {
		t.Errorf("cap %v, left %v, grants %v; want the grant once", s.Cap, s.Left, s.Grants)
	}
	assertSays(t, errors.New(s.String()),
		"The cap holds these grants:\n2026-03-05   ρ = 0.25 and δ = 0.0000001   The health survey joins.")
	if again, err := l.Show(ctx, "register"); err != nil || !again.Cap.Equal(rhoDelta("1", "1e-6")) {
		t.Errorf("a grant below raised the cap of the register to %v (%v)", again.Cap, err)
	}
	must(t, l.Grant(ctx, Grant{Account: "other", Amount: rho("1/8"), Reason: "Nobody needs to sign here."}))
	for name, bad := range map[string]Grant{
		"definition": {Account: "other", Amount: epsilon("1"), Reason: "x"},
		"nothing": {Account: "other", Amount: rho("0"),
			Reason: "x"},
		"reason": {Account: "other", Amount: rho("1")}, "account": {Account: "zz", Amount: rho("1"), Reason: "x"},
	} {
		if l.Grant(ctx, bad) == nil {
			t.Errorf("a grant with a wrong %s was made", name)
		}
	}
	// The old policy still names the account: its cap is what it was opened with.
	must(t, l.Init(ctx, o.book.accounts["quarter"].policy))
	must(t, l.Verify(ctx))
}

// TestNothingPrivateIsPublic plants the time and the commitment, and searches all public output for them.
func TestNothingPrivateIsPublic(t *testing.T) {
	ctx := context.Background()
	l, o, _ := atOffice(t)
	l.now = func() time.Time { return time.Date(2026, 3, 5, 13, 47, 29, 0, time.UTC) }
	c := o.charge("quarter", "a", "1/8")
	c.Commitment = hash("c0ffee")
	r := debit(t, l, c)
	other := c
	other.Commitment = hash("decaf")
	_, closed := l.Debit(ctx, other)
	otherSeal := l.Finish(ctx, other, hash("5e"))
	must(t, l.Finish(ctx, c, hash("5e")))
	late := l.Finish(ctx, c, hash("5f"))
	noRoom := l.Reserve(ctx, withCost(o.charge("quarter", "b", "1"), "1"))
	record, err := json.Marshal(r.Record())
	must(t, err)
	s, err := l.Show(ctx, "quarter")
	must(t, err)
	statement, err := json.Marshal(s)
	must(t, err)
	var export bytes.Buffer
	must(t, l.Export(ctx, &export))
	read, err := ReadExport(bytes.NewReader(export.Bytes()))
	must(t, err)
	events, err := read.Events("")
	must(t, err)
	b, err := l.store.view(ctx)
	must(t, err)
	for what, text := range map[string]string{
		"the record": string(record), "the receipt": fmt.Sprintf("%v %+v %#v %s", r, r, r, r), "the page": s.String(),
		"the statement": string(statement),
		"the export":    export.String(), "its events": fmt.Sprint(events),
		"errors": fmt.Sprint(closed, otherSeal, late,
			noRoom),
	} {
		for _, hidden := range []string{"13:47", "47:29", "c0ffee000000", "decaf000000"} {
			if strings.Contains(text, hidden) {
				t.Errorf("%s tells %q: %s", what, hidden, text)
			}
		}
		for _, line := range b.lines {
			s, err := parseSecret(line.private, kindDebit)
			must(t, err)
			if strings.Contains(text, s.Salt) || strings.Contains(text, s.Time) {
				t.Errorf("%s tells the private part of entry %d", what, line.sequence)
			}
		}
	}
	for what, err := range map[string]error{"another commitment": closed, "another commitment's seal": otherSeal,
		"another seal": late} {
		var isClosed *Closed
		if !errors.As(err, &isClosed) {
			t.Errorf("%s: got %v; want *Closed", what, err)
		}
	}
	if history, err := l.History(ctx, "quarter"); err != nil ||
		!strings.Contains(fmt.Sprint(history), "2026-03-05T13:47:29Z") {
		t.Errorf("the office's own history does not tell the time: %v %v", history, err)
	}
}
