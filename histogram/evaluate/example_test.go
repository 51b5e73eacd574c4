package evaluate_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/histogram/evaluate"
	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
)

const text = `version: 1
release: pets
privacy: {protects: household, neighbours: add-remove, account: town}
budget: {epsilon: 1}
tables: {town: {source: {csv: town.csv}, unit: row, columns: {pet: {values: [cat, dog]}}}}
marginals: {pets: {by: [pet]}}
`

// planned is the plan of the release.
func planned() *compiled.Compiled {
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: text})
	if err != nil {
		panic(err)
	}
	p, err := planner.New(r)
	if err != nil {
		panic(err)
	}
	return p
}

// noted pays for a plan, and notes in the ledger that it is to be compared with the truth.
func noted(ctx context.Context, p *compiled.Compiled, folder string) ledger.Comparison {
	l, err := ledger.Open(ctx, filepath.Join(folder, "ledger.db"), ledger.OpenOptions{})
	if err != nil {
		panic(err)
	}
	defer l.Close()
	charge := ledger.Charge{Account: "town", Release: "pets", PlanHash: p.Hash(), Cost: p.Cost,
		Terms:      ledger.Terms{Protects: "household", Neighbours: "add-remove", Definition: "epsilon"},
		Commitment: strings.Repeat("0f", 32)}
	if err := l.Init(ctx, ledger.Policy{Account: "town", Terms: charge.Terms, Cap: charge.Cost}); err != nil {
		panic(err)
	}
	if _, err := l.Debit(ctx, charge); err != nil {
		panic(err)
	}
	note, err := l.Compared(ctx, "town", "pets", "a yearly review")
	if err != nil {
		panic(err)
	}
	return note
}

// Compare published counts with the confidential rows. What comes out is confidential too.
func Example() {
	folder, err := os.MkdirTemp("", "pets")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	if err := os.WriteFile(filepath.Join(folder, "town.csv"), []byte("pet\ncat\ncat\ndog\n"), 0o600); err != nil {
		panic(err)
	}
	ctx, p := context.Background(), planned()
	published := evaluate.Figures{Published: []int64{3, 0}, Unbiased: []float64{3, -1}, Low: []float64{0, 0},
		High: []float64{6, 2}}
	d, err := evaluate.Compare(ctx, noted(ctx, p, folder), p, scan.Files{Dir: folder},
		noise.NewStreams(noise.Key{}, p.Hash()).Rows(), evaluate.PublishedResults{Tables: []evaluate.PublishedStatistic{
			{Path: "pets", Read: func() (evaluate.Figures, error) { return published, nil }}}})
	if err != nil {
		panic(err)
	}
	fmt.Println(d)
	fmt.Println("off by", d.Tables[0].L1, "rows; true counts within the interval:", d.Tables[0].Covered)
	// Output:
	// confidential
	// off by 2 rows; true counts within the interval: 2
}
