package respondent

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/histogram/respondent/client"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/parquet-go/parquet-go"
	"gonum.org/v1/gonum/stat/distuv"
)

// writeLines writes reports as devices send them, and after them other lines.
func writeLines(t *testing.T, path string, reports []client.Report, lines ...string) {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	for _, r := range reports {
		if err := e.Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	b.WriteString(strings.Join(lines, "\n"))
	writeBytes(t, path, b.Bytes())
}

// writeReports writes reports as [Writer] does, with their tokens or without.
func writeReports(t *testing.T, path string, reports []client.Report, mixed bool) []byte {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b)
	for _, r := range reports {
		if err := w.Write(r, mixed); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	writeBytes(t, path, b.Bytes())
	return b.Bytes()
}

// sentTo returns what n devices send, with some of it faulty: of every kind that is left out there is one.
func sentTo(c *client.Collector, d drawer, n int) (all []client.Report, left measured.Reports) {
	for i := range n {
		at := i % len(c.Questions)
		q := &c.Questions[at]
		all = append(all, client.Report{Collector: c.ID(), Token: d.token(), Question: q.Name, Bytes: d.report(q, 1)})
	}
	again, bad, foreign, other := all[0], all[1], all[2], all[3]
	again.Bytes = all[len(c.Questions)].Bytes // of the same question
	bad.Token, bad.Bytes = d.token(), []byte("bad")
	foreign.Token, foreign.Collector = d.token(), "0123456789abcdef"
	other.Token, other.Question = d.token(), "none"
	return append(all, again, bad, foreign, other),
		measured.Reports{Kept: int64(n), Impossible: 1, Repeated: 1, Foreign: 2}
}

// TestGatherReadsBothForms gathers the same reports from lines, from a Parquet file, and from both, where they were
// sent twice.
func TestGatherReadsBothForms(t *testing.T) {
	c, dir := collectorOf(t, planOf(t, specOf("epsilon: 1, expect: 100000", 2, 12, 600))), t.TempDir()
	sent, left := sentTo(c, newDrawer(8), 5000)
	lines, file := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.parquet")
	writeLines(t, lines, sent)
	writeReports(t, file, sent, false)
	for _, from := range [][]string{{lines}, {file}, {lines, file}, {file, lines}} {
		got, tally, err := Gather(context.Background(), c, from, false, 0)
		want := left
		if len(from) == 2 {
			want.Repeated, want.Impossible, want.Foreign = left.Repeated*2+left.Kept, 2*left.Impossible, 2*left.Foreign
		}
		if err != nil || !reflect.DeepEqual(tally, want) || !reflect.DeepEqual(got, sent[:5000]) {
			t.Errorf("%v: %d reports, %+v, %v, want %+v", from, len(got), tally, err, want)
		}
	}
}

// TestGatherLeavesOutLines reads lines that no device sends, and gathers reports that were shuffled before.
func TestGatherLeavesOutLines(t *testing.T) {
	c, dir, d := collectorOf(t, planOf(t, specOf("epsilon: 1, expect: 100000", 2))), t.TempDir(), newDrawer(9)
	lines, file := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.parquet")
	sent := []client.Report{{Collector: c.ID(), Token: d.token(), Question: "q2", Bytes: []byte{1}}}
	writeLines(t, lines, sent, `{"collector":"`+canary+`"}`, canary, "{}", "[1]")
	got, tally, err := Gather(context.Background(), c, []string{lines}, false, 0)
	if want := (measured.Reports{Kept: 1, Impossible: 4}); err != nil || !reflect.DeepEqual(tally, want) ||
		!reflect.DeepEqual(got, sent) {
		t.Errorf("%v, %+v, %v", got, tally, err)
	}
	writeReports(t, file, append(sent, sent[0], sent[0]), true)
	got, tally, err = Gather(context.Background(), c, []string{file}, false, 0)
	if err != nil || !reflect.DeepEqual(tally, measured.Reports{Kept: 3}) || got[0].Token != nil {
		t.Errorf("shuffled before: %v, %+v, %v", got, tally, err)
	}
	writeLines(t, lines, nil, strings.Repeat(canary, 1<<20))
	if _, _, err = Gather(context.Background(), c, []string{lines}, false, 0); err == nil {
		t.Error("a line without end was read")
	}
	checkSilent(t, "a line without end", err)
}

// TestShuffledFilesHoldNoToken looks for tokens in the bytes of files and in their columns. A file with tokens has them
// in both.
func TestShuffledFilesHoldNoToken(t *testing.T) {
	c, dir := collectorOf(t, planOf(t, specOf("epsilon: 1, expect: 100000", 2, 12))), t.TempDir()
	sent, left := sentTo(c, newDrawer(10), 3000)
	writeReports(t, filepath.Join(dir, "in.parquet"), sent, false)
	all, _, err := Gather(context.Background(), c, []string{filepath.Join(dir, "in.parquet")}, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := Mix(all); err != nil {
		t.Fatal(err)
	}
	for _, mixed := range []bool{true, false} {
		b := writeReports(t, filepath.Join(dir, "out.parquet"), all, mixed)
		inBytes, inColumn := 0, 0
		for _, r := range all {
			if bytes.Contains(b, r.Token) || bytes.Contains(b, []byte(hex.EncodeToString(r.Token))) {
				inBytes++
			}
		}
		rows, err := parquet.Read[anyRow](bytes.NewReader(b), int64(len(b)))
		if err != nil || int64(len(rows)) != left.Kept {
			t.Fatalf("%d rows, %v", len(rows), err)
		}
		for i, r := range rows {
			if r.Token != nil {
				inColumn++
			}
			if *r.Question != all[i].Question || !bytes.Equal(*r.Report, all[i].Bytes) || *r.Collector != c.ID() {
				t.Fatalf("row %d is %v", i, r)
			}
		}
		if mixed && inBytes+inColumn > 0 || !mixed && (inBytes == 0 || inColumn != len(rows)) {
			t.Errorf("mixed %t: %d tokens in the bytes, %d in the column", mixed, inBytes, inColumn)
		}
	}
}

// Mixes of four reports are compared with the uniform law of their 24 orders by χ². It raises an alarm beyond the
// quantile of 1 − 10^−10. Faulty mixes must be detected: the likeliest to be missed, which draws of all places each
// time, has noncentrality λ = n Σ (p' − p)²/p = 72 000 · 0.2539 = 18 280 and is missed with a probability below 10^−300
// (Birgé 2001, lemma 8.1: χ² is below 23 + λ − 2 √((23 + 2λ) x) with probability e^−x).
const (
	mixes    = 72_000
	mixAlarm = 1e-10
)

// mixer mixes reports; [Mix], or one with a fault.
type mixer func(reports []client.Report) error

// orderChiSquare returns χ² of the orders in which four reports come out.
func orderChiSquare(t *testing.T, mix mixer) float64 {
	t.Helper()
	counts := map[string]float64{}
	for range mixes {
		reports := []client.Report{{Question: "a"}, {Question: "b"}, {Question: "c"}, {Question: "d"}}
		if err := mix(reports); err != nil {
			t.Fatal(err)
		}
		order := ""
		for _, r := range reports {
			order += r.Question
		}
		counts[order]++
	}
	x, expected := 0.0, float64(mixes)/24
	for _, n := range counts {
		x += (n - expected) * (n - expected) / expected
	}
	return x + float64(24-len(counts))*expected
}

// drawnBelow is a mix in which the place of a report is drawn below this number of the position and the length.
func drawnBelow(below func(i, n int) int) mixer {
	return func(reports []client.Report) error {
		for i := len(reports) - 1; i > 0; i-- {
			j := rand.IntN(below(i, len(reports)))
			reports[i], reports[j] = reports[j], reports[i]
		}
		return nil
	}
}

func TestMixIsUniform(t *testing.T) {
	law := distuv.ChiSquared{K: 23}
	if x := orderChiSquare(t, Mix); law.Survival(x) < mixAlarm {
		t.Errorf("χ² = %g, which a uniform mix exceeds with a probability of %g", x, law.Survival(x))
	}
	for what, faulty := range map[string]mixer{
		"all places":     drawnBelow(func(_, n int) int { return n }),
		"lower places":   drawnBelow(func(i, _ int) int { return i }),
		"last one given": drawnBelow(func(i, _ int) int { return i + min(i-1, 1) }),
		"not at all":     func([]client.Report) error { return nil },
	} {
		if x := orderChiSquare(t, faulty); law.Survival(x) >= mixAlarm {
			t.Errorf("%s: χ² = %g raises no alarm", what, x)
		}
	}
}

// TestMixKeepsReports mixes many reports, of which each stays, and compares where the first one comes to with the
// uniform law: χ² of 10 tenths over 20 000 mixes of 50, false alarm 10^−10.
func TestMixKeepsReports(t *testing.T) {
	const n, rounds = 50, 20_000
	places, sorted := make([]float64, 10), make([]client.Report, n)
	for i := range sorted {
		sorted[i].Token = client.Hex{byte(i)}
	}
	for round := range rounds {
		reports := slices.Clone(sorted)
		if err := Mix(reports); err != nil {
			t.Fatal(err)
		}
		for place, r := range reports {
			if r.Token[0] == 0 {
				places[place*10/n]++
			}
		}
		if round < 100 {
			slices.SortFunc(reports, func(a, b client.Report) int { return bytes.Compare(a.Token, b.Token) })
			if !reflect.DeepEqual(reports, sorted) {
				t.Fatal("a mix has other reports")
			}
		}
	}
	x := 0.0
	for _, seen := range places {
		x += math.Pow(seen-rounds/10, 2) / (rounds / 10)
	}
	if p := (distuv.ChiSquared{K: 9}).Survival(x); p < mixAlarm {
		t.Errorf("χ² = %g of %v: %g", x, places, p)
	}
	for _, few := range [][]client.Report{nil, {}, {{Question: "a"}}} {
		if err := Mix(few); err != nil {
			t.Error(err)
		}
	}
}
