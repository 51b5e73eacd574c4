package spec

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Impossible combinations refer to the columns that are read, with codes in the order of their level.
func TestImpossibleIsOfWhatIsRead(t *testing.T) {
	src := baseSource()
	src.Text = derived
	r, err := Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	want := []Impossible{
		{Table: "persons", Where: []Condition{{Attribute{"age", "band"}, []int{0}},
			{Attribute{"size", ""}, []int{0, 2}}}},
		{Table: "persons", Where: []Condition{{Attribute{"region", "state"}, []int{0}},
			{Attribute{"hour", ""}, []int{7}},
			{Attribute{"sex", ""}, []int{0}}}, Drop: true},
	}
	if diff := cmp.Diff(want, r.Impossible); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
