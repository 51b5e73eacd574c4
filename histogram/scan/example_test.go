package scan_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
)

const text = `version: 1
release: pets
privacy: {protects: household, neighbours: add-remove, account: town}
budget: {epsilon: 1}
tables:
  pets: {source: {csv: pets.csv}, unit: row, columns: {kind: {values: [cat, dog, other]}}}
marginals:
  kinds: {by: [kind]}
`

// counted counts the rows of a file for the release of the spec above.
func counted(rows string) (*histogram.Exact, error) {
	dir, err := os.MkdirTemp("", "pets")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "pets.csv"), []byte(rows), 0o600); err != nil {
		panic(err)
	}
	r, err := spec.Parse(spec.Source{Name: "pets.yaml", Text: text})
	if err != nil {
		panic(err)
	}
	p, err := planner.New(r)
	if err != nil {
		panic(err)
	}
	return histogram.Count(context.Background(), p, scan.Files{Dir: dir}, noise.NewStreams(noise.Key{}, p.Hash()))
}

// Counts stay closed until they are paid for. A value that the spec does not declare is found before that.
func Example() {
	fmt.Println(counted("kind\ncat\ncat\ndog\n"))
	_, err := counted("kind\ncat\naxolotl\n")
	fmt.Println(errors.As(err, new(*scan.ContractError)))
	// Output:
	// confidential <nil>
	// true
}

// A value that the spec does not declare is found before anything is spent, and
// is named only in the diagnostics.
func ExampleContractError() {
	_, err := counted("kind\ncat\naxolotl\n")
	wrong, cure, _ := strings.Cut(err.Error(), "; ")
	fmt.Println(wrong)
	fmt.Println(cure)
	// Output:
	// pets.kind: a value is outside its domain
	// correct the data, add the value to the domain, or set unknown: drop or unknown: {as: CATEGORY}
}
