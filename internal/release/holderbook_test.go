package release

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/histogram/holder"
	"github.com/dprelease/dprelease/internal/releasetest"
)

// This file tests the book of a holder's key: what it binds, and that no key is used without it.

// bookAt returns the book of a holder.
func (f federation) bookAt(i int) book { return bookOf(f.holders[i].KeyFile, f.holders[i].Key) }

// entryOf returns what the book of a holder has of the plan.
func (f federation) entryOf(t *testing.T, i int) bookEntry {
	t.Helper()
	e, err := f.bookAt(i).read(f.plan)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// signAnew has a holder sign for another draw.
func (f federation) signAnew(t *testing.T, i int) {
	t.Helper()
	if _, err := SignRoll(t.Context(), f.plan, f.holders[i].KeyFile, f.shared(), true); err != nil {
		t.Fatal(err)
	}
}

// refusesWith asserts that an error says why.
func refusesWith(t *testing.T, err error, why string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("%v, expected %q", err, why)
	}
}

// TestNoiseOfOthersIsNotAveragedAway: a holder that signs and draws anew gets no second sum with the answers that
// others have drawn once, with which its noise would cancel. If all sign anew, all draw and are debited again.
func TestNoiseOfOthersIsNotAveragedAway(t *testing.T) {
	f := newHeld(t)
	f.sign(t)
	f.measure(t)
	f.signAnew(t, 0)
	for _, out := range []string{f.options(1).Out, filepath.Join(f.dir, "elsewhere")} {
		o := f.options(1)
		o.Out, o.State = out, f.options(1).StateDir()
		_, err := Measure(t.Context(), f.plan, o)
		refusesWith(t, err, "another signature of h00")
	}
	if cost := f.spent(t, 1); !cost.Equal(f.plan.Cost) {
		t.Errorf("%s is spent, and the plan costs %s", cost, f.plan.Cost)
	}
	if shares, _ := filepath.Glob(filepath.Join(f.options(1).Out, "*.share")); len(shares) != 1 {
		t.Errorf("%v, expected one share", shares)
	}

	f.signAnew(t, 1)
	f.signAnew(t, 2)
	var shares []string
	for i := range f.holders { // a ledger pays once for a plan, so these are practice accounts
		o := f.options(i)
		o.Ledger, o.Out, o.State = "", filepath.Join(f.dir, "anew", f.holders[i].Name), ""
		r, err := Measure(t.Context(), f.plan, o)
		if err != nil || r.AlreadyDone {
			t.Fatalf("%+v, %v", r, err)
		}
		shares = append(shares, r.Folder)
	}
	if _, err := Combine(t.Context(), shares, Options{Out: filepath.Join(f.dir, "office")}); err != nil {
		t.Fatal(err)
	}
}

// TestNonceChangesOnlyAfterADraw: signing anew gives the same signature until something was drawn for it, so that a
// signature that others have is of no other draw than the last one by mistake.
func TestNonceChangesOnlyAfterADraw(t *testing.T) {
	f := newHeld(t)
	f.sign(t)
	first := f.entryOf(t, 0).Nonce
	f.signAnew(t, 0)
	if !bytes.Equal(first, f.entryOf(t, 0).Nonce) {
		t.Error("the nonce changed, and nothing was drawn for it")
	}
	f.measure(t)
	f.signAnew(t, 0)
	if bytes.Equal(first, f.entryOf(t, 0).Nonce) {
		t.Error("the nonce of a draw is signed for another one")
	}
}

// TestBookBindsADraw goes through the orders of drawing, sealing and signing.
func TestBookBindsADraw(t *testing.T) {
	f := newHeld(t)
	f.sign(t)
	b, name := f.bookAt(0), f.holders[0].Name
	nonces := func(own []byte, h01 string) map[string][]byte {
		return map[string][]byte{name: own, "h01": []byte(h01), "h02": []byte("2")}
	}
	draw := func(own []byte, commitment string) error { return b.draw(t.Context(), f.plan, own, commitment) }
	seal := func(nonces map[string][]byte, seal string) error {
		return b.recordSeal(t.Context(), f.plan, name, nonces, seal)
	}
	accepts := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	own := f.entryOf(t, 0).Nonce
	refusesWith(t, seal(nonces(own, "1"), "s"), "was signed again")
	accepts(draw(own, "c"))
	refusesWith(t, draw(own, "other"), "was measured before with these signatures")
	refusesWith(t, draw([]byte("another nonce"), "c"), "was signed again")
	refusesWith(t, b.withdraw(t.Context(), f.plan), "was measured with this key")
	// Cut off before anything was written, while h01 signs anew: the same answers are masked for its new nonce.
	accepts(draw(own, "c"))
	accepts(seal(nonces(own, "one"), "s"))
	refusesWith(t, seal(nonces(own, "1"), "s"), "another signature of h01")
	left := nonces(own, "one")
	delete(left, "h02") // has withdrawn
	accepts(seal(left, "s2"))
	accepts(seal(nonces(own, "one"), "s3"))
	_, err := b.check(f.plan, name, left)
	accepts(err)
	_, err = b.check(f.plan, name, nonces(own, "1"))
	refusesWith(t, err, "another signature of h01")

	f.signAnew(t, 0)
	again := f.entryOf(t, 0).Nonce
	refusesWith(t, draw(own, "c"), "was signed again")
	refusesWith(t, draw(again, "c"), "that share may have left")
	accepts(draw(again, "d"))
	f.signAnew(t, 0)
	last := f.entryOf(t, 0).Nonce
	refusesWith(t, draw(last, "c"), "that share may have left")
	accepts(draw(last, "d")) // was never sealed
	refusesWith(t, b.withdraw(t.Context(), f.plan), "was measured with this key")
}

// TestNoKeyWithoutItsBook: copies, links and new names of a key file, and a key whose book is gone, another one's or
// damaged, are not used to sign, measure or withdraw.
func TestNoKeyWithoutItsBook(t *testing.T) {
	f := newHeld(t)
	f.sign(t)
	f.measure(t)
	key, dir := f.holders[0].KeyFile, f.bookAt(0).dir
	refuses := func(keyFile, why string) {
		t.Helper()
		o := f.options(0)
		o.Ledger, o.Out = "", t.TempDir()
		_, err := SignRoll(t.Context(), f.plan, keyFile, o.Out, true)
		refusesWith(t, err, why)
		_, err = Withdraw(t.Context(), f.plan, o, keyFile)
		refusesWith(t, err, why)
		held := *o.Holder
		held.KeyFile, o.Holder = keyFile, &held
		_, err = Measure(t.Context(), f.plan, o)
		refusesWith(t, err, why)
		if left, _ := filepath.Glob(filepath.Join(o.Out, "r*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
	text, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	f.put(t, "h00/copy", string(text))
	for name, link := range map[string]func(old, new string) error{"hard": os.Link, "symbolic": os.Symlink} {
		if err := link(key, filepath.Join(f.dir, "h00", name)); err != nil {
			t.Logf("no %s links: %v", name, err)
			continue
		}
		refuses(filepath.Join(f.dir, "h00", name), "there is no book")
	}
	refuses(filepath.Join(f.dir, "h00", "copy"), "there is no book")

	entry := "h00/key.book/" + f.bookAt(0).name(f.plan)
	written, err := os.ReadFile(filepath.Join(f.dir, entry))
	if err != nil {
		t.Fatal(err)
	}
	for _, damaged := range []string{"", "{}", "null", `{"format": "dprelease.holderbook/1"}`, string(written[1:])} {
		f.put(t, entry, damaged)
		refuses(key, "cannot be read")
	}
	f.put(t, entry, string(written))
	f.put(t, "h00/key.book/"+bookKey, f.holders[1].Key.Public().String()+"\n")
	refuses(key, "the book of another key")
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	refuses(key, "there is no book")
}

// TestMakeHolderKey replaces neither a key nor a book.
func TestMakeHolderKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	public, err := MakeHolderKey(path)
	if err != nil {
		t.Fatal(err)
	}
	key, err := holder.ReadKey(path)
	if err != nil || key.Public() != public {
		t.Fatal(public, err)
	}
	if err := bookOf(path, key).checkKey(); err != nil {
		t.Error(err)
	}
	for _, name := range []string{path + ".book", path + ".pub", path} { // in the order in which they are looked for
		_, err = MakeHolderKey(path)
		refusesWith(t, err, name+" is there already")
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
	}
	if _, err = MakeHolderKey(path); err != nil {
		t.Error(err)
	}
}

// TestWithdrawalAfterADebitChangesNothing: a holder that was cut off between its debit and its draw cannot withdraw,
// as the account was debited, and goes on measuring.
func TestWithdrawalAfterADebitChangesNothing(t *testing.T) {
	f := newHeld(t)
	f.sign(t)
	dir := f.bookAt(0).dir
	o := f.options(0)
	o.Log = releasetest.LogThat(func(message string) {
		if message == "counting" {
			if err := os.Rename(dir, dir+".away"); err != nil {
				t.Error(err)
			}
		}
	})
	var spent *Spent
	if _, err := Measure(t.Context(), f.plan, o); !errors.As(err, &spent) {
		t.Fatalf("cut off: %v", err)
	}
	if err := os.Rename(dir+".away", dir); err != nil {
		t.Fatal(err)
	}
	_, err := Withdraw(t.Context(), f.plan, f.options(0), f.holders[0].KeyFile)
	refusesWith(t, err, "was debited for h00")
	if _, err := Measure(t.Context(), f.plan, f.options(0)); err != nil {
		t.Fatal(err)
	}
	if cost := f.spent(t, 0); !cost.Equal(f.plan.Cost) {
		t.Errorf("%s is spent, and the plan costs %s", cost, f.plan.Cost)
	}
}
