package release

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/synth"
)

// adultWays plans tables of Adult of so many columns, such as "[1, 2]".
func adultWays(t testing.TB, budget, every string) *compiled.Compiled {
	t.Helper()
	folder := filepath.Join(testkit.Root(t), "examples", "adult")
	text, err := os.ReadFile(filepath.Join(folder, "release.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.NewReplacer(
		"{epsilon: 1, delta: 1e-9}", budget, "every: [1, 2]", "every: "+every, "codebooks/",
		filepath.Join(folder, "codebooks")+"/",
	).Replace(string(text))
	path := filepath.Join(t.TempDir(), "release.yaml")
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := planfile.Load(context.Background(), planfile.Spec{Path: path, Public: []string{folder}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// adultDrawer draws a plan of Adult.
func adultDrawer(t testing.TB, p *compiled.Compiled, data string, runs int) *drawer {
	t.Helper()
	content, err := os.ReadFile(data)
	if err != nil {
		t.Fatal(err)
	}
	d := newDrawer(t, p, runs)
	if err := os.WriteFile(filepath.Join(d.dir, "adult14.csv"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	return d
}

// BenchmarkAdultWays counts, draws and puts together every table of Adult of up to three columns: 470 residuals and 21
// million cells, table after table. The bars are 5 s and 600 MB on two cores. peak-MB is the largest resident size that
// the process had in all of its runs (VmHWM of Linux, which is set back before the first), in units of 2^20 bytes; so
// for one release -benchtime 1x.
func BenchmarkAdultWays(b *testing.B) {
	data := testkit.Data(b, "adult14.csv")
	p := adultWays(b, "{rho: 1/10}", "[0, 1, 2, 3]")
	d := adultDrawer(b, p, data, 100)
	defer debug.SetGCPercent(debug.SetGCPercent(Garbage))     // as the command does
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // elsewhere than on Linux there is no peak to set back
	for b.Loop() {
		drawn := d.sealed(b)
		reader, err := synth.NewReader(p)
		if err != nil {
			b.Fatal(err)
		}
		var cells int64
		for i := range p.Tables {
			figures, err := reader.Statistic(i, drawn.Measured)
			if err != nil {
				b.Fatal(err)
			}
			cells += int64(figures.Unbiased.Len())
		}
		if len(drawn.Measured) != 470 || cells != p.Size.Cells {
			b.Fatalf("%d measurements and %d cells", len(drawn.Measured), cells)
		}
	}
	if peak, ok := peakMemory(); ok {
		b.ReportMetric(peak, "peak-MB")
	}
}

// peakMemory is the largest resident size that the process had, false where the system does not say.
func peakMemory() (mebibytes float64, ok bool) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(status)) {
		var kib float64
		if n, _ := fmt.Sscanf(line, "VmHWM: %f kB", &kib); n == 1 {
			return kib / 1024, true
		}
	}
	return 0, false
}
