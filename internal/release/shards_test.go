package release

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/ending"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/seal"
	"github.com/dprelease/dprelease/internal/state"
	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/internal/verify"
)

// machines are keys of machines, and what they were handed.
type machines struct {
	keys   []seal.Key
	public []seal.PublicKey
	handed PreparedKeyFile
	of     int
}

// machineKey makes the key of a machine.
func machineKey(t *testing.T) seal.Key {
	t.Helper()
	path := filepath.Join(t.TempDir(), "machine")
	if _, err := seal.Generate(path); err != nil {
		t.Fatal(err)
	}
	key, err := seal.ReadKey(path)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// preparedFor prepares the office's plan for two machines and three shards.
func preparedFor(t *testing.T, o releasetest.Office, ownFiles bool) machines {
	t.Helper()
	m := machines{of: 3}
	for range 2 {
		key := machineKey(t)
		m.keys, m.public = append(m.keys, key), append(m.public, key.Public())
	}
	var err error
	m.handed, err = Prepare(t.Context(), o.Plan, optionsOf(o, "out"), Division{Shards: m.of, OwnFiles: ownFiles},
		m.public)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// count counts a shard to the folder shards of the office.
func (m machines) count(ctx context.Context, o releasetest.Office, number int) error {
	opt := optionsOf(o, "shards")
	opt.Ledger = "" // a machine has none
	_, err := CountShard(ctx, o.Plan, opt, ShardCount{Number: number, Of: m.of, RowKey: m.handed.File,
		Fingerprint: m.handed.Fingerprint, Machine: m.keys[number%2]})
	return err
}

// countAll counts all shards.
func (m machines) countAll(t *testing.T, o releasetest.Office) {
	t.Helper()
	for i := range m.of {
		if err := m.count(t.Context(), o, i+1); err != nil {
			t.Fatal(err)
		}
	}
}

// fromShards are the options of measuring what machines have counted.
func fromShards(o releasetest.Office) Options {
	opt := optionsOf(o, "out")
	opt.FromShards, opt.Data = filepath.Join(o.Dir, "shards"), o.Dir+"/none"
	return opt
}

// A release that machines have counted is one like any other, is debited once, and leaves neither shards nor a key.
func TestShardsMakeARelease(t *testing.T) {
	o := releasetest.Trips(t)
	m := preparedFor(t, o, false)
	if o.Debits(t) != 0 {
		t.Error("the preparation is debited")
	}
	m.countAll(t, o)
	opt := fromShards(o)
	for range 2 { // the second finds it done
		if _, err := Measure(t.Context(), o.Plan, opt); err != nil {
			t.Fatal(err)
		}
	}
	if o.Debits(t) != 1 {
		t.Errorf("%d debits", o.Debits(t))
	}
	if left, _ := shardFiles(opt.FromShards, o.Plan); len(left) > 0 {
		t.Errorf("shards are left: %q", left)
	}
	if _, err := os.Stat(m.handed.File); err == nil {
		t.Error("the row key is left")
	}
	r, err := Publish(t.Context(), MeasuredFolder(opt.Out, "trips"), opt)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := verify.Folder(t.Context(), r.Folder, verify.Options{}); err != nil {
		t.Error(err)
	}
}

// Shards that are missing, there twice, damaged, of another preparation, of other files or of another plan are refused:
// nothing is spent, and the others stay good.
func TestWrongShardsAreRefused(t *testing.T) {
	o := releasetest.Trips(t)
	m := preparedFor(t, o, false)
	m.countAll(t, o)
	dir := filepath.Join(o.Dir, "shards")
	third := filepath.Join(dir, shardName(o.Plan, 3, 3))
	good, err := os.ReadFile(third)
	if err != nil {
		t.Fatal(err)
	}
	write := func(path string, b []byte) {
		t.Helper()
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	elsewhere := releasetest.Trips(t)
	other := preparedFor(t, elsewhere, false)
	other.countAll(t, elsewhere)
	foreign, err := os.ReadFile(filepath.Join(elsewhere.Dir, "shards", shardName(o.Plan, 3, 3)))
	if err != nil {
		t.Fatal(err)
	}
	first, err := os.ReadFile(filepath.Join(dir, shardName(o.Plan, 1, 3)))
	if err != nil {
		t.Fatal(err)
	}
	renamed := []byte(strings.Replace(string(first), `"shard":1`, `"shard":3`, 1))
	for name, c := range map[string]struct {
		change func()
		want   string
	}{
		"missing":        {func() { os.Remove(third) }, "3/3 is missing"},
		"one twice":      {func() { write(third, first) }, "1/3 twice"},
		"another's name": {func() { write(third, renamed) }, "cannot be opened"},
		"cut short":      {func() { write(third, good[:len(good)-1]) }, "cannot be"},
		"longer":         {func() { write(third, append(good[:len(good):len(good)], 0)) }, "cannot be"},
		"a bit changed": {func() {
			write(third,
				append(good[:len(good)-9:len(good)-9], flipped(good[len(good)-9:])...))
		}, "cannot be"},
		"of another preparation": {func() { write(third, foreign) }, "cannot be opened"},
		"no shard":               {func() { write(third, []byte("x")) }, "is no shard"},
	} {
		t.Run(name, func(t *testing.T) {
			defer write(third, good)
			c.change()
			_, err := Measure(t.Context(), o.Plan, fromShards(o))
			if err == nil || !strings.Contains(err.Error(), c.want) || ending.Of(err).Exit != verdict.ExitData {
				t.Errorf("%v", err)
			}
			if o.Debits(t) != 0 {
				t.Error("it was debited")
			}
		})
	}
	// Machines with other files: one more row, which nobody else has.
	rows := filepath.Join(o.Dir, "t.csv")
	text, err := os.ReadFile(rows)
	if err != nil {
		t.Fatal(err)
	}
	write(rows, append(text[:len(text):len(text)], text[strings.IndexByte(string(text), '\n')+1:]...))
	if err := m.count(t.Context(), o, 3); err != nil {
		t.Fatal(err)
	}
	if _, err := Measure(t.Context(), o.Plan, fromShards(o)); err == nil ||
		!strings.Contains(err.Error(), "the same files") {
		t.Errorf("other files: %v", err)
	}
	write(rows, text)
	if err := m.count(t.Context(), o, 3); err != nil {
		t.Fatal(err)
	}
	if _, err := Measure(t.Context(), o.Plan, fromShards(o)); err != nil || o.Debits(t) != 1 {
		t.Errorf("all good: %v, %d debits", err, o.Debits(t))
	}
}

func flipped(b []byte) []byte {
	out := append([]byte(nil), b...)
	out[0] ^= 1
	return out
}

// A plan that was prepared is not measured here, nor one that was not from shards; and the preparation can be taken
// back.
func TestPreparationsAreKept(t *testing.T) {
	o := releasetest.Trips(t)
	opt := optionsOf(o, "out")
	if _, err := Measure(t.Context(), o.Plan, fromShards(o)); err == nil ||
		!strings.Contains(err.Error(), "was not prepared") {
		t.Errorf("measured without a preparation: %v", err)
	}
	nothingReserved(t, o)
	m := preparedFor(t, o, false)
	m.countAll(t, o)
	for range 2 {
		if _, err := Measure(t.Context(), o.Plan, opt); err == nil || !strings.Contains(err.Error(), "was prepared") {
			t.Errorf("measured here: %v", err)
		}
	}
	if _, err := Prepare(t.Context(), o.Plan, opt, Division{Shards: 4}, m.public); err == nil {
		t.Error("prepared for another division")
	}
	if _, err := Prepare(t.Context(), o.Plan, opt, Division{Shards: 3}, m.public[:1]); err == nil ||
		!strings.Contains(err.Error(), m.public[1].Fingerprint()) {
		t.Errorf("prepared without a machine that has the row key: %v", err)
	}
	again, err := Prepare(t.Context(), o.Plan, opt, Division{Shards: 3}, append(m.public, machineKey(t).Public()))
	if err != nil || again.Fingerprint == m.handed.Fingerprint {
		t.Errorf("prepared again: %v", err)
	}
	if err := m.count(t.Context(), o, 2); err == nil || !strings.Contains(err.Error(), "fingerprint") {
		t.Errorf("counted by a file that has changed: %v", err)
	}
	m.handed = again
	stranger := machines{of: 3, handed: again, keys: []seal.Key{machineKey(t), machineKey(t)}}
	if err := stranger.count(t.Context(), o, 1); err == nil ||
		!strings.Contains(err.Error(), "not sealed for this machine") {
		t.Errorf("counted by a machine that was not named: %v", err)
	}
	if err := m.count(t.Context(), o, 2); err != nil {
		t.Errorf("counted again: %v", err)
	}
	if err := Cancel(t.Context(), o.Plan, opt); err != nil {
		t.Fatal(err)
	}
	nothingReserved(t, o)
	if _, err := Measure(t.Context(), o.Plan, fromShards(o)); err == nil || o.Debits(t) != 0 {
		t.Errorf("measured after it was taken back: %v", err)
	}
	if _, err := Measure(t.Context(), o.Plan, opt); err != nil || o.Debits(t) != 1 {
		t.Errorf("measured here after it was taken back: %v", err)
	}
}

// answersIn returns the paths of the noisy answers of measurements, in order.
func answersIn(t *testing.T, folder string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(folder, "measurements"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d answers, %v", len(paths), err)
	}
	return paths
}

// Wherever the measuring of shards is interrupted, it goes on to the same figures: before the debit by the shards, and
// after it by what was stored of them, whatever became of the shards.
func TestShardsResume(t *testing.T) {
	o := releasetest.Trips(t)
	m := preparedFor(t, o, false)
	m.countAll(t, o)
	whole := testkit.ClosingAt(t.Context(), math.MaxInt64, context.Canceled)
	first := o.Copied(t)
	if _, err := Measure(whole, first.Plan, fromShards(first)); err != nil {
		t.Fatal(err)
	}
	debited := 0
	var figures string
	for n := int64(1); ; n++ {
		if n < whole.Looks()-8 { // the debit is among the last ones
			n += 4
		}
		one := o.Copied(t)
		ctx := testkit.ClosingAt(t.Context(), n, context.Canceled)
		_, err := Measure(ctx, one.Plan, fromShards(one))
		if err == nil && !ctx.Ended() {
			break
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatalf("ended at look %d: %v", n, err)
		}
		opt := fromShards(one)
		if one.Debits(t) == 1 {
			debited++
			if err := os.RemoveAll(opt.FromShards); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Measure(t.Context(), one.Plan, opt); err != nil || one.Debits(t) != 1 {
			t.Fatalf("after an end at look %d: %v, %d debits", n, err, one.Debits(t))
		}
		of := ""
		for _, path := range answersIn(t, MeasuredFolder(opt.Out, "trips")) {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			of += filepath.Base(path) + string(b)
		}
		if figures == "" {
			figures = of
		} else if figures != of {
			t.Errorf("ended at look %d it has other figures", n)
		}
	}
	if debited == 0 {
		t.Error("it was never ended after its debit")
	}
}

// An answer that was stored by a run that did not come to its debit is not used: the shards may be others by then.
func TestStoredAnswersOfUnpaidRunsAreForgotten(t *testing.T) {
	o := releasetest.Trips(t)
	m := preparedFor(t, o, false)
	m.countAll(t, o)
	name := stateNameOf(t, o, optionsOf(o, "out"))
	stored := func(one releasetest.Office) string {
		return filepath.Join(one.Dir, "out", ".dprelease", name, state.AnswersFile)
	}
	found := false
	for n := int64(1); ; n++ {
		one := o.Copied(t)
		ctx := testkit.ClosingAt(t.Context(), n, context.Canceled)
		_, err := Measure(ctx, one.Plan, fromShards(one))
		if err == nil && !ctx.Ended() {
			break
		}
		if _, gone := os.Stat(stored(one)); gone != nil || one.Debits(t) != 0 {
			continue
		}
		found = true
		if err := os.WriteFile(stored(one), []byte("other answers"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Measure(t.Context(), one.Plan, fromShards(one)); err != nil {
			t.Fatalf("ended at look %d: %v", n, err)
		}
	}
	if !found {
		t.Error("no run has ended between storing its answers and its debit")
	}
}

// The length of a shard's file does not follow the number of its units.
func TestShardsArePadded(t *testing.T) {
	for n, want := range map[int64]int64{0: padLeast, 1: padLeast, padLeast: padLeast, padLeast + 1: 2 * padLeast,
		padStep - 1: padStep, padStep: padStep, padStep + 1: 2 * padStep, 5*padStep - 3: 5 * padStep} {
		if got := padded(n); got != want {
			t.Errorf("%d bytes become %d, expected %d", n, got, want)
		}
	}
	o := releasetest.Trips(t)
	m := preparedFor(t, o, true)
	rows := filepath.Join(o.Dir, "t.csv")
	text, err := os.ReadFile(rows)
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[int64]bool{}
	for number := range 3 {
		cut := strings.SplitAfterN(string(text), "\n", 3+10*number)
		if err := os.WriteFile(rows, []byte(strings.Join(cut[:len(cut)-1], "")), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := m.count(t.Context(), o, number+1); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(o.Dir, "shards", shardName(o.Plan, number+1, 3)))
		if err != nil {
			t.Fatal(err)
		}
		sizes[info.Size()] = true
	}
	if len(sizes) != 1 {
		t.Errorf("files of three lengths: %v", sizes)
	}
}

// Machines that have the same files in another order, or under other names, divide rows otherwise, and are refused; so
// is a public file that is confidential on any of them.
func TestMachinesReadTheSameFiles(t *testing.T) {
	text := "version: 1\nrelease: trips\nprivacy: {protects: trip, neighbours: add-remove, account: trips}\n" +
		"budget: {epsilon: 1}\n" +
		"tables: {t: {source: {csv: '*.csv'}, unit: row, columns: {mode: {values: [walk, ride]}}}}\n" +
		"marginals: {m: {by: [mode]}}\n"
	o := releasetest.Of(t, map[string]string{"release.yaml": text, "policy.yaml": "account: trips\nprotects: trip\n" +
		"neighbours: add-remove\ncap: {epsilon: 5}\n",
		"a.csv": "mode\nwalk\n", "b.csv": "mode\nride\nride\n"})
	m := preparedFor(t, o, false)
	m.countAll(t, o)
	for _, name := range []string{"a.csv", "b.csv"} {
		if err := os.Rename(filepath.Join(o.Dir, name), filepath.Join(o.Dir, "x"+name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, as := range map[string]string{"xa.csv": "b.csv", "xb.csv": "a.csv"} {
		if err := os.Rename(filepath.Join(o.Dir, name), filepath.Join(o.Dir, as)); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.count(t.Context(), o, 2); err != nil {
		t.Fatal(err)
	}
	if _, err := Measure(t.Context(), o.Plan, fromShards(o)); err == nil ||
		!strings.Contains(err.Error(), "the same files") {
		t.Errorf("files whose names were exchanged: %v", err)
	}
}
