package scan_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
)

// A value that the spec does not declare is found before anything is spent, and
// is named only in the diagnostics.
func ExampleContractError() {
	dir, err := os.MkdirTemp("", "pets")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "pets.csv"), []byte("kind\ncat\naxolotl\n"), 0o600); err != nil {
		panic(err)
	}
	r, err := spec.Parse(spec.Source{Name: "pets.yaml", Text: `version: 1
release: pets
privacy: {protects: household, neighbours: add-remove, account: town}
budget: {epsilon: 1}
tables:
  pets: {source: {csv: pets.csv}, unit: row, columns: {kind: {values: [cat, dog, other]}}}
marginals:
  kinds: {by: [kind]}
`})
	if err != nil {
		panic(err)
	}
	p, err := planner.New(r)
	if err != nil {
		panic(err)
	}
	_, err = histogram.Count(context.Background(), p, scan.Files{Dir: dir}, noise.NewStreams(noise.Key{}, p.Hash()))
	fmt.Println(err)
	// Output:
	// pets.kind: a value is outside its domain; correct the data, add the value to the domain, or set unknown: drop or unknown: {as: CATEGORY}
}
