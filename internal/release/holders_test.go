package release

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/histogram/holder"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/state"
	"github.com/dprelease/dprelease/internal/verify"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/planner"
)

// This file holds releases of several holders, and what is refused of them.

// federation is some holders of a release below one folder. Each has a folder of its own, with its data, its ledger
// and its share; the plan and the signatures are in a folder that all see.
type federation struct {
	dir     string
	plan    *compiled.Compiled
	holders []Holder // in the order of the plan
	again   []string // the folders of their shares if some have withdrawn and these holders have measured again
}

// heldAccount is the account of every holder, in a ledger of its own.
const heldAccount = "persons"

// trustText is the section of a spec for so many holders, without their keys.
type trustText struct {
	holders, trusted int
	units            string // "disjoint" or "{overlap: 2}"
}

// newFederation makes holders with keys and accounts, and plans a release of theirs. The spec is without `holders`.
// Nobody has signed the plan, and nobody has data.
func newFederation(t testing.TB, trust trustText, spec string) federation {
	t.Helper()
	f := withoutAccounts(t, trust, spec)
	for i := range f.holders {
		f.openAccount(t, i)
	}
	return f
}

// withoutAccounts is newFederation with holders who cannot pay.
func withoutAccounts(t testing.TB, trust trustText, spec string) federation {
	t.Helper()
	f := federation{dir: t.TempDir()}
	for i := range trust.holders {
		h := Holder{Name: fmt.Sprintf("h%02d", i), Roll: f.shared(), Rounds: f.shared()}
		h.KeyFile = filepath.Join(f.dir, h.Name, "key")
		f.holders = append(f.holders, h)
		err := os.MkdirAll(f.options(i).Out, 0o755)
		if err == nil {
			_, err = MakeHolderKey(h.KeyFile)
		}
		if err == nil {
			f.holders[i].Key, err = holder.ReadKey(h.KeyFile)
		}
		if err != nil {
			t.Fatal(err)
		}
		f.put(t, "shared/"+h.Name+".pub", f.holders[i].Key.Public().String()+"\n")
	}
	f.plan = f.planned(t, "release", trust, spec)
	return f
}

// planned plans a spec of these holders, which is written to a file of some name.
func (f federation) planned(t testing.TB, name string, trust trustText, spec string) *compiled.Compiled {
	t.Helper()
	var keys []string
	for _, h := range f.holders {
		keys = append(keys, h.Name+": "+h.Name+".pub")
	}
	f.put(t, "shared/"+name+".yaml", spec+fmt.Sprintf("holders: {keys: {%s}, units: %s, trusted: %d}\n",
		strings.Join(keys, ", "), trust.units, trust.trusted))
	p, err := planfile.Load(t.Context(), planfile.Spec{Path: filepath.Join(f.shared(), name+".yaml")})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// shared returns the folder that all holders see.
func (f federation) shared() string { return filepath.Join(f.dir, "shared") }

// options are those with which a holder measures.
func (f federation) options(i int) Options {
	own := filepath.Join(f.dir, f.holders[i].Name)
	return Options{Out: own, Data: own, Ledger: filepath.Join(own, "ledger.db"), Holder: &f.holders[i]}
}

// put writes a file below the folder.
func (f federation) put(t testing.TB, name, text string) {
	t.Helper()
	path := filepath.Join(f.dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// give gives a holder a table, t.csv.
func (f federation) give(t testing.TB, i int, rows string) {
	t.Helper()
	f.put(t, f.holders[i].Name+"/t.csv", rows)
}

// openAccount opens the account of a holder, which can pay for the plan twice.
func (f federation) openAccount(t testing.TB, i int) {
	t.Helper()
	limit, err := f.plan.Cost.Add(f.plan.Cost)
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(t.Context(), f.options(i).Ledger, ledger.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	err = l.Init(t.Context(), ledger.Policy{Account: heldAccount, Terms: published.Terms(f.plan), Cap: limit})
	if err := errors.Join(err, l.Close()); err != nil {
		t.Fatal(err)
	}
}

// spent is what the account of a holder has spent and reserved.
func (f federation) spent(t *testing.T, i int) budget.Cost {
	t.Helper()
	l, err := ledger.OpenExisting(t.Context(), f.options(i).Ledger, ledger.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s, err := l.Show(t.Context(), heldAccount)
	if err != nil {
		t.Fatal(err)
	}
	cost, err := s.Spent.Add(s.Reserved.Cost)
	if err != nil {
		t.Fatal(err)
	}
	return cost
}

// sign has all holders sign the plan.
func (f federation) sign(t testing.TB) {
	t.Helper()
	for _, h := range f.holders {
		signed, err := SignRoll(t.Context(), f.plan, h.KeyFile, f.shared(), false)
		if path := filepath.Join(f.shared(), f.plan.Name+"."+h.Name+".roll"); err != nil || signed.Holder != h.Name ||
			signed.Path != path {
			t.Fatalf("%s signs as %+v: %v", h.Name, signed, err)
		}
	}
}

// nonced returns the roll that the shares were masked for.
func (f federation) nonced(t *testing.T) holder.Roll {
	t.Helper()
	share, err := measured.ReadShare(f.share(0))
	if err != nil {
		t.Fatal(err)
	}
	with, err := participationOf(f.plan, share.Withdrawn)
	if err != nil {
		t.Fatal(err)
	}
	roll, err := with.roll.WithNonces(share.Nonces)
	if err != nil || roll.Hash() != share.Roll {
		t.Fatal(share.Roll, err)
	}
	return roll
}

// share returns the folder of a holder's share.
func (f federation) share(i int) string {
	if f.again != nil {
		return f.again[i]
	}
	return ShareFolder(f.options(i).Out, f.plan.Name, f.holders[i].Name)
}

// shares returns the folders of all shares.
func (f federation) shares() (dirs []string) {
	for i := range f.holders {
		dirs = append(dirs, f.share(i))
	}
	return dirs
}

// measure has every holder measure its data.
func (f federation) measure(t testing.TB) {
	t.Helper()
	for i := range f.holders {
		r, err := Measure(t.Context(), f.plan, f.options(i))
		if err != nil || r.AlreadyDone || r.Folder != f.share(i) {
			t.Fatalf("%s: %+v, %v", f.holders[i].Name, r, err)
		}
	}
}

// publish adds the shares of all holders, publishes the sum and verifies it. It returns the published folder.
func (f federation) publish(t *testing.T) string {
	t.Helper()
	o := f.office()
	sum, err := Combine(t.Context(), f.shares(), o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Publish(t.Context(), sum.Folder, o)
	if err != nil {
		t.Fatal(err)
	}
	assertVerifies(t, r.Folder, verify.Options{})
	return r.Folder
}

// office are the options with which shares are added and the sum is published.
func (f federation) office() Options { return Options{Out: filepath.Join(f.dir, "office")} }

// except returns the federation without its last few holders.
func (f federation) except(last int) federation {
	f.holders = f.holders[:len(f.holders)-last]
	return f
}

// withdraw has the last few holders withdraw, and all others sign again. It returns the others.
func (f federation) withdraw(t *testing.T, last int) federation {
	t.Helper()
	left := f.except(last)
	for i := len(left.holders); i < len(f.holders); i++ {
		o := f.options(i)
		o.Out, o.State = f.shared(), o.StateDir()
		if _, err := Withdraw(t.Context(), f.plan, o, f.holders[i].KeyFile); err != nil {
			t.Fatal(err)
		}
	}
	left.sign(t)
	return left
}

// measureAgain has those who are left after a withdrawal measure. It returns them with these shares.
func (f federation) measureAgain(t *testing.T) federation {
	t.Helper()
	var again []string
	for i := range f.holders {
		r, err := Measure(t.Context(), f.plan, f.options(i))
		if err != nil || r.AlreadyDone {
			t.Fatalf("%s: %+v, %v", f.holders[i].Name, r, err)
		}
		again = append(again, r.Folder)
	}
	f.again = again
	return f
}

// release goes all the way from signing to the published folder.
func (f federation) release(t *testing.T) string {
	t.Helper()
	f.sign(t)
	f.measure(t)
	return f.publish(t)
}

// openShare reads the share of a holder.
func (f federation) openShare(t *testing.T, i int) *measured.Sealed {
	t.Helper()
	s, err := measured.Open(f.share(i), planner.Read)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// heldSpec is a release of few cells.
const heldSpec = `version: 1
release: r
privacy: {protects: person, neighbours: add-remove, account: persons}
budget: {epsilon: 1}
tables: {t: {source: {csv: t.csv}, unit: {id: who, max_rows: 2}, columns: {x: {type: integer, range: [0, 9]}}}}
marginals: {xs: {by: [x]}}
`

// newHeld returns three holders of such a release with data, who have not signed.
func newHeld(t *testing.T) federation {
	t.Helper()
	f := newFederation(t, trustText{3, 2, "disjoint"}, heldSpec)
	for i := range f.holders {
		f.give(t, i, fmt.Sprintf("who,x\n1,%d\n1,2\n2,3\n", i))
	}
	return f
}

// refusesToMeasure asserts that a holder's measuring fails, says why, and neither spends nor leaves anything.
func (f federation) refusesToMeasure(t *testing.T, p *compiled.Compiled, o Options, i int, why string) {
	t.Helper()
	if _, err := Measure(t.Context(), p, o); err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("measuring: %v, expected %q", err, why)
	}
	if cost := f.spent(t, i); !cost.IsZero() {
		t.Errorf("%s: %s is spent or reserved", why, cost)
	}
	if left, _ := filepath.Glob(filepath.Join(o.Out, "*r.*share*")); len(left) > 0 {
		t.Errorf("%s: left behind: %v", why, left)
	}
}

// TestHoldersMeasureWhatAllSigned: a holder measures with its own key, once all have signed its plan, and pays
// nothing before.
func TestHoldersMeasureWhatAllSigned(t *testing.T) {
	f := newHeld(t)
	o := f.options(0)
	refuses := func(o Options, why string) {
		t.Helper()
		f.refusesToMeasure(t, f.plan, o, 0, why)
	}
	refuses(o, "is not signed by h00, h01, h02")
	f.sign(t)
	with := func(change func(h *Holder)) Options {
		other, h := o, *o.Holder
		change(&h)
		other.Holder = &h
		return other
	}
	refuses(with(func(h *Holder) { h.Key = f.holders[1].Key }), "the key is not the one")
	refuses(with(func(h *Holder) { h.Name = "h01" }), "the key is not the one")
	refuses(with(func(h *Holder) { h.Name = "west" }), `no holder "west"`)
	refuses(with(func(h *Holder) { h.Key = holder.Key{} }), "the key is not the one")
	refuses(with(func(h *Holder) { h.Roll = f.dir }), "is not signed by")
	plain := o
	plain.Holder = nil
	refuses(plain, "is of several holders")
	shards := o
	shards.FromShards = f.dir
	refuses(shards, "leave out --from-shards")

	mine := filepath.Join(f.shared(), "r.h00.roll")
	text, err := os.ReadFile(mine)
	if err != nil {
		t.Fatal(err)
	}
	other := f.planned(t, "other", trustText{3, 3, "disjoint"}, heldSpec)
	if _, err := SignRoll(t.Context(), other, f.holders[0].KeyFile, f.shared(), false); err != nil {
		t.Fatal(err)
	}
	refuses(o, "signed another plan, or with other holders")
	foreign, err := os.ReadFile(filepath.Join(f.shared(), "r.h01.roll"))
	if err != nil {
		t.Fatal(err)
	}
	f.put(t, "shared/r.h00.roll", string(foreign))
	refuses(o, "no signature of h00")
	f.put(t, "shared/r.h00.roll", strings.Replace(string(foreign), `"h01"`, `"h00"`, 1))
	refuses(o, "the signature is not by")
	at := strings.Index(string(text), `"signature"`) + len(`"signature": "`) + 20
	other64 := "A" // of the alphabet of base64
	if text[at] == 'A' {
		other64 = "B"
	}
	f.put(t, "shared/r.h00.roll", string(text[:at])+other64+string(text[at+1:]))
	refuses(o, "the signature is not by")
	f.put(t, "shared/r.h00.roll", "{}")
	refuses(o, "no signature")
	f.put(t, "shared/r.h00.roll", string(text))
	if stranger, err := holder.NewKey(); err != nil {
		t.Error(err)
	} else if err := stranger.Write(filepath.Join(f.dir, "stranger")); err != nil {
		t.Error(err)
	} else if _, err := SignRoll(t.Context(), f.plan, filepath.Join(f.dir, "stranger"), f.shared(),
		false); err == nil ||
		!strings.Contains(err.Error(), "no holder with this key") {
		t.Errorf("a stranger signs: %v", err)
	}
	if _, err := Measure(t.Context(), f.plan, o); err != nil {
		t.Error(err)
	}
	if cost := f.spent(t, 0); !cost.Equal(f.plan.Cost) {
		t.Errorf("%s is spent, and the plan costs %s", cost, f.plan.Cost)
	}
}

// TestHoldersMeasureOnce: measuring again finds the share, byte for byte, and pays nothing; without the share and the
// state it is refused, as its debit paid for one draw.
func TestHoldersMeasureOnce(t *testing.T) {
	f := newHeld(t)
	f.sign(t)
	f.measure(t)
	before := releasetest.Contents(t, f.share(1))
	r, err := Measure(t.Context(), f.plan, f.options(1))
	if err != nil || !r.AlreadyDone || r.Folder != f.share(1) {
		t.Fatalf("%+v, %v", r, err)
	}
	if after := releasetest.Contents(t, f.share(1)); !maps.Equal(before, after) {
		t.Error("the share is another one")
	}
	if cost := f.spent(t, 1); !cost.Equal(f.plan.Cost) {
		t.Errorf("%s is spent, and the plan costs %s", cost, f.plan.Cost)
	}
	if err := os.RemoveAll(f.share(1)); err != nil {
		t.Fatal(err)
	}
	var closed *ledger.Closed
	_, err = Measure(t.Context(), f.plan, f.options(1))
	if !errors.As(err, &closed) || !strings.Contains(err.Error(), "put its folder r.h01.share back") {
		t.Errorf("a second draw: %v", err)
	}
	if cost := f.spent(t, 1); !cost.Equal(f.plan.Cost) {
		t.Errorf("%s is spent, and the plan costs %s", cost, f.plan.Cost)
	}
}

// TestEveryLedgerHoldsItsDebit: the ledger of each holder is checked against the release of all, and the ledger of a
// stranger does not hold a debit of it.
func TestEveryLedgerHoldsItsDebit(t *testing.T) {
	f := newHeld(t)
	place := f.release(t)
	for i, h := range f.holders {
		v, err := f.options(i).Account().Verify(t.Context(), []string{place})
		if err != nil || !slices.Equal(v.Releases, []string{place}) {
			t.Errorf("%s: %v, %v", h.Name, v.Releases, err)
		}
	}
	stranger := newHeld(t)
	stranger.release(t)
	var missing *ledger.NotHeld
	if _, err := stranger.options(1).Account().Verify(t.Context(), []string{place}); !errors.As(err, &missing) {
		t.Errorf("a ledger of a stranger: %v", err)
	}
}

// TestHoldersResume: copies of a holder's folder, made when its run had just paid and when it had just sealed, are as
// crashes then would leave it. Each is finished to the share of the run that went on, byte for byte, and pays nothing
// more.
func TestHoldersResume(t *testing.T) {
	f := newHeld(t)
	f.sign(t)
	crashed := map[string]federation{}
	o := f.options(0)
	o.Log = releasetest.LogThat(func(message string) {
		if message == "budget debited" || message == "measurements sealed" {
			crashed[message] = f.copied(t)
		}
	})
	if _, err := Measure(t.Context(), f.plan, o); err != nil {
		t.Fatal(err)
	}
	want := releasetest.Contents(t, f.share(0))
	for when, other := range crashed {
		keys, _ := filepath.Glob(filepath.Join(other.options(0).StateDir(), "*", state.KeyFile))
		if cost := other.spent(t, 0); len(keys) != 1 || !cost.Equal(f.plan.Cost) {
			t.Fatalf("%s: the keys %v are kept, and %s is spent", when, keys, cost)
		}
		if _, err := Measure(t.Context(), other.plan, other.options(0)); err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(want, releasetest.Contents(t, other.share(0))) {
			t.Errorf("%s: the share is another one", when)
		}
		left, _ := filepath.Glob(filepath.Join(other.options(0).StateDir(), "*", "*"))
		if cost := other.spent(t, 0); !cost.Equal(f.plan.Cost) || len(left) > 0 {
			t.Errorf("%s: %s is spent, and %v is left", when, cost, left)
		}
	}
	if len(crashed) != 2 {
		t.Errorf("%d copies", len(crashed))
	}
}

// TestHoldersResumeForTheSameDataOnly: a holder that was cut off after its debit does not mask other numbers.
func TestHoldersResumeForTheSameDataOnly(t *testing.T) {
	f := newHeld(t)
	f.sign(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := f.options(0)
	o.Log = releasetest.LogThat(func(message string) {
		if message == "budget debited" {
			cancel()
		}
	})
	var spent *Spent
	if _, err := Measure(ctx, f.plan, o); !errors.As(err, &spent) {
		t.Fatalf("cut off: %v", err)
	}
	rows, err := os.ReadFile(filepath.Join(o.Data, "t.csv"))
	if err != nil {
		t.Fatal(err)
	}
	f.give(t, 0, string(rows)+"9,9\n")
	var changed *InputChanged
	if _, err := Measure(t.Context(), f.plan, f.options(0)); !errors.As(err, &changed) {
		t.Fatalf("with other rows: %v", err)
	}
	f.give(t, 0, string(rows))
	if _, err := Measure(t.Context(), f.plan, f.options(0)); err != nil {
		t.Fatal(err)
	}
	if cost := f.spent(t, 0); !cost.Equal(f.plan.Cost) {
		t.Errorf("%s is spent, and the plan costs %s", cost, f.plan.Cost)
	}
}

// copied returns a copy of everything in a folder of its own, with the modes that confidential state needs.
func (f federation) copied(t *testing.T) federation {
	t.Helper()
	to := federation{dir: filepath.Join(t.TempDir(), "copy"), plan: f.plan}
	if err := os.CopyFS(to.dir, os.DirFS(f.dir)); err != nil {
		t.Fatal(err)
	}
	for _, h := range f.holders {
		h.Roll = to.shared()
		to.holders = append(to.holders, h)
	}
	for i := range to.holders {
		state := to.options(i).StateDir()
		err := filepath.WalkDir(state, func(path string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err == nil && d.IsDir():
				return os.Chmod(path, 0o700)
			case err == nil:
				return os.Chmod(path, 0o600)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// refusesToCombine asserts that shares are not added, and why.
func (f federation) refusesToCombine(t *testing.T, why string, dirs ...string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	if _, err := Combine(t.Context(), dirs, Options{Out: out}); err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("adding %d shares: %v, expected %q", len(dirs), err, why)
	}
	if left, _ := filepath.Glob(filepath.Join(out, "*")); len(left) > 0 {
		t.Errorf("%s: left behind: %v", why, left)
	}
}

// TestCombineTakesEveryShareOnce refuses what is not the shares of all holders for one plan.
func TestCombineTakesEveryShareOnce(t *testing.T) {
	f := newHeld(t)
	f.sign(t)
	f.measure(t)
	shares := f.shares()
	f.refusesToCombine(t, "there are no shares")
	f.refusesToCombine(t, "the share of h01, h02 is missing", shares[0])
	f.refusesToCombine(t, "the share of h00 is missing", shares[1], shares[2])
	f.refusesToCombine(t, "a second share of h01", shares[0], shares[1], shares[2], shares[1])
	f.refusesToCombine(t, "not a folder of measurements", shares[0], shares[1],
		filepath.Join(shares[2], "measurements"))

	stranger := newHeld(t) // with other keys, and so another plan
	stranger.sign(t)
	stranger.measure(t)
	f.refusesToCombine(t, "it is of another plan", shares[0], shares[1], stranger.share(2))

	practice := f.copied(t)
	o := practice.options(2)
	o.Ledger, o.Out = "", filepath.Join(practice.dir, "practice")
	if _, err := Measure(t.Context(), f.plan, o); err == nil ||
		!strings.Contains(err.Error(), "was measured before with these signatures") {
		t.Errorf("two draws under the same masks: %v", err)
	}
	if _, err := SignRoll(t.Context(), f.plan, o.Holder.KeyFile, practice.shared(), true); err != nil {
		t.Fatal(err)
	}
	r, err := Measure(t.Context(), f.plan, o)
	if err != nil {
		t.Fatal(err)
	}
	f.refusesToCombine(t, "another roll", shares[0], shares[1], r.Folder)

	if _, err := Publish(t.Context(), shares[0], f.office()); err == nil ||
		!strings.Contains(err.Error(), "the masked share of h00") {
		t.Errorf("a share is published: %v", err)
	}
	f.publish(t)
	again, err := Combine(t.Context(), []string{shares[2], shares[0], shares[1]}, f.office())
	if err != nil || !again.AlreadyDone {
		t.Errorf("adding again: %+v, %v", again, err)
	}
}

// TestEveryByteOfAShareIsBound: a share of which any file has one bit flipped, or that lacks a file, is not added.
func TestEveryByteOfAShareIsBound(t *testing.T) {
	f := newHeld(t)
	f.sign(t)
	f.measure(t)
	files := releasetest.Contents(t, f.share(1))
	flips := 0
	for name, text := range files {
		path := filepath.Join(f.share(1), filepath.FromSlash(name))
		put := func(text string) {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for at := 0; at < len(text); at += max(1, len(text)/20) {
			altered := []byte(text)
			altered[at] ^= 1 << (at % 8)
			put(string(altered))
			f.refusesToCombine(t, "h01", f.shares()...)
			flips++
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		f.refusesToCombine(t, "h01", f.shares()...)
		put(text)
	}
	t.Logf("%d flips in %d files", flips, len(files))
	f.publish(t)
}

// TestAHolderWithdraws: a holder that has not measured withdraws after others have measured. These sign again and
// mask the same answers for the sum without it, which spends nothing more, and the withdrawn holder can measure no
// more.
func TestAHolderWithdraws(t *testing.T) {
	f := newHeld(t)
	f.sign(t)
	first := f.except(1)
	first.measure(t)
	left := f.withdraw(t, 1)
	if _, err := Measure(t.Context(), f.plan, f.options(2)); err == nil {
		t.Error("a holder that has withdrawn measures")
	}
	taken := f.options(0)
	taken.Out, taken.State = t.TempDir(), f.options(0).StateDir()
	if _, err := Withdraw(t.Context(), f.plan, taken, f.holders[0].KeyFile); err == nil ||
		!strings.Contains(err.Error(), "its share may have left") {
		t.Errorf("a holder that has measured withdraws: %v", err)
	}
	left = left.measureAgain(t)
	for i := range left.holders {
		if cost := f.spent(t, i); !cost.Equal(f.plan.Cost) {
			t.Errorf("%s is spent, and the plan costs %s", cost, f.plan.Cost)
		}
		before := first.openShare(t, i).Measured[0].Values.Int64Values()
		after := left.openShare(t, i).Measured[0].Values.Int64Values()
		for cell := range after { // equal by chance with probability 2^-64
			if before[cell] == after[cell] {
				t.Errorf("%s: cell %d has the same mask in both shares", left.holders[i].Name, cell)
			}
		}
	}
	f.refusesToCombine(t, "h0", first.share(0), left.share(1))
	f.refusesToCombine(t, "is missing", first.shares()...)
	left.publish(t)
}
