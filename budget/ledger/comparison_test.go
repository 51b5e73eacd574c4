package ledger

import (
	"context"
	"errors"
	"testing"
)

// TestComparison checks that a note permits one comparison, for the plan that was debited under its name, and is in the
// ledger by then.
func TestComparison(t *testing.T) {
	ctx := context.Background()
	l, path := fresh(t, "6")
	c := charge("a", "aa", "1")
	debit(t, l, c)
	note, err := l.Compared(ctx, "people", "a", "Coverage.")
	must(t, err)
	again, err := OpenExisting(ctx, path, OpenOptions{})
	must(t, err)
	defer again.Close()
	if s := show(t, again); s.Comparisons != 1 || note.Number() != 1 {
		t.Errorf("another process reads %d comparisons, the note is number %d; want 1", s.Comparisons, note.Number())
	}
	if err := note.Use(hash("bb")); !errors.Is(err, errOtherPlan) {
		t.Errorf("another plan's: %v", err)
	}
	copied := note
	must(t, note.Use(c.PlanHash))
	for name, used := range map[string]Comparison{"the note": note, "a copy": copied} {
		if err := used.Use(c.PlanHash); !errors.Is(err, errUsed) {
			t.Errorf("%s a second time: %v", name, err)
		}
	}
	if got := note.String(); got != "a: compared with the truth, comparison 1 of account people" {
		t.Errorf("prints %q", got)
	}

	second, err := l.Compared(ctx, "people", "a", "Coverage.")
	must(t, err)
	if second.Number() != 2 || second.Use(c.PlanHash) != nil {
		t.Errorf("the second note is number %d", second.Number())
	}
	must(t, l.Reserve(ctx, charge("b", "bb", "1")))
	for _, release := range []string{"b", "trial"} {
		note, err := l.Compared(ctx, "people", release, "Coverage.")
		must(t, err)
		for _, hash := range []string{"", hash("bb"), c.PlanHash} {
			if err := note.Use(hash); !errors.Is(err, errOtherPlan) {
				t.Errorf("%s, which is not debited, for plan %.4s: %v", release, hash, err)
			}
		}
	}
}

// TestNoComparison checks that there is no comparison without a durable note, and that the note of a rehearsal permits
// none.
func TestNoComparison(t *testing.T) {
	ctx := context.Background()
	if err := (Comparison{}).Use(""); !errors.Is(err, errNotNoted) {
		t.Errorf("the zero comparison: %v", err)
	}
	l, _ := fresh(t, "6")
	note, err := l.Compared(ctx, "nobody", "a", "Coverage.")
	if err == nil || !errors.Is(note.Use(hash("aa")), errNotNoted) {
		t.Errorf("on an account that is not there: %v, %v", note, err)
	}
	rehearsal := OpenRehearsal()
	c := charge("a", "aa", "1")
	debit(t, rehearsal, c)
	note, err = rehearsal.Compared(ctx, "people", "a", "Coverage.")
	must(t, err)
	if err := note.Use(c.PlanHash); !errors.Is(err, errMadeUp) {
		t.Errorf("a rehearsal's: %v", err)
	}
}
