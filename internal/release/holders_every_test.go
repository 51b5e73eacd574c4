package release

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/histogram/holder"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/testkit"
)

// This file compares the noise of releases of every number of holders from 2 to 50 with its law. Failures by chance are
// as in holders_law_test.go, with one more check of all releases together.
//
// Power. With 4000 counts a release shows mistakes that change the variance by a third or more: one of 2 or 3 holders
// without noise, and in 32 releases shares of which all holders are needed. That one holder of each release has no
// noise shows in all releases together.

// everyCells is the number of counts of each of these releases.
const everyCells = 4000

// everySetting is a release of some holders.
type everySetting struct {
	holders, trusted int
	spec             string
}

// everySettings are the releases of 2 to 50 holders: of one trusted holder, half of them and all in turn, with Laplace
// noise and with Skellam noise.
func everySettings() (all []everySetting) {
	for holders := 2; holders <= 50; holders++ {
		text := []string{lawSpec, skellamRho.spec()}[holders%2]
		all = append(all, everySetting{holders, []int{1, (holders + 1) / 2, holders}[holders%3],
			strings.Replace(text, "99999", "3999", 1)})
	}
	return all
}

// everyRow are the rows of each holder.
const everyRow = "who,x\n1,3\n"

// lessRows takes the true counts of so many holders off.
func lessRows(counts []int64, holders int) []int64 {
	counts[3] -= int64(holders)
	return counts
}

// drawnErrors returns the errors of the sum of all holders' shares, which are drawn and masked without files of shares.
func (f federation) drawnErrors(t *testing.T) []int64 {
	t.Helper()
	roll, err := RollOf(f.plan)
	if err != nil {
		t.Fatal(err)
	}
	d, sum := newDrawer(t, f.plan, len(f.holders)), make([]int64, everyCells)
	if err := os.WriteFile(filepath.Join(d.dir, "t.csv"), []byte(everyRow), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, h := range f.holders {
		masks, err := holder.NewMasks(roll, h.Key, h.Name)
		if err != nil {
			t.Fatal(err)
		}
		d.held = &masking{nonced: roll, masks: masks}
		holder.Add(sum, d.draw(t)[0])
	}
	if err := holder.Check(sum); err != nil {
		t.Fatal(err)
	}
	return lessRows(sum, len(f.holders))
}

// releasedErrors returns the errors of the same release by files of shares.
func (f federation) releasedErrors(t *testing.T) []int64 {
	t.Helper()
	for i := range f.holders {
		f.openAccount(t, i)
		f.give(t, i, everyRow)
	}
	f.release(t)
	return lessRows(f.summed(t), len(f.holders))
}

// TestEveryNumberOfHoldersHasItsLaw draws the shares of 2 to 50 holders and compares their sums with the law.
func TestEveryNumberOfHoldersHasItsLaw(t *testing.T) {
	testkit.SkipPassed(t)
	testEveryNumber(t, federation.drawnErrors)
}

// TestReleasesOfEveryNumberOfHolders does the same with whole releases, from signatures to published files.
func TestReleasesOfEveryNumberOfHolders(t *testing.T) {
	releasetest.SkipLong(t, true)
	testEveryNumber(t, federation.releasedErrors)
}

// testEveryNumber compares the errors of every setting with their law, and wants mistakes to be noticed.
func testEveryNumber(t *testing.T, errorsOf func(f federation, t *testing.T) []int64) {
	t.Helper()
	all, silent, asked := wideErrors{}, wideErrors{}, 0
	for _, s := range everySettings() {
		f := withoutAccounts(t, trustText{s.holders, s.trusted, "disjoint"}, s.spec)
		n := f.checkedNoise(t)
		t.Logf("%d of %d holders, %s", s.trusted, s.holders, n.kind.Name())
		law, errors := n.law(s.holders, s.trusted), errorsOf(f, t)
		checkLaw(t, errors, law)
		asked += n.notices(t, s.holders, s.trusted, everyCells, lawMistakes(s.holders, s.trusted))
		all.add(errors, law, law)
		silent.add(n.draw(t, s.holders-1, s.trusted, everyCells), law, n.law(s.holders-1, s.trusted))
	}
	if alarm := all.alarm(); alarm < lawTail {
		t.Errorf("%+v errors are wide: probability %g", all, alarm)
	}
	if asked != 34 {
		t.Errorf("%d mistakes were asked for", asked)
	}
	missed, alarm := silent.missed(), silent.alarm()
	t.Logf("one holder without noise in every release: missed with probability below %.0e; found at %.0e", missed,
		alarm)
	if missed > lawMissed || alarm >= lawTail {
		t.Errorf("one holder without noise in every release is not noticed, or missed with probability %g", missed)
	}
}

// wideErrors counts errors of several laws that are about one standard deviation or more in absolute value: how many
// there are, by the law that they should have, and by the one that they have.
type wideErrors struct {
	errors, wide    int
	expected, other float64
}

// add counts errors that should have a law, and have another one.
func (w *wideErrors) add(errors []int64, law, other releasetest.Law) {
	k := max(1, int(math.Round(deviationOf(law))))
	w.errors += len(errors)
	w.expected += float64(len(errors)) * beyond(law, k)
	w.other += float64(len(errors)) * beyond(other, k)
	for _, x := range errors {
		if max(x, -x) >= int64(k) {
			w.wide++
		}
	}
}

// alarm bounds the probability that as many errors are wide, or as few, as are.
func (w wideErrors) alarm() float64 { return w.tail(float64(w.wide), w.expected) }

// tail bounds the probability that so many errors or more are wide, or so many or fewer where that is less than
// expected. Among independent events of different probabilities, the bound by Chernoff is largest if all have the mean
// of these (Hoeffding 1963, theorem 1).
func (w wideErrors) tail(wide, expected float64) float64 {
	n, divergence := float64(w.errors), 0.0
	for _, of := range [][2]float64{{wide, expected}, {n - wide, n - expected}} {
		if of[0] > 0 {
			divergence += of[0] * math.Log(of[0]/of[1])
		}
	}
	return math.Exp(-divergence)
}

// missed bounds the probability that errors of the other law, of which fewer are wide, raise no alarm.
func (w wideErrors) missed() float64 {
	most := w.expected // of wide errors that raise an alarm
	for most > w.other && w.tail(most, w.expected) >= lawTail {
		most--
	}
	if most <= w.other {
		return 1
	}
	return w.tail(most, w.other)
}
