package verify

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dprelease/dprelease/internal/publishedtest"
	"github.com/dprelease/dprelease/internal/release"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/parquet-go/parquet-go"
)

// publishPay makes a signed and approved release of every statistic, with noise to speak of.
func publishPay(t *testing.T) releasetest.Signed {
	t.Helper()
	return publishedtest.Sign(t, releasetest.PayText("{rho: 1}", true, "show: {when_count_at_least: 500}"),
		releasetest.PayPolicy, releasetest.PayData(releasetest.PayRows()))
}

// TestNumbersVerifyAndAreFoundAltered alters columns of figures one by one, behind a manifest that lists what is there
// then, and wants the table named. Publishing again gives the same bytes.
func TestNumbersVerifyAndAreFoundAltered(t *testing.T) {
	o := publishPay(t)
	assertVerifies(t, o.Folder, Options{Trust: o.Public})
	again, err := release.Publish(t.Context(), o.Folder+".measured", publishedtest.SignedOptions(o))
	if err != nil || !again.AlreadyDone {
		t.Fatalf("published again: %+v, %v", again, err)
	}
	planned := o.Plan.Tables[0]
	name := planned.File()
	genuine, err := os.ReadFile(filepath.Join(o.Folder, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(genuine), int64(len(genuine)))
	if err != nil {
		t.Fatal(err)
	}
	columns := f.Schema().Columns()
	first := slices.IndexFunc(columns, func(c []string) bool { return c[0] == planned.Figures[0].Name })
	if want := first + 3*6 + 9*5; len(columns) != want { // units, distinct and the sum have an unbiased column too
		t.Fatalf("%d columns, want %d", len(columns), want)
	}
	for i := first; i < len(columns); i += 7 { // of other figures another of their columns each
		leaf, _ := f.Schema().Lookup(columns[i]...)
		if leaf.Node.Type().Kind() == parquet.ByteArray {
			continue
		}
		b := releasetest.Altered(t, genuine, func(_ int, r parquet.Row) {
			switch {
			case !r[i].IsNull():
				r[i] = parquet.NullValue().Level(0, 0, i)
			case leaf.Node.Type().Kind() == parquet.Int64:
				r[i] = parquet.Int64Value(7).Level(0, 1, i)
			default:
				r[i] = parquet.DoubleValue(7).Level(0, 1, i)
			}
		})
		dir := o.CopiedFolder(t)
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), b, 0o644); err != nil {
			t.Fatal(err)
		}
		releasetest.Relist(t, dir, name, b)
		assertRefused(t, dir, Options{}, name, "")
	}
	t.Run("flipped", func(t *testing.T) { flippedBytesAreFound(t, o, flips(t)/20) })
}
