package counted

import (
	"math/big"
	"testing"

	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

// TestValuesThatCannotBeAddedUpAreRefused: powers that there are not, and sums of what is counted.
func TestValuesThatCannotBeAddedUpAreRefused(t *testing.T) {
	table := &spec.Table{
		Columns: []*spec.Column{{Name: "x", Declaration: domain.Declaration{
			Lattice: &domain.Lattice{Step: big.NewRat(1, 1), First: 0, Last: 8}}}},
		Weight: &spec.Weight{Lattice: domain.Lattice{Step: big.NewRat(1, 1), First: 0, Last: 3}},
	}
	for _, c := range []struct {
		value Values
		good  bool
	}{
		{Values{Weight: true}, true}, {Values{Column: "x", Power: 2, Times: 1, Weight: true}, true},
		{Values{Column: "x", Beyond: true}, true},
		{Values{Column: "x", Power: -1, Times: 1}, false}, {Values{Column: "x", Power: 3, Times: 1}, false},
		{Values{Column: "x", Beyond: true, Weight: true}, false}, {Values{Column: "x", Beyond: true, Power: 1}, false},
		{Values{Column: "y", Power: 1, Times: 1}, false}, {Values{Column: "y", Beyond: true}, false},
	} {
		if err := c.value.Check(table); (err == nil) != c.good {
			t.Errorf("%+v: %v", c.value, err)
		}
	}
	table.Weight = nil
	if (Values{Weight: true}).Check(table) == nil {
		t.Error("weights that there are not are added up")
	}
}
