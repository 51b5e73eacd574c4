package units

import (
	"math/rand/v2"
	"testing"
)

// A list of more units than memory holds is sorted on disk, each unit once.
func TestListsAreSortedOnDisk(t *testing.T) {
	l := New([32]byte{1})
	defer l.Close()
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[unit]bool{}
	for range 20 {
		var some []unit
		for range r.IntN(500) {
			var u unit
			u[0], u[15] = byte(r.IntN(40)), byte(r.IntN(40))
			some, seen[u] = append(some, u), true
		}
		one := &Lister{of: l, have: some}
		if err := one.flush(); err != nil {
			t.Fatal(err)
		}
	}
	var last unit
	n := 0
	if err := l.each(func(u unit) error {
		if n > 0 && last.compare(u) >= 0 || !seen[u] {
			t.Error("units are not ascending, or another than those that were added")
		}
		last = u
		n++
		return nil
	}); err != nil || n != len(seen) {
		t.Errorf("%d of %d units, %v", n, len(seen), err)
	}
}
