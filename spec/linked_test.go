package spec

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLinkedMicrodata reads which columns parents and children exchange: a parent gets a size for each child; a child
// gets the columns of the parent that are read, each at its level, and its own size. Parents come first.
func TestLinkedMicrodata(t *testing.T) {
	r, err := Parse(Source{Name: "r.yaml", Text: withChildren})
	if err != nil {
		t.Fatal(err)
	}
	want := []Synthetic{
		{Table: "households", Leaf: "homes", Method: AutoMethod, By: []Attribute{{Column: "tenure"}, {Column: "own"},
			{"area", "half"}, {Column: "persons"}, {Column: "n_cars"}}},
		{Table: "persons", Leaf: "people", Method: AutoMethod, By: []Attribute{{Column: "sex"}, {"age", "band"}},
			Parent: "households", Size: "persons",
			Given: []Attribute{{Column: "households.tenure"}, {"households.area", "half"},
				{Column: "households.persons"}}},
		{Table: "cars", Leaf: "cars", Method: AutoMethod, By: []Attribute{{Column: "fuel"}, {Column: "kind"}},
			Parent: "households", Size: "n_cars",
			Given: []Attribute{{Column: "households.tenure"}, {"households.area", "half"},
				{Column: "households.n_cars"}}},
	}
	if diff := cmp.Diff(want, r.Synthetic); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	size := r.Table("households").Column("persons")
	if size == nil || size.Domain.Size() != 4 || *size.Link != (Link{Table: "persons"}) {
		t.Errorf("the size is %+v, want one of 0 to 3 persons", size)
	}
	area := r.Table("cars").Column("households.area")
	if level, ok := area.Domain.Level("half"); !ok || level.Size() != 2 || *area.Link != (Link{"households", "area"}) ||
		len(area.Inputs()) != 0 {
		t.Errorf("the area of a car is %+v, want that of its household, which no file of cars has", area)
	}
	for _, table := range r.Tables {
		for _, c := range table.Columns {
			if c.Link != nil {
				t.Errorf("%s.%s is a column of its table", table.Name, c.Name)
			}
		}
	}
}

// Method aim may also make a child, from sets of three columns: two of its own and one of its parent.
func TestLinkedMicrodataByAIM(t *testing.T) {
	r, err := Parse(Source{Name: "r.yaml", Text: strings.Replace(withChildren, "size: n_cars, method: auto",
		"size: n_cars, method: aim, ways: 3", 1)})
	if err != nil {
		t.Fatal(err)
	}
	if cars := r.Synthetic[2]; cars.Table != "cars" || cars.Method != AIM || cars.Ways != 3 || len(cars.By) != 2 ||
		len(cars.Given) != 3 {
		t.Errorf("%+v", cars)
	}
}
