package release

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the releases that are audited: their plans, their neighbouring
// inputs, and the two ways in which they are run.

// audited is a release under audit.
type audited struct {
	neighbours spec.Neighbours
	budget     string // as a spec writes it
	maxRows    int
	marginals  int
	trials     int     // on either side
	epsilon0   float64 // where δ is audited; without meaning under pure ε
	runs       int     // in process; 0: one release, read from its files
}

// rows of the worst unit in the file.
func (a audited) rows() int { return a.maxRows + 2 }

// blocks of one run.
func (a audited) blocks() int {
	n := 2 * a.trials / max(a.runs, 1)
	if a.neighbours == spec.Replace {
		n *= 2
	}
	return n
}

// by are the attributes of the marginals, of which a release has the first few.
var by = [][]string{{"block"}, {"block", "sex"}, {"age", "block"}}

// Sizes of the domains beside block's. The unit of a block has the attributes
// that the block's number leaves when divided by them.
const (
	sexes = 2
	ages  = 3
)

// plan plans the release with this unit and this budget, of which each marginal has
// an equal leaf: so each is measured by itself, with noise of one law.
func (a audited) plan(t *testing.T, unit, budget string) *compiled.Compiled {
	t.Helper()
	var leaves []string
	for i := range a.marginals {
		leaves = append(leaves, fmt.Sprintf("l%d: 1/%d", i, a.marginals))
	}
	text := fmt.Sprintf(`version: 1
release: audit
privacy: {protects: person, neighbours: %s}
budget: {%s, split: {%s}}
tables:
  persons:
    source: {csv: persons.csv}
    unit: %s
    columns:
      block: {type: integer, range: [0, %d]}
      sex: {type: integer, range: [0, %d]}
      age: {type: integer, range: [0, %d]}
marginals:
`, a.neighbours, budget, strings.Join(leaves, ", "), unit, a.blocks()-1, sexes-1, ages-1)
	for i, attributes := range by[:a.marginals] {
		text += fmt.Sprintf("  m%d: {by: [%s", i, attributes[0])
		for _, other := range attributes[1:] {
			text += ", " + other
		}
		text += fmt.Sprintf("], budget: l%d}\n", i)
	}
	path := filepath.Join(t.TempDir(), "release.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := planfile.Load(context.Background(), planfile.Spec{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// honest plans the release as it should be.
func (a audited) honest(t *testing.T) *compiled.Compiled {
	t.Helper()
	return a.plan(t, fmt.Sprintf("{id: id, max_rows: %d}", a.maxRows), a.budget)
}

// randomHalf chooses half of so many trials at random.
func randomHalf(trials int, seed uint64) []bool {
	c := make([]bool, trials)
	for i := range trials / 2 {
		c[i] = true
	}
	rand.New(rand.NewPCG(seed, 0)).Shuffle(trials, func(i, j int) { c[i], c[j] = c[j], c[i] })
	return c
}

// write makes the input in which the coins say where units are. The rows of a
// unit lie far apart.
func (a audited) write(t *testing.T, dir string, planted []bool) {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("id,block,sex,age\n")
	for range a.rows() {
		for trial, there := range planted {
			block := trial
			switch {
			case a.neighbours == spec.Replace && there:
				block = 2 * trial
			case a.neighbours == spec.Replace:
				block = 2*trial + 1
			case !there:
				continue
			}
			fmt.Fprintf(&b, "%d,%d,%d,%d\n", trial, block, block%sexes, block%ages)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "persons.csv"), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// run releases the plan on neighbouring inputs and counts the audits' events.
func (a audited) run(t *testing.T, p *compiled.Compiled, audits []audit, seed uint64) []frequencies {
	t.Helper()
	seen := make([]frequencies, len(audits))
	see := func(noisy [][]int64, planted []bool) {
		for i, au := range audits {
			seen[i].add(au.event, noisy, planted)
		}
	}
	if a.runs == 0 {
		planted := randomHalf(2*a.trials, seed)
		see(a.published(t, p, planted), planted)
		return seen
	}
	drawer := newDrawer(t, p, a.runs)
	for i := range a.runs {
		planted := randomHalf(2*a.trials/a.runs, seed<<32+uint64(i))
		a.write(t, drawer.dir, planted)
		see(a.own(drawer.draw(t)), planted)
	}
	return seen
}

// published releases the plan to files and reads, as an outsider does, each block's own cell: of a table that is one
// measurement by its keys; of tables that are put together from several, from the noisy integers that are published
// beside them.
func (a audited) published(t *testing.T, p *compiled.Compiled, planted []bool) [][]int64 {
	t.Helper()
	dir := t.TempDir()
	a.write(t, dir, planted)
	result, err := Run(t.Context(), p, Options{Out: filepath.Join(dir, "out"), Data: dir})
	if err != nil {
		t.Fatal(err)
	}
	if outside, err := planfile.Read(context.Background(), filepath.Join(result.Folder, "plan.json")); err != nil ||
		outside.Hash() != p.Hash() {
		t.Fatalf("the published plan is not the one that is audited (%v)", err)
	}
	if p.Tables[0].Statistics[0].Measurement == "" {
		answers := make([][]int64, a.marginals)
		for i := range answers {
			m := p.Measurements[i]
			b, err := os.ReadFile(filepath.Join(result.Folder, filepath.FromSlash(measured.Path(m.ID))))
			if err != nil {
				t.Fatal(err)
			}
			answer, _, err := measured.Decode(b, m, p.Hash())
			if err != nil || m.ID != p.Tables[i].Path {
				t.Fatalf("measurement %s: %v", m.ID, err)
			}
			answers[i] = answer.Values.Int64Values()
		}
		return a.own(answers)
	}
	own := make([][]int64, a.marginals)
	for i := range own {
		own[i] = make([]int64, a.blocks())
		found := 0
		for _, row := range releasetest.ReadTable(t,
			filepath.Join(result.Folder, "tables", fmt.Sprintf("m%d.parquet", i)),
			by[i]) {
			if block, ok := ownBlock(t, by[i], row.Keys); ok {
				own[i][block] = int64(row.Unbiased)
				found++
			}
		}
		if found != a.blocks() {
			t.Fatalf("table m%d has %d of %d blocks", i, found, a.blocks())
		}
	}
	return own
}

// ownBlock is the block whose own cell a row with these keys is; false for a
// cell that no unit is in.
func ownBlock(t *testing.T, attributes, keys []string) (block int, ok bool) {
	t.Helper()
	key := map[string]int{}
	for i, name := range attributes {
		n, err := strconv.Atoi(keys[i])
		if err != nil {
			t.Fatal(err)
		}
		key[name] = n
	}
	block = key["block"]
	sex, bySex := key["sex"]
	age, byAge := key["age"]
	return block, (!bySex || sex == block%sexes) && (!byAge || age == block%ages)
}

// own is each block's own cell in answers that are row-major over their factors.
func (a audited) own(answers [][]int64) [][]int64 {
	own := make([][]int64, a.marginals)
	for i := range own {
		own[i] = make([]int64, a.blocks())
		for block := range own[i] {
			own[i][block] = answers[i][[]int{block, block*sexes + block%sexes, block%ages*a.blocks() + block}[i]]
		}
	}
	return own
}

// drawer counts, debits and draws one plan again and again, each time with a
// fresh key, without going through sealed and published files.
type drawer struct {
	plan   *compiled.Compiled
	dir    string
	ledger *ledger.Ledger
	charge ledger.Charge
	drawn  int
	held   *masking // of the holder that draws, nil if one place draws
}

func newDrawer(t testing.TB, p *compiled.Compiled, runs int) *drawer {
	t.Helper()
	d := &drawer{plan: p, dir: t.TempDir()}
	d.charge = ledger.Charge{Account: "audit", PlanHash: p.Hash(), Terms: published.Terms(p), Cost: p.Cost}
	limit := budget.Cost{}
	var err error
	for range runs {
		if limit, err = limit.Add(p.Cost); err != nil {
			t.Fatal(err)
		}
	}
	if d.ledger, err = ledger.Open(t.Context(), filepath.Join(d.dir, "ledger.db"), ledger.OpenOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.ledger.Close() })
	if err := d.ledger.Init(t.Context(), ledger.Policy{Account: "audit", Terms: d.charge.Terms,
		Cap: limit}); err != nil {
		t.Fatal(err)
	}
	return d
}

// draw returns the noisy answers of the next run, in the plan's order.
func (d *drawer) draw(t testing.TB) [][]int64 {
	t.Helper()
	drawn := d.sealed(t)
	answers := make([][]int64, len(drawn.Measured))
	for i, m := range drawn.Measured {
		answers[i] = m.Values.Int64Values()
	}
	return answers
}

// sealed returns all that the next run draws.
func (d *drawer) sealed(t testing.TB) *measured.Sealed {
	t.Helper()
	key, err := noise.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	streams := noise.NewStreams(key, d.plan.Hash())
	exact, err := histogram.Count(t.Context(), d.plan, scan.Files{Dir: d.dir}, streams)
	if err != nil {
		t.Fatal(err)
	}
	d.drawn++
	charge := d.charge
	charge.Release = fmt.Sprintf("run-%d", d.drawn)
	charge.Commitment = exact.Commitment(streams)
	receipt, err := d.ledger.Debit(t.Context(), charge)
	if err != nil {
		t.Fatal(err)
	}
	drawn, err := drawAll(t.Context(), d.plan, exact, receipt, streams, d.held, &journal{})
	if err != nil {
		t.Fatal(err)
	}
	return drawn
}
