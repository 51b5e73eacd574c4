package ledger

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

// model is the simplest account: the state of the plans of each release, in units of 1/12 of ε, under a cap of 5.
type model struct {
	plans map[[2]string]State
	costs map[[2]string]int64
}

const modelCap = 60

func (m *model) used() (spent, reserved int64) {
	for key, state := range m.plans {
		switch state {
		case Debited:
			spent += m.costs[key]
		case Reserved:
			reserved += m.costs[key]
		}
	}
	return spent, reserved
}

// reserve returns how Reserve must answer: "", "taken", "refused" or "cost".
func (m *model) reserve(release, plan string, cost int64) string {
	key := [2]string{release, plan}
	if state := m.plans[key]; state == Reserved || state == Debited {
		if m.costs[key] != cost {
			return "cost"
		}
		return ""
	}
	for other, state := range m.plans {
		if other[0] == release && other[1] != plan && state != Cancelled {
			return "taken"
		}
	}
	if spent, reserved := m.used(); spent+reserved+cost > modelCap {
		return "refused"
	}
	m.plans[key], m.costs[key] = Reserved, cost
	return ""
}

func answer(err error) string {
	var taken *NameTaken
	var refused *Refused
	switch {
	case err == nil:
		return ""
	case errors.As(err, &taken):
		return "taken"
	case errors.As(err, &refused):
		return "refused"
	}
	return "cost"
}

// mostChecks is the number of random histories of a ledger: 40, or as many as rapid draws with DPRELEASE_LONG.
func mostChecks() int {
	if os.Getenv("DPRELEASE_LONG") != "" {
		return math.MaxInt
	}
	return 40
}

// TestAgainstModel runs random charges through two handles on one file, which is reopened now and then, and compares
// them with the model.
func TestAgainstModel(t *testing.T) {
	folder, number := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		if number++; number > mostChecks() {
			return
		}
		path := filepath.Join(folder, fmt.Sprint(number, ".db"))
		handles := make([]*Ledger, 2)
		reopen := func(i int) {
			if handles[i] != nil {
				handles[i].Close()
			}
			l, err := Open(ctx, path, vouched())
			if err != nil {
				t.Fatal(err)
			}
			// sums, not disks, are at stake
			if _, err := l.store.(*file).db.Exec("PRAGMA synchronous = OFF"); err != nil {
				t.Fatal(err)
			}
			handles[i] = l
		}
		reopen(0)
		reopen(1)
		defer func() { handles[0].Close(); handles[1].Close() }()
		if err := handles[0].Init(ctx, capped("5")); err != nil {
			t.Fatal(err)
		}
		m := &model{plans: map[[2]string]State{}, costs: map[[2]string]int64{}}
		receipts := map[[2]string]Record{}
		draw := func(t *rapid.T) (*Ledger, [2]string, int64, Charge) {
			key := [2]string{rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "release"),
				rapid.SampledFrom([]string{"1", "2"}).Draw(t, "plan")}
			cost := rapid.Int64Range(1, 30).Draw(t, "twelfths")
			c := charge(key[0], key[1], "1")
			c.Cost.Epsilon = big.NewRat(cost, 12)
			return handles[rapid.IntRange(0, 1).Draw(t, "handle")], key, cost, c
		}
		t.Repeat(map[string]func(*rapid.T){
			"reserve": func(t *rapid.T) {
				l, key, cost, c := draw(t)
				if got, want := answer(l.Reserve(ctx, c)), m.reserve(key[0], key[1], cost); got != want {
					t.Fatalf("Reserve answers %q; want %q", got, want)
				}
			},
			"cancel": func(t *rapid.T) {
				l, key, _, c := draw(t)
				if err := l.Cancel(ctx, c); err != nil {
					t.Fatal(err)
				}
				if m.plans[key] == Reserved {
					m.plans[key] = Cancelled
				}
			},
			"debit": func(t *rapid.T) {
				l, key, cost, c := draw(t)
				r, err := l.Debit(ctx, c)
				want := m.reserve(key[0], key[1], cost)
				if got := answer(err); got != want {
					t.Fatalf("Debit answers %q; want %q", got, want)
				}
				if want != "" {
					return
				}
				m.plans[key] = Debited
				if old, again := receipts[key]; again && old.Proof.Hash != r.Record().Proof.Hash {
					t.Fatal("the same charge got two receipts")
				}
				receipts[key] = r.Record()
			},
			"reopen": func(t *rapid.T) { reopen(rapid.IntRange(0, 1).Draw(t, "handle")) },
			"": func(t *rapid.T) {
				s, err := handles[0].Show(ctx, "people")
				if err != nil {
					t.Fatal(err)
				}
				spent, reserved := m.used()
				if s.Spent.Epsilon.Cmp(big.NewRat(spent, 12)) != 0 ||
					s.Reserved.Epsilon.Cmp(big.NewRat(reserved, 12)) != 0 ||
					s.Left.Epsilon.Cmp(big.NewRat(modelCap-spent-reserved, 12)) != 0 {
					t.Fatalf("spent %v, reserved %v, left %v; want %d, %d twelfths", s.Spent, s.Reserved, s.Left,
						spent, reserved)
				}
			},
		})
		if err := handles[1].Verify(ctx); err != nil {
			t.Fatal(err)
		}
	})
}
