package release

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/derive"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/internal/verify"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/synth"
	"github.com/parquet-go/parquet-go"
)

// A released file of microdata has a row for each of the noisy total, in the declared
// columns and categories, and says for itself that they are nobody's.
func TestMicrodataAsPublished(t *testing.T) {
	o := releasetest.Walks(t)
	for name, text := range map[string]string{
		"ways.csv": "code,label\nto,Outbound\nfro,Return\n",
		"release.yaml": strings.Replace(releasetest.WalkSpec, "way: {values: [to, fro]}", "way: {codebook: ways.csv}",
			1),
	} {
		if err := os.WriteFile(filepath.Join(o.Dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if o.Plan, err = planfile.Load(context.Background(),
		planfile.Spec{Path: filepath.Join(o.Dir, "release.yaml")}); err != nil {
		t.Fatal(err)
	}
	result, err := Run(t.Context(), o.Plan, optionsOf(o, "out"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(result.Folder, "microdata", "t.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range f.Schema().Columns() {
		names = append(names, c[0])
	}
	if want := []string{"mode", "hour", "day", "way", "way_label"}; !slices.Equal(names, want) {
		t.Errorf("columns %v, expected %v", names, want)
	}
	for column, kind := range map[string]parquet.Kind{"mode": parquet.ByteArray, "hour": parquet.Int64,
		"way_label": parquet.ByteArray} {
		if leaf, _ := f.Schema().Lookup(column); leaf.Node.Type().Kind() != kind {
			t.Errorf("column %s is %v", column, leaf.Node.Type())
		}
	}
	for key, says := range map[string]string{
		"dprelease.schema": "dprelease.microdata/1", "dprelease.table": "t", "dprelease.interval": "none",
		"dprelease.rows":   "none is a row of the confidential table",
		"dprelease.status": "RELEASE", "dprelease.plan": o.Plan.Hash(), "dprelease.protects": "trip",
		"dprelease.rho": "2",
	} {
		if value, _ := f.Lookup(key); !strings.Contains(value, says) {
			t.Errorf("%s is %q, expected %q", key, value, says)
		}
	}
	labels := map[string]string{"to": "Outbound", "fro": "Return"}
	rows := 0
	err = published.EachRow(f, func(r parquet.Row) error {
		rows++
		mode, hour, day, way, label := r[0].String(), r[1].Int64(), r[2].String(), r[3].String(), r[4].String()
		if !slices.Contains([]string{"walk", "ride"}, mode) || hour < 0 || hour > 3 ||
			!slices.Contains([]string{"mo", "tu", "we"}, day) || label == "" || labels[way] != label {
			return fmt.Errorf("row %d: %v", rows, r)
		}
		return nil
	})
	// 300 rows and noise: the 1-ways get ρ = 1/12 each, so their sums err with a variance of
	// at most 6·4; 60 is 12 standard deviations.
	if err != nil || rows < 240 || rows > 360 {
		t.Errorf("%d rows, %v", rows, err)
	}
}

// Publishing gives the same bytes however many processors work at it.
func TestMicrodataDoNotDependOnProcessors(t *testing.T) {
	t.Run("mst", func(t *testing.T) { sameOnProcessors(t, releasetest.Walks(t), 1, 2, 8) })
	t.Run("aim", func(t *testing.T) { sameOnProcessors(t, releasetest.WalksByAIM(t), 1, 8) })
}

func sameOnProcessors(t *testing.T, o releasetest.Office, processors ...int) {
	opt := optionsOf(o, "out")
	if _, err := Measure(t.Context(), o.Plan, opt); err != nil {
		t.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var first map[string]string
	for _, n := range processors {
		runtime.GOMAXPROCS(n)
		to := optionsOf(o, fmt.Sprint("out", n))
		result, err := Publish(t.Context(), MeasuredFolder(opt.Out, "trips"), to)
		if err != nil {
			t.Fatal(err)
		}
		have := releasetest.Contents(t, result.Folder)
		if first == nil {
			first = have
		}
		for name, text := range first {
			if have[name] != text {
				t.Errorf("with %d processors %s differs", n, name)
			}
		}
		if again, err := Publish(t.Context(), MeasuredFolder(opt.Out, "trips"), to); err != nil || !again.AlreadyDone {
			t.Errorf("published again: %+v, %v", again, err)
		}
	}
}

// TestRoundsAreReported: whoever watches a run learns which round of how many it is, and how much of their budget is
// used. Fits within a round do not count.
func TestRoundsAreReported(t *testing.T) {
	path := filepath.Join(t.TempDir(), "release.yaml")
	if err := os.WriteFile(path, []byte(releasetest.AIMSpec), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := planfile.Load(context.Background(), planfile.Spec{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	var rounds []progress.Progress
	watched := progress.Watch(t.Context(), func(p progress.Progress) {
		if strings.Contains(p.Step, ", round ") && (len(rounds) == 0 || p.Step != rounds[len(rounds)-1].Step) {
			rounds = append(rounds, p)
		}
	})
	if _, err := Rehearse(watched, p, 200, Options{Out: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	if len(rounds) < 3 {
		t.Fatalf("%d rounds were reported", len(rounds))
	}
	for i, r := range rounds {
		want := fmt.Sprintf("microdata of t, round %d of at most %d", i+1, p.Synthetic[0].Rounds)
		if r.Step != want || i+1 > p.Synthetic[0].Rounds || r.Number != rounds[0].Number || !r.Known || r.Confidential {
			t.Errorf("round %d is reported as %+v", i+1, r)
		}
		if i == 0 && r.Share != 0 || i > 0 && r.Share <= rounds[i-1].Share || r.Share >= progress.Whole {
			t.Errorf("%d ‰ of the budget are used before round %d", r.Share, i+1)
		}
	}
}

// A rehearsal makes microdata of made-up rows, without a journal and without a state.
func TestMicrodataAreRehearsed(t *testing.T) {
	o := releasetest.Walks(t)
	opt := optionsOf(o, "out")
	place, err := Rehearse(t.Context(), o.Plan, 200, opt)
	if err != nil {
		t.Fatal(err)
	}
	v := assertVerifies(t, place, verify.Options{})
	if v.Marked != published.RehearsalStatus {
		t.Errorf("marked %q", v.Marked)
	}
	for _, name := range []string{"microdata/t.parquet", "rounds/t.json"} {
		if there, err := durable.Exists(filepath.Join(place, filepath.FromSlash(name))); !there {
			t.Errorf("%s is missing: %v", name, err)
		}
	}
	if there, _ := durable.Exists(opt.StateDir()); there {
		t.Error("a rehearsal has a state")
	}
}

// What is drawn again must be what is sealed: a release whose microdata or choices are
// gone is not "already done".
func TestMicrodataThatAreGoneAreMissed(t *testing.T) {
	o := releasetest.Walks(t)
	opt := optionsOf(o, "out")
	result, err := Run(t.Context(), o.Plan, opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"microdata/t.parquet", "rounds/t.json"} {
		path := filepath.Join(result.Folder, filepath.FromSlash(name))
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		_, err = Run(t.Context(), o.Plan, opt)
		var altered *published.Altered
		if !errors.As(err, &altered) || altered.File != name {
			t.Errorf("%s removed: %v", name, err)
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if again, err := Run(t.Context(), o.Plan, opt); err != nil || !again.AlreadyDone {
		t.Errorf("%+v, %v", again, err)
	}
	// Without the sealed folder, and where the manifest does not list them either.
	if err := os.RemoveAll(MeasuredFolder(opt.Out, "trips")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"microdata/t.parquet", "rounds/t.json"} {
		dir := filepath.Join(t.TempDir(), "trips")
		if err := os.CopyFS(dir, os.DirFS(result.Folder)); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(dir, filepath.Dir(filepath.FromSlash(name)))); err != nil {
			t.Fatal(err)
		}
		releasetest.Remanifest(t, dir, o.Plan, releasetest.Record(t, dir), published.Manifest{}, nil)
		var altered *published.Altered
		if err := published.OpenIntact(dir, o.Plan); !errors.As(err, &altered) || altered.File != name {
			t.Errorf("%s is not listed: %v", name, err)
		}
	}
}

// A revision publishes the same rounds again, and no others.
func TestMicrodataAreRevised(t *testing.T) {
	o := releasetest.Walks(t)
	opt := optionsOf(o, "out")
	if _, err := Run(t.Context(), o.Plan, opt); err != nil {
		t.Fatal(err)
	}
	opt.Revision = Revision{Number: 2, Reason: "clearer labels"}
	second, err := Publish(t.Context(), MeasuredFolder(opt.Out, "trips"), opt)
	if err != nil {
		t.Fatal(err)
	}
	assertVerifies(t, second.Folder, verify.Options{})
	s, err := measured.Open(MeasuredFolder(opt.Out, "trips"), compiled.Read)
	if err != nil {
		t.Fatal(err)
	}
	rounds := s.Rounds[0].All
	rounds[0], rounds[1] = rounds[1], rounds[0]
	var refused *verdict.Unusable
	if _, err := opt.Revision.newManifest(opt.Out, s); !errors.As(err, &refused) ||
		!strings.Contains(err.Error(), "other measurements") {
		t.Errorf("a revision of the same answers in another order: %v", err)
	}
}

// The account is charged for every mechanism of the plan, the rounds of its microdata
// among them.
func TestRoundsAreCharged(t *testing.T) {
	for _, spec := range []string{releasetest.WalkSpec, releasetest.AIMSpec} {
		c, err := Options{}.charge(planOfWalk(t, spec))
		if err != nil {
			t.Fatal(err)
		}
		sum, blocks := new(big.Rat), 0
		for _, r := range c.Mechanisms {
			sum.Add(sum, new(big.Rat).Mul(big.NewRat(int64(r.Count), 1), r.Mechanism.Rho()))
			if r.Mechanism.Kind == budget.AdaptiveBlock {
				blocks += int(r.Count)
			}
		}
		// What is left of the budget of 2 is rounding: of noise to 1/4096 of σ², and of the ε
		// of a choice.
		if blocks != 1 || sum.Cmp(c.Cost.Rho) > 0 || sum.Cmp(big.NewRat(199, 100)) < 0 {
			t.Errorf("%d blocks, ρ adds up to %s of %s", blocks, sum.FloatString(6), c.Cost.Rho.FloatString(6))
		}
	}
}

// extremes are answers that no confidential table has, or hardly any, by cell.
var extremes = map[string]func(i int) int64{
	"zeros":     func(int) int64 { return 0 },
	"negative":  func(i int) int64 { return -int64(i) - 1 },
	"least":     func(int) int64 { return math.MinInt64 },
	"largest":   func(int) int64 { return math.MaxInt64 },
	"both ends": func(i int) int64 { return []int64{math.MinInt64, math.MaxInt64}[i%2] },
	"one cell":  func(i int) int64 { return int64(max(0, 1-i)) << 62 },
}

// Whatever integers stand in a folder, they are refused or lead to rows: they stop no
// verification half way.
func TestMicrodataOfExtremeAnswers(t *testing.T) {
	o := releasetest.With(t, strings.Replace(releasetest.WalkSpec, "method: mst", "method: mst, rows: 50", 1),
		releasetest.WalkPolicy, releasetest.WalkRows())
	if o.Plan.Synthetic[0].Rows != 50 {
		t.Fatal("the plan does not say how many rows there are")
	}
	_, place := runRelease(t, o)
	for name, value := range extremes {
		for what, answers := range map[string]func(v *measured.Sealed) []*measured.Measured{
			"columns": func(v *measured.Sealed) (all []*measured.Measured) {
				for i := range v.Measured[1:] {
					all = append(all, &v.Measured[1+i])
				}
				return all
			},
			"pairs": func(v *measured.Sealed) (all []*measured.Measured) {
				for i := range v.Rounds[0].All {
					all = append(all, &v.Rounds[0].All[i].Measured)
				}
				return all
			},
		} {
			v, record := sealedOf(t, place)
			for _, m := range answers(v) {
				values := make([]int64, m.Values.Len())
				for i := range values {
					values[i] = value(i)
				}
				m.Values = releasetest.Integers(values)
			}
			fiftyRows(t, v, record, what+" of "+name)
		}
	}
}

// drawMicrodata draws the first file of microdata of a method whose rows have no parent.
func drawMicrodata(ctx context.Context, s *measured.Sealed, method int) (synth.Microdata, error) {
	d, err := synth.NewDrawing(ctx, s, method, synth.Request{})
	if err != nil {
		return synth.Microdata{}, err
	}
	return d.Draw(ctx, 1)
}

// fiftyRows asserts that forged answers are refused, or lead to fifty rows; and, of negative answers in every run and
// of all in the long one, that these are published and verify.
func fiftyRows(t *testing.T, s *measured.Sealed, record ledger.Record, of string) {
	t.Helper()
	m, err := drawMicrodata(t.Context(), s, 0)
	if err != nil {
		t.Logf("%s: %v", of, err)
		return
	}
	if m.Rows != 50 {
		t.Errorf("%s: %d rows", of, m.Rows)
	}
	for k, codes := range m.Codes {
		for _, code := range codes {
			if int(code) >= m.Keys[k].Level.Size() || len(codes) != 50 {
				t.Fatalf("%s: code %d of %s", of, code, m.Keys[k].Attribute)
			}
		}
	}
	if os.Getenv("DPRELEASE_LONG") == "" && !strings.HasSuffix(of, "negative") {
		return
	}
	dir := filepath.Join(t.TempDir(), "trips")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := derive.Release(t.Context(), derive.NewFolder(dir), s, record, published.Manifest{},
		derive.Modules()); err != nil {
		t.Logf("%s: %v", of, err)
		return
	}
	assertVerifies(t, dir, verify.Options{})
}

// Of tables without rows, or with one, and of columns whose categories the noise hides, there are as many rows as the
// noisy total says, none where that is negative, and all of it verifies.
func TestMicrodataOfSmallTables(t *testing.T) {
	const head = "mode,hour,day,way\n"
	wide := strings.NewReplacer("range: [0, 3]", "range: [0, 499]", "rho: 2", "rho: 1/1000")
	for name, c := range map[string]struct {
		spec, rows string
		long       bool
	}{
		"mst, no row":     {releasetest.WalkSpec, head, false},
		"aim, no row":     {releasetest.AIMSpec, head, false},
		"mst, one row":    {releasetest.WalkSpec, head + "walk,3,we,to\n", true},
		"aim, one row":    {releasetest.AIMSpec, head + "walk,3,we,to\n", true},
		"mst, much noise": {wide.Replace(releasetest.WalkSpec), head, true},
		"aim, much noise": {wide.Replace(releasetest.AIMSpec), releasetest.WalkRows(), false},
		"aim, less noise": {strings.Replace(releasetest.AIMSpec, "range: [0, 3]", "range: [0, 499]", 1),
			releasetest.WalkRows(), true},
		"aim, of pairs": {strings.Replace(releasetest.AIMSpec, "ways: 3", "ways: 2", 1), head + "ride,0,mo,fro\n",
			true},
	} {
		if c.long && os.Getenv("DPRELEASE_LONG") == "" {
			continue
		}
		o := releasetest.With(t, c.spec, releasetest.WalkPolicy, c.rows)
		result, err := Run(t.Context(), o.Plan, optionsOf(o, "out"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		assertVerifies(t, result.Folder, verify.Options{})
		s, err := measured.Open(MeasuredFolder(optionsOf(o, "out").Out, "trips"), compiled.Read)
		if err != nil {
			t.Fatal(err)
		}
		m, err := drawMicrodata(t.Context(), s, 0)
		if err != nil {
			t.Fatal(err)
		}
		if want := max(0, int(math.Floor(m.Total+0.5))); m.Rows != want || m.Rounds == 0 {
			t.Errorf("%s: %d rows of a noisy total of %g, by %d rounds", name, m.Rows, m.Total, m.Rounds)
		}
		for _, name := range []string{"report.html", "report.json", "report.md"} {
			b, err := os.ReadFile(filepath.Join(result.Folder, name))
			if err != nil || bytes.Contains(b, []byte("NaN")) || bytes.Contains(b, []byte("Inf")) {
				t.Errorf("%s holds what is no number: %v", name, err)
			}
		}
	}
}

// sealedOf opens the measurements that a published folder was made from.
func sealedOf(t *testing.T, place string) (*measured.Sealed, ledger.Record) {
	t.Helper()
	s, err := measured.Open(place+".measured", compiled.Read)
	if err != nil {
		t.Fatal(err)
	}
	record, err := published.RecordIn(s)
	if err != nil {
		t.Fatal(err)
	}
	return s, record
}
