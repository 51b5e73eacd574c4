package ledger

import (
	"fmt"
	"math/big"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/sign"
)

// newKey draws a key.
func newKey(t testing.TB) sign.Key {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	_, err := sign.Generate(path)
	must(t, err)
	key, err := sign.ReadKey(path)
	must(t, err)
	return key
}

// TestLongChain replays a signed ledger of 2 000 entries, as every debit does, to the entry that it ends with.
func TestLongChain(t *testing.T) {
	b := longChain(t, 2000, newKey(t), newKey(t))
	again := newBook("again")
	for _, l := range b.lines {
		must(t, again.readLine(l))
	}
	if again.head != b.head || again.sequence < 2000 {
		t.Errorf("the chain ends at %d, %s; want %d, %s", again.sequence, again.head, b.sequence, b.head)
	}
}

// longChain returns a signed ledger of releases on a child of a register, each with a standing approval and five
// mechanisms.
func longChain(t testing.TB, entries int64, office, officer sign.Key) *book {
	t.Helper()
	terms := Terms{"person", AddRemove, Rho}
	b := newBook("long")
	open := func(p Policy) {
		es, err := b.entriesToOpen(p, Official)
		must(t, err)
		writeOn(t, b, "2026-03-01", &office, es...)
	}
	open(Policy{Account: "register", Terms: terms, Cap: rho("1000")})
	open(Policy{Account: "quarter", Terms: terms, Cap: rho("1000"), Parent: "register",
		Allowance: &Allowance{Month, rho("900")},
		Approvals: map[string][]sign.PublicKey{"officer": {officer.Public()}}})
	approval := Approval{Plan: hash("7e"), Role: "officer", Statement: "Quarterly tables as ever.",
		Standing: &Standing{"2027-01-01", 10_000}}.Signed(officer)
	var mechanisms []Repeated
	for i := range 5 {
		mechanisms = append(mechanisms, Repeated{Count: 3, Mechanism: gaussian(int64(1000 + i))})
	}
	for i := 0; b.sequence < entries; i++ {
		c := Charge{Account: "quarter", Release: fmt.Sprint("r", i), PlanHash: hash(fmt.Sprint(i)),
			Template: hash("7e"),
			Terms:    terms,
			Cost:     rho("1/20"), Mechanisms: mechanisms, Approvals: []Approval{approval}, Commitment: hash("c0")}
		es, err := b.entriesToDebit(c, "2026-03-01")
		must(t, err)
		e := ending(kindRelease, c)
		e.Seal = hash("5e")
		writeOn(t, b, "2026-03-01", &office, append(es, e)...)
	}
	return b
}

// writeOn writes entries of a day, and returns their lines.
func writeOn(t testing.TB, b *book, day string, office *sign.Key, es ...entry) []line {
	t.Helper()
	for i := range es {
		es[i].Date, es[i].time = day, day+"T12:34:56Z"
	}
	lines, err := b.writeEntries(es, office)
	must(t, err)
	return lines
}

// gaussian is a discrete Gaussian of variance σ² on a query of sensitivity 1.
func gaussian(variance int64) budget.Mechanism {
	return budget.Mechanism{Kind: budget.DiscreteGaussian, Parameter: rat(fmt.Sprint(variance)), L1: big.NewInt(1),
		L2Squared: big.NewInt(1)}
}

// BenchmarkReplay reads ledgers of two lengths: the time for an entry must not grow with their number.
func BenchmarkReplay(b *testing.B) {
	for _, entries := range []int64{1000, 10_000} {
		b.Run(strconv.FormatInt(entries, 10), func(b *testing.B) {
			whole := longChain(b, entries, newKey(b), newKey(b))
			for b.Loop() {
				again := newBook("again")
				for _, l := range whole.lines {
					must(b, again.readLine(l))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(whole.lines)), "ns/entry")
		})
	}
}
