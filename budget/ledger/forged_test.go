package ledger

import (
	"bytes"
	"errors"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/sign"
)

// office is a signed ledger in memory: a register, and below it a quarter that methodologist and officer approve, with
// a monthly allowance.
type office struct {
	book                  *book
	key, officer, methods sign.Key
}

var zcdp = Terms{"person", AddRemove, Rho}

func newOffice(t testing.TB) *office {
	t.Helper()
	o := &office{book: newBook("office"), key: newKey(t), officer: newKey(t), methods: newKey(t)}
	for _, p := range []Policy{
		{Account: "register", Terms: zcdp, Cap: rhoDelta("1", "1e-6")},
		{Account: "quarter", Terms: zcdp, Cap: rhoDelta("1/2", "1e-6"), Parent: "register",
			Allowance: &Allowance{Month, rhoDelta("3/8", "1e-7")},
			Approvals: map[string][]sign.PublicKey{"officer": {o.officer.Public()},
				"methodologist": {o.methods.Public(), newKey(t).Public()}}},
		{Account: "other", Terms: zcdp, Cap: rho("1")},
		{Account: "pure", Terms: person, Cap: epsilon("1")},
	} {
		entries, err := o.book.entriesToOpen(p, Official)
		must(t, err)
		writeOn(t, o.book, "2026-03-01", &o.key, entries...)
	}
	return o
}

// charge returns a charge on the account, approved by both roles.
func (o *office) charge(account, release, amount string) Charge {
	plan := digestOf(release).String()
	return Charge{Account: account, Release: release, PlanHash: plan, Template: hash("7e"), Terms: zcdp,
		Cost: rho(amount),
		Approvals: []Approval{
			Approval{Plan: plan, Role: "officer", Statement: "The budget allows it."}.Signed(o.officer),
			Approval{Plan: plan, Role: "methodologist", Statement: "The bounds are sound."}.Signed(o.methods)}}
}

// debit writes reservation and debit.
func (o *office) debit(t testing.TB, day string, c Charge) {
	t.Helper()
	entries, err := o.book.entriesToDebit(c, day)
	must(t, err)
	writeOn(t, o.book, day, &o.key, entries...)
}

// finish writes the finish of c.
func (o *office) finish(t testing.TB, day string, c Charge) {
	t.Helper()
	entries, err := o.book.entriesToFinish(c, hash("5e"))
	must(t, err)
	writeOn(t, o.book, day, &o.key, entries...)
}

// standing returns approvals of every plan of the template, by both roles.
func (o *office) standing(until string, releases int64) []Approval {
	s := &Standing{until, releases}
	return []Approval{Approval{Plan: hash("7e"), Role: "officer", Statement: "As ever.", Standing: s}.Signed(o.officer),
		Approval{Plan: hash("7e"), Role: "methodologist", Statement: "As ever.", Standing: s}.Signed(o.methods)}
}

// forged returns the line of an entry with a valid hash, signed by a key or by none.
func (o *office) forged(t testing.TB, e entry, by *sign.Key) line {
	t.Helper()
	if e.Date == "" {
		e.Date = "2026-03-05"
	}
	e.time = "2026-03-05T12:00:00Z"
	body, err := e.publicBody()
	must(t, err)
	private, err := e.privatePart()
	must(t, err)
	l := line{sequence: o.book.sequence + 1, body: body, private: private,
		hash: chainHash(o.book.head, digestOf(private), body)}
	if by != nil {
		l.signature = by.Sign(entryPurpose, l.hash[:])
	}
	return l
}

// reservationOf returns the entry that reserves c with these approvals.
func reservationOf(c Charge, used ...Approval) entry {
	return c.withSortedAccounts().reserveEntry(used)
}

// TestForgedEntriesAreRefused writes, with the office's key, entries that an honest ledger never writes.
func TestForgedEntriesAreRefused(t *testing.T) {
	o := newOffice(t)
	a, b, done := o.charge("quarter", "a", "1/8"), o.charge("quarter", "b", "1/16"), o.charge("quarter", "done", "1/16")
	o.debit(t, "2026-03-02", done)
	o.finish(t, "2026-03-02", done)
	o.debit(t, "2026-03-02", a)
	for _, c := range []Charge{b} {
		entries, err := o.book.entriesToReserve(c, "2026-03-03")
		must(t, err)
		writeOn(t, o.book, "2026-03-03", &o.key, entries...)
	}
	once := o.standing("2026-12-31", 1)
	used := o.charge("quarter", "under-standing", "1/1000")
	used.Approvals = once
	o.debit(t, "2026-03-04", used)

	given := Grant{Account: "other", Amount: rho("1/2"), Reason: "once"}
	grants, err := o.book.entriesToGrant(given, "2026-03-04")
	must(t, err)
	writeOn(t, o.book, "2026-03-04", &o.key, grants...)

	c := o.charge("quarter", "c", "1/100")
	roles := []Approval{c.Approvals[1], c.Approvals[0]} // methodologist, officer
	stranger := newKey(t)
	sealed := ending(kindRelease, b)
	sealed.Seal = hash("5e")
	asDebit := func(c Charge, change func(*entry)) entry {
		e := c.reserveEntry([]Approval{c.Approvals[1], c.Approvals[0]})
		e.Kind, e.Attest = kindDebit, &attestation{Status: Official, Terms: zcdp, Number: 4}
		change(&e)
		return e
	}
	with := func(e entry, change func(*entry)) entry { change(&e); return e }
	policy := func(p Policy) entry { return p.openingEntry(Official, &p.Cap) }
	grantOf := func(amount string, approvals ...Approval) entry {
		cost := rho(amount)
		return entry{Kind: kindGrant, Account: "quarter", Cost: &cost, Reason: "more", Approvals: approvals}
	}
	granting := Grant{Account: "quarter", Amount: rho("1"), Reason: "more"}
	agreed := func(role string, key sign.Key) Approval {
		return Approval{Plan: granting.Hash(), Role: role, Statement: "Yes."}.Signed(key)
	}
	late := o.charge("quarter", "late", "1/100")
	late.Approvals = o.standing("2026-03-04", 5)
	over := o.charge("quarter", "over", "1/100")
	over.Approvals = once

	for name, forged := range map[string]struct {
		entry entry
		says  string
	}{
		"no approvals": {reservationOf(c), "is not approved as account quarter asks (methodologist, officer)"},
		"one approval": {reservationOf(c, roles[0]), "is not approved as account quarter asks (officer)"},
		"forged approval": {reservationOf(c, roles[0],
			Approval{Plan: c.PlanHash, Role: "officer", Statement: "x"}.Signed(stranger)), "(officer)"},
		"altered approval": {reservationOf(c, roles[0],
			with2(roles[1], func(a *Approval) { a.Statement = "Something else." })), "(officer)"},
		"other plan's": {reservationOf(c, roles[0], a.Approvals[0]), "(officer)"},
		"key of another role": {reservationOf(c, roles[0],
			Approval{Plan: c.PlanHash, Role: "officer", Statement: "x"}.Signed(o.methods)), "(officer)"},
		"more approvals": {reservationOf(c, roles[0], roles[1], a.Approvals[0]),
			"carries approvals that its accounts do not ask for"},
		"needless approvals": {reservationOf(o.charge("register", "c", "1/100"), roles...),
			"carries approvals that its accounts do not ask for"},
		"expired standing": {reservationOf(late, late.Approvals[1], late.Approvals[0]), "is not approved"},
		"used-up standing": {reservationOf(over, once[1], once[0]), "is not approved"},
		"standing, no template": {reservationOf(with3(over, func(c *Charge) { c.Template = "" }), once[1], once[0]),
			"is not approved"},
		"over the allowance": {reservationOf(withCost(c, "1/8"), roles...),
			"overspends the allowance of account quarter for 2026-03"},
		"over the cap": {with(reservationOf(withCost(c, "1/2"), roles...), func(e *entry) { e.Date = "2026-04-01" }),
			"overspends account quarter"},
		"over the parent's cap": {reservationOf(withCost(o.charge("register", "c", "1"), "1")),
			"overspends account register"},
		"delta": {reservationOf(with3(c, func(c *Charge) { c.Cost = rhoDelta("1/100", "1/1000000") }), roles...),
			"overspends the allowance"},
		"other definition": {reservationOf(Charge{Account: "other", FurtherAccounts: []string{"pure"}, Release: "c",
			PlanHash: c.PlanHash, Cost: rho("1/100")}), "in other terms than account pure"},
		"own account besides": {reservationOf(Charge{Account: "other", FurtherAccounts: []string{"other"}, Release: "c",
			PlanHash: c.PlanHash, Cost: rho("1/100")}), "cannot be reserved"},
		"account not open": {reservationOf(Charge{Account: "other", FurtherAccounts: []string{"zz"}, Release: "c",
			PlanHash: c.PlanHash, Cost: rho("1/100")}), "names account zz, which is not open"},
		"name taken": {reservationOf(with3(c, func(c *Charge) { c.Release = "a" }), roles...),
			"reserves a release name that another plan holds"},
		"corrects nothing": {reservationOf(with3(c, func(c *Charge) { c.Corrects = "zz" }), roles...),
			"is not finished"},
		"corrects unfinished": {reservationOf(with3(c, func(c *Charge) { c.Corrects = "a" }), roles...),
			"is not finished"},
		"reserved twice":     {reservationOf(b, b.Approvals[1], b.Approvals[0]), "is reserved already"},
		"reserved when done": {reservationOf(done, done.Approvals[1], done.Approvals[0]), "is finished already"},
		"debit unreserved":   {asDebit(c, func(*entry) {}), "debits what was not reserved"},
		"debit after finish": {asDebit(done, func(*entry) {}), "debits what was not reserved"},
		"debit twice":        {asDebit(a, func(*entry) {}), "debits what was not reserved"},
		"cheaper debit": {asDebit(b, func(e *entry) { e.Cost = new(rho("1/32")) }),
			"debits something else than what was reserved"},
		"debit elsewhere": {asDebit(b, func(e *entry) { e.Also = []string{"other"} }),
			"debits something else than what was reserved"},
		"other approvals": {asDebit(b, func(e *entry) { e.Approvals = e.Approvals[:1] }),
			"debits something else than what was reserved"},
		"other number": {asDebit(b, func(e *entry) { e.Attest.Number = 2 }), "says of its account what is not so"},
		"fewer comparisons": {asDebit(b, func(e *entry) { e.Attest.Comparisons = -1 }),
			"says of its account what is not so"},
		"witnessed": {asDebit(b, func(e *entry) { e.Attest.Witnessed = true }),
			"says of its account what is not so"},
		"as practice": {asDebit(b, func(e *entry) { e.Attest.Status = Practice }),
			"says of its account what is not so"},
		"with mechanisms": {asDebit(b, func(e *entry) { e.Mechanisms = []Repeated{{1, gaussian(5)}} }),
			"is not an entry of kind"},
		"refund":         {ending(kindCancel, a), "cannot follow: the release is debited"},
		"finish unspent": {sealed, "cannot follow: the release is reserved"},
		"finish without seal": {with(ending(kindRelease, a), func(e *entry) { e.Seal = "x" }),
			"without the hash of its seal"},
		"finish twice": {with(ending(kindRelease, done), func(e *entry) { e.Seal = hash("ff") }),
			"cannot follow: the release is finished"},
		"abandon finished": {with(ending(kindAbandon, done), func(e *entry) { e.Reason = "x" }),
			"cannot follow: the release is finished"},
		"withdraw unfinished": {with(ending(kindWithdraw, a), func(e *entry) { e.Reason = "x" }),
			"cannot follow: the release is debited"},
		"no reason":    {ending(kindAbandon, a), "is not an entry of kind"},
		"blank reason": {with(ending(kindAbandon, a), func(e *entry) { e.Reason = " \n" }), "gives no reason"},
		"a reason to cancel": {with(ending(kindCancel, b), func(e *entry) { e.Reason = "x" }),
			"is not an entry of kind"},
		"end of nothing": {with(ending(kindAbandon, c), func(e *entry) { e.Reason = "x" }),
			"ends what was never reserved"},
		"grant, unapproved": {grantOf("1"), "is not approved as account quarter asks (methodologist, officer)"},
		"grant, one role":   {grantOf("1", agreed("officer", o.officer)), "(methodologist)"},
		"grant, other amount": {grantOf("2", agreed("methodologist", o.methods), agreed("officer", o.officer)),
			"is not approved"},
		"grant of nothing": {grantOf("0"), "a grant is a positive amount"},
		"granted twice":    {grants[0], "grants what was granted before"},
		"grant, needless": {with(grants[0], func(e *entry) { e.Reason, e.Approvals = "again", once }),
			"carries approvals that its account does not ask for"},
		"grant by standing": {grantOf("1", once...), "is not approved"},
		"comparison, no reason": {entry{Kind: kindCompare, Account: "quarter", Release: "a", Reason: "\t"},
			"is not a note of a comparison"},
		"earlier day": {with(ending(kindCancel, b), func(e *entry) { e.Date = "2026-03-03" }),
			"is of an earlier day than the entry before it"},
		"a second office key": {with(ending(kindCancel, b), func(e *entry) { e.Office = stranger.Public() }),
			"names an office key"},
		"unknown kind": {ending("refund", a), `is not an entry of kind "refund" as this version knows it`},
		"opened twice": {policy(Policy{Account: "other", Terms: zcdp, Cap: rho("9")}),
			"opens account other a second time"},
		"parent not open": {policy(Policy{Account: "x", Terms: zcdp, Cap: rho("9"), Parent: "zz"}),
			"opens an account below zz, which is not open"},
		"its own parent": {policy(Policy{Account: "x", Terms: zcdp, Cap: rho("9"), Parent: "x"}), "invalid policy"},
		"parent in other terms": {policy(Policy{Account: "x", Terms: zcdp, Cap: rho("9"), Parent: "pure"}),
			"opens an account below pure"},
		"practice below office": {Policy{Account: "x", Terms: zcdp, Parent: "other"}.openingEntry(Practice,
			new(rho("9"))),
			"opens an account below other"},
		"rehearsal": {Policy{Account: "x", Terms: zcdp}.openingEntry(Rehearsal, nil),
			"of a status that no file holds"},
		"a role without keys": {
			policy(Policy{Account: "x", Terms: zcdp, Cap: rho("9"),
				Approvals: map[string][]sign.PublicKey{"officer": {}}}),
			"invalid policy"},
		"a key in two roles": {policy(Policy{Account: "x", Terms: zcdp, Cap: rho("9"),
			Approvals: map[string][]sign.PublicKey{"officer": {stranger.Public()},
				"methodologist": {stranger.Public()}}}),
			"invalid policy"},
		"a strange allowance": {
			policy(Policy{Account: "x", Terms: zcdp, Cap: rho("9"), Allowance: &Allowance{"week", rho("1")}}),
			"invalid policy"},
		"a relative witness": {policy(Policy{Account: "x", Terms: zcdp, Cap: rho("9"), Witness: "heads"}),
			"invalid policy"},
	} {
		before := *o.book
		err := o.book.readLine(o.forged(t, forged.entry, &o.key))
		var tampered *Tampered
		if !errors.As(err, &tampered) || tampered.Sequence != before.sequence+1 {
			t.Errorf("%s: got %v; want *Tampered", name, err)
			continue
		}
		assertSays(t, err, forged.says)
		if o.book.sequence != before.sequence || o.book.head != before.head {
			t.Errorf("%s: the chain grew", name)
		}
	}
	// What they are built on is admissible: the ledger itself writes it.
	o.debit(t, "2026-03-05", c)
	replay(t, o.book)
}

func with2(a Approval, change func(*Approval)) Approval { change(&a); return a }

func with3(c Charge, change func(*Charge)) Charge { change(&c); return c }

func withCost(c Charge, amount string) Charge { c.Cost = rho(amount); return c }

// replay reads the lines of a book again.
func replay(t testing.TB, b *book) *book {
	t.Helper()
	again := newBook("again")
	for _, l := range b.lines {
		must(t, again.readLine(l))
	}
	if again.head != b.head {
		t.Fatal("the chain ends otherwise when it is read again")
	}
	return again
}

// TestSignedLedger checks that the office signs every entry, and that nobody else can write.
func TestSignedLedger(t *testing.T) {
	o := newOffice(t)
	other := newKey(t)
	c := o.charge("other", "c", "1/8")
	entries, err := o.book.entriesToReserve(c, "2026-03-05")
	must(t, err)
	for i := range entries {
		entries[i].Date, entries[i].time = "2026-03-05", "2026-03-05T00:00:00Z"
	}
	for given, key := range map[string]*sign.Key{"none was given": nil, "another was given (fingerprint " +
		other.Public().Fingerprint(): &other} {
		_, err := o.book.writeEntries(entries, key)
		var wrong *WrongKey
		if !errors.As(err, &wrong) {
			t.Errorf("write with %s: %v; want *WrongKey", given, err)
			continue
		}
		assertSays(t, err, o.key.Public().Fingerprint(), given, "nothing was written")
	}
	if lines, err := o.book.writeEntries(nil, nil); err != nil || lines != nil {
		t.Errorf("writing nothing needs no key: %v", err)
	}
	for name, key := range map[string]*sign.Key{"unsigned": nil, "signed by another": &other} {
		assertSays(t, o.book.readLine(o.forged(t, entries[0], key)), "is not signed by the office's key (fingerprint "+
			o.key.Public().Fingerprint())
		_ = name
	}
	moved := o.forged(t, entries[0], &o.key)
	moved.signature = o.book.lines[0].signature
	assertSays(t, o.book.readLine(moved), "is not signed by the office's key")
	must(t, o.book.readLine(o.forged(t, entries[0], &o.key)))

	unsigned := newBook("unsigned")
	open, err := unsigned.entriesToOpen(capped("6"), Official)
	must(t, err)
	writeOn(t, unsigned, "2026-03-01", nil, open...)
	reserve, err := unsigned.entriesToReserve(charge("a", "aa", "1"), "2026-03-01")
	must(t, err)
	var wrong *WrongKey
	if _, err := unsigned.writeEntries(reserve, &other); !errors.As(err, &wrong) {
		t.Errorf("write with a key to a ledger begun without one: %v; want *WrongKey", err)
	}
	assertSays(t, wrong, "is not signed, and an office key was given (fingerprint "+other.Public().Fingerprint(),
		"nothing was written")
	writeOn(t, unsigned, "2026-03-01", nil, reserve...)
	lines := unsigned.lines
	lines[1].signature = other.Sign(entryPurpose, lines[1].hash[:])
	again := newBook("again")
	must(t, again.readLine(lines[0]))
	assertSays(t, again.readLine(lines[1]), "is signed in a ledger that has no office key")
}

// TestExportIsTampered flips bytes and moves lines of an export: it is refused, or its contents are the same.
func TestExportIsTampered(t *testing.T) {
	o := newOffice(t)
	c := o.charge("quarter", "c", "1/8")
	c.Mechanisms = []Repeated{{2, gaussian(20)}}
	o.debit(t, "2026-03-05", c)
	o.finish(t, "2026-03-05", c)
	var text bytes.Buffer
	must(t, o.book.writeExport(&text))
	whole := text.Bytes()
	want, err := ReadExport(bytes.NewReader(whole))
	must(t, err)
	if want.Office != o.key.Public() || want.Head != o.book.head.String() || want.Entries != 7 ||
		want.Seal("quarter", "c") != hash("5e") || want.Seal("quarter", "x") != "" {
		t.Errorf("the export reads as %+v", want)
	}
	for range 400 {
		damaged := bytes.Clone(whole)
		damaged[rand.IntN(len(damaged))] ^= 1 << rand.IntN(8)
		if _, err := ReadExport(bytes.NewReader(damaged)); err == nil {
			t.Errorf("a flipped bit passes:\n%s", damaged)
		}
	}
	lines := strings.SplitAfter(string(whole), "\n")
	for name, changed := range map[string][]string{
		"no header":     lines[1:],
		"no end":        lines[:len(lines)-2],
		"entry removed": append(append([]string{}, lines[:3]...), lines[4:]...),
		"last removed":  append(append([]string{}, lines[:7]...), lines[8:]...),
		"reordered":     append([]string{lines[0], lines[1], lines[3], lines[2]}, lines[4:]...),
		"more behind":   append(append([]string{}, lines...), "{}\n"),
		"cut":           {string(whole[:len(whole)-20])},
		"empty":         nil,
		"other key": append([]string{strings.Replace(lines[0], o.key.Public().String(), newKey(t).Public().String(),
			1)},
			lines[1:]...),
		"no key": append([]string{`{"format":"dprelease.ledger/1"}` + "\n"}, lines[1:]...),
	} {
		if _, err := ReadExport(strings.NewReader(strings.Join(changed, ""))); err == nil {
			t.Errorf("%s: read", name)
		}
	}
	// A consistent rewrite by somebody without the office's key names another key.
	forger := newKey(t)
	rewritten := newBook("rewritten")
	for i, l := range o.book.lines {
		e, err := parseEntry(l.body)
		must(t, err)
		if i == 0 {
			e.Policy.Cap = &budget.Cost{Rho: big.NewRat(100, 1)}
		}
		writeOn(t, rewritten, e.Date, &forger, e)
	}
	text.Reset()
	must(t, rewritten.writeExport(&text))
	forged, err := ReadExport(&text)
	must(t, err)
	if forged.Office == want.Office {
		t.Error("a rewritten ledger carries the office's key")
	}
	p := o.book.accounts["quarter"].findCharge(c)
	if err := want.Contains(p.publicRecord()); err != nil {
		t.Error(err)
	}
	if err := forged.Contains(p.publicRecord()); !errors.Is(err, ErrTampered) {
		t.Errorf("the rewritten ledger contains the office's debit: %v", err)
	}
}

// FuzzEntry checks that any entry is refused, or leaves every account within its cap and with a page to show.
func FuzzEntry(f *testing.F) {
	o := newOffice(f)
	c := o.charge("quarter", "c", "1/8")
	o.debit(f, "2026-03-05", c)
	o.finish(f, "2026-03-05", c)
	for _, l := range o.book.lines {
		f.Add(l.body)
	}
	cost := epsilon("1")
	for _, e := range []entry{charge("b", "bb", "1").reserveEntry(nil), debiting(charge("a", "aa", "1"), 1),
		ending(kindCancel, charge("a", "aa", "1")),
		{Kind: kindGrant, Account: "people", Cost: &cost, Reason: "more"},
		{Kind: kindCompare, Account: "people", Release: "a", Reason: "coverage"}} {
		e.Date = "2026-03-05"
		body, err := e.publicBody()
		must(f, err)
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		b := newBook("fuzz")
		open, err := b.entriesToOpen(capped("2"), Official)
		must(t, err)
		writeOn(t, b, "2026-03-01", nil, open...)
		reserve, err := b.entriesToReserve(charge("a", "aa", "1"), "2026-03-01")
		must(t, err)
		writeOn(t, b, "2026-03-01", nil, reserve...)
		sealed := digestOf("private")
		if err := b.readSealed(line{body: body, hash: chainHash(b.head, sealed, body)}, sealed); err != nil {
			if !errors.Is(err, ErrTampered) {
				t.Fatalf("got %v; want *Tampered", err)
			}
			return
		}
		for _, name := range b.names {
			s, err := b.statement(name)
			must(t, err)
			if sum, err := s.Spent.Add(s.Reserved.Cost); err != nil || s.String() == "" {
				t.Fatal(err)
			} else if fits, err := sum.Fits(s.Cap.Cost); err != nil || !fits {
				t.Fatalf("%s spends %v of %v: %s", name, sum, s.Cap, body)
			}
		}
		_, err = b.history("")
		must(t, err)
	})
}
