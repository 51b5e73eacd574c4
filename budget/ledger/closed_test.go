package ledger

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// A debit is for one key and one set of integers: a second draw under the same plan is refused.
func TestDebitIsBoundToItsCommitment(t *testing.T) {
	ctx := t.Context()
	l, err := Open(ctx, filepath.Join(t.TempDir(), "ledger.db"), OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p, err := ParsePolicy("policy.yaml",
		[]byte("account: a\nprotects: person\nneighbours: add-remove\ncap: {epsilon: 3}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Init(ctx, p); err != nil {
		t.Fatal(err)
	}
	c := Charge{Account: "a", Release: "r", PlanHash: strings.Repeat("0", 64), Terms: p.Terms, Cost: p.Cap}
	if day, err := l.Debited(ctx, c); err != nil || day != "" {
		t.Fatalf("Debited before: %q, %v", day, err)
	}
	c.Commitment = strings.Repeat("1", 64)
	first, err := l.Debit(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	again, err := l.Debit(ctx, c)
	if err != nil || again.Record().Proof.Hash != first.Record().Proof.Hash {
		t.Fatalf("the same debit again: %v, %v", again, err)
	}
	for _, other := range []string{"", strings.Repeat("2", 64)} {
		c.Commitment = other
		r, err := l.Debit(ctx, c)
		var closed *Closed
		if !errors.As(err, &closed) || r.Valid() {
			t.Errorf("debit under commitment %q: receipt valid %v, error %v", other, r.Valid(), err)
		}
	}
	if day, err := l.Debited(ctx, c); err != nil || day != first.Record().Date {
		t.Errorf("Debited after: %q, %v", day, err)
	}
	if err := l.Verify(ctx); err != nil {
		t.Error(err)
	}
}
