// Package corpus holds forty releases to the byte: testdata/releases.txt lists specs, drawn from a number over the
// whole language, and the first half of the SHA-256 of every file of the sealed and of the published folder and of an
// evaluation. Every run compares the plans of all and ten releases, the long run all releases. Where bytes are meant to
// change, write the list again with -update in the long run and say why in the change.
package corpus

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/dprelease/dprelease/budget/sign"
	"github.com/dprelease/dprelease/internal/account"
	"github.com/dprelease/dprelease/internal/evaluate"
	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/release"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
)

// Only a test can make these bytes: here every read of random bytes gives the same ones and the clock stands still,
// which no build of the program can do.

var update = flag.Bool("update", false, "write the list in testdata again, where bytes were meant to change")

// constant is a source of random bytes that gives the same ones at every read.
type constant struct{}

func (constant) Read(b []byte) (int, error) {
	for at, block := 0, uint64(0); at < len(b); block++ {
		sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("the key of every release of the corpus"), block))
		at += copy(b[at:], sum[:])
	}
	return len(b), nil
}

// withoutChance runs a test with constant random bytes and a clock that stands still.
func withoutChance(t *testing.T, f func(t *testing.T)) {
	random := rand.Reader
	rand.Reader = constant{}
	t.Cleanup(func() { rand.Reader = random })
	synctest.Test(t, f)
}

// errTooMany reports a spec that expects more rows than are drawn.
var errTooMany = errors.New("the spec expects too many rows")

// prepareRelease writes a generated spec and confidential tables that fit it to a folder, and plans it.
func prepareRelease(ctx context.Context, dir string, number uint64) (*plan.Plan, error) {
	source := drawSpec(number)
	r, err := spec.Parse(source)
	if err != nil {
		return nil, err
	}
	files, ok := tables(number, r)
	if !ok {
		return nil, errTooMany
	}
	files[source.Name] = source.Text
	maps.Copy(files, source.Files)
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	p, err := planfile.Load(ctx, planfile.Spec{Path: filepath.Join(dir, source.Name)})
	if err != nil {
		return nil, err
	}
	return p.Plan(), nil
}

// accountCaps are the caps of accounts that pay for releases, by the definition of privacy loss.
var accountCaps = map[string]string{"pure": "{epsilon: 100}", "zcdp": "{rho: 100}",
	"approximate": "{rho: 100, delta: 1e-3}"}

// options returns the options of a release: with the ledger and the key of an office if the spec names an account,
// otherwise for practice.
func options(ctx context.Context, dir string, p *plan.Plan) (release.Options, error) {
	o := release.Options{Out: filepath.Join(dir, "out"), Data: dir}
	if p.Guarantee.Account == "" {
		return o, nil
	}
	o.Ledger = filepath.Join(dir, "ledger.db")
	policy, private := filepath.Join(dir, "policy.yaml"), filepath.Join(dir, "office.key")
	text := fmt.Sprintf("account: %s\nprotects: %s\nneighbours: %s\ncap: %s\n", p.Guarantee.Account,
		p.Guarantee.Protects,
		p.Guarantee.Neighbours, accountCaps[p.Guarantee.Definition])
	if err := os.WriteFile(policy, []byte(text), 0o600); err != nil {
		return o, err
	}
	if _, err := sign.Generate(private); err != nil {
		return o, err
	}
	key, err := sign.ReadKey(private)
	if err != nil {
		return o, err
	}
	o.Office = &key
	_, err = account.Ledger{Path: o.Ledger, Office: &key}.Init(ctx, policy)
	return o, err
}

// makeRelease releases a generated spec, and returns its plan and the first half of the SHA-256 of every file of the
// published and the sealed folder and of an evaluation, by name.
func makeRelease(ctx context.Context, dir string, number uint64) (*plan.Plan, map[string]string, error) {
	p, err := prepareRelease(ctx, dir, number)
	if err != nil {
		return nil, nil, err
	}
	o, err := options(ctx, dir, p)
	if err != nil {
		return p, nil, err
	}
	if _, err := release.Run(ctx, compiled.Of(p), o); err != nil {
		return p, nil, err
	}
	files := map[string]string{}
	evaluating := evaluate.Options{Out: filepath.Join(dir, "evaluated"), Data: o.Data, State: o.State,
		Account: o.Account(), Log: o.Log}
	if _, err := evaluate.Evaluate(ctx, compiled.Of(p), filepath.Join(o.Out, p.Name), evaluating); err != nil &&
		!p.Sample.Partial() {
		return p, nil, err
	}
	for kind, folder := range map[string]string{"published": "out/" + p.Name, "sealed": "out/" + p.Name + ".measured",
		"evaluated": "evaluated"} {
		if kind == "evaluated" && p.Sample.Partial() {
			continue // a secret sample is compared with nothing
		}
		folder = filepath.Join(dir, filepath.FromSlash(folder))
		err = errors.Join(err, filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(folder, path)
			sum := sha256.Sum256(b)
			files[kind+"/"+filepath.ToSlash(name)] = hex.EncodeToString(sum[:16])
			return err
		}))
	}
	return p, files, err
}

// listing is the entry of one release in the list.
type listing struct {
	number uint64
	files  map[string]string // the first half of the SHA-256 of each, by name
}

func (l listing) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "drawn %d\n", l.number)
	for _, name := range slices.Sorted(maps.Keys(l.files)) {
		fmt.Fprintf(&text, "%s %s\n", l.files[name], name)
	}
	return text.String()
}

var releasesFile = filepath.Join("testdata", "releases.txt")

// readListings reads the list of releases.
func readListings(t *testing.T) (all []listing) {
	f, err := os.Open(releasesFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		first, rest, _ := strings.Cut(lines.Text(), " ")
		if first != "drawn" {
			all[len(all)-1].files[rest] = first
			continue
		}
		l := listing{files: map[string]string{}}
		if _, err := fmt.Sscan(rest, &l.number); err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
	return all
}

// made is a release that was made.
type made struct {
	listing
	plan *plan.Plan
	err  error
}

// releasesOf makes releases, two at a time, each in a folder of its number below a place. It may be called once in a
// process: what packages keep in pools belongs to its bubble.
func releasesOf(t *testing.T, place string, numbers []uint64) []made {
	all := make([]made, len(numbers))
	withoutChance(t, func(t *testing.T) {
		next := make(chan int)
		var workers sync.WaitGroup
		for range 2 {
			workers.Go(func() {
				for i := range next {
					dir := filepath.Join(place, fmt.Sprint(numbers[i]))
					all[i].number = numbers[i]
					if all[i].err = os.Mkdir(dir, 0o755); all[i].err == nil {
						all[i].plan, all[i].files, all[i].err = makeRelease(t.Context(), dir, numbers[i])
					}
					all[i].err = errors.Join(all[i].err, os.RemoveAll(dir))
				}
			})
		}
		for i := range numbers {
			next <- i
		}
		close(next)
		workers.Wait()
	})
	return all
}

// everyRun are the drawn specs that are released in every run, and not in the long one alone: together they reach the
// most.
var everyRun = []uint64{90, 104, 178, 250, 310, 366, 441, 480, 497, 504}

// The covered part of the language is counted, so that it cannot shrink unnoticed: in all releases and in those of
// every run.
const (
	fewestReached = 398
	fewestUsual   = 355
)

// TestReleasesAreTheSame fails if a file of a release has changed by a byte.
func TestReleasesAreTheSame(t *testing.T) {
	listed, least := readListings(t), fewestReached
	if !*update && os.Getenv("DPRELEASE_LONG") == "" {
		listed = slices.DeleteFunc(listed, func(l listing) bool { return !slices.Contains(everyRun, l.number) })
		least = fewestUsual
	}
	var numbers []uint64
	for _, l := range listed {
		numbers = append(numbers, l.number)
	}
	reached, files := planReach{}, 0
	var text strings.Builder
	for i, m := range releasesOf(t, t.TempDir(), numbers) {
		if m.err != nil {
			t.Errorf("drawn %d: %v", m.number, m.err)
			continue
		}
		text.WriteString(m.String())
		if !*update {
			compareListings(t, listed[i], m.listing)
		}
		reached.add(reachOf(t, m.plan))
		files += len(m.files)
	}
	if len(reached) < least {
		t.Errorf("%d kinds of entries of plans are reached, and %d is the fewest", len(reached), least)
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(releasesFile, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d files of %d releases are as they were; %s", files, len(listed), reached)
}

// TestPlansAreTheSame fails if the plan of a listed spec has changed by a byte, or does not come with the estimates
// that follow from it.
func TestPlansAreTheSame(t *testing.T) {
	for _, l := range readListings(t) {
		r, err := spec.Parse(drawSpec(l.number))
		if err != nil {
			t.Fatal(err)
		}
		p, err := planner.New(r)
		if err != nil {
			t.Fatalf("drawn %d: %v", l.number, err)
		}
		hasItsEstimates(t, fmt.Sprint("drawn ", l.number), p)
		sum := sha256.Sum256(p.Plan().Bytes())
		if is := hex.EncodeToString(sum[:16]); !*update && is != l.files["published/plan.json"] {
			t.Errorf("drawn %d: its plan is not as it was", l.number)
		}
	}
}

// compareListings fails for every file that has changed.
func compareListings(t *testing.T, was, is listing) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(was.files)) {
		switch sum, there := is.files[name]; {
		case !there:
			t.Errorf("drawn %d: %s is not there", is.number, name)
		case sum != was.files[name]:
			t.Errorf("drawn %d: %s is not as it was", is.number, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(is.files)) {
		if _, there := was.files[name]; !there {
			t.Errorf("drawn %d: %s was not there", is.number, name)
		}
	}
}

// hasItsEstimates checks that a plan has the estimates that follow from it: the planner computes them before the plan
// is complete.
func hasItsEstimates(t *testing.T, name string, p *compiled.Compiled) {
	handed, err := p.Estimates()
	own, failed := compiled.Of(p.Plan()).Estimates()
	same := func(a, b compiled.Estimate) bool {
		return reflect.DeepEqual(a.Marginals, b.Marginals) && reflect.DeepEqual(a.Residuals, b.Residuals) &&
			reflect.DeepEqual(a.Combination, b.Combination) && reflect.DeepEqual(a.Tables, b.Tables) &&
			reflect.DeepEqual(a.Axes, b.Axes) && reflect.DeepEqual(a.Sources, b.Sources) &&
			reflect.DeepEqual(a.ResidualSources, b.ResidualSources) &&
			reflect.DeepEqual(a.RequestedAxes, b.RequestedAxes) && reflect.DeepEqual(a.DirectSource, b.DirectSource)
	}
	if err != nil || failed != nil || !slices.EqualFunc(handed, own, same) {
		t.Errorf("%s: the estimates that come with the plan are not its own (%v, %v)", name, err, failed)
	}
}
