package release

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/internal/derive"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/spec"
)

// rehearsalSuffix marks the folder of a rehearsal.
const rehearsalSuffix = ".rehearsal"

// AsExpected, in place of a number of made-up rows, makes as many of each table as its `expect` says, by
// [scan.MadeUp], and usualRows where it says nothing.
const AsExpected = -1

const usualRows = 10_000

// MadeUpRows returns how many rows a rehearsal makes of a table, unless the rows of a parent table determine that. rows
// is as in [Rehearse].
func MadeUpRows(t *spec.Table, rows int64) int64 { return madeUp(rows).RowsOf(t) }

// madeUp returns the counter of made-up rows. rows is as in [Rehearse].
func madeUp(rows int64) scan.MadeUp {
	if rows == AsExpected {
		return scan.MadeUp{Rows: usualRows, AsExpected: true}
	}
	return scan.MadeUp{Rows: rows}
}

// Rehearse takes made-up rows, drawn uniformly from the declared domains, through all steps. It reads no data and
// charges no account, and every file says REHEARSAL. It replaces an earlier rehearsal in out/NAME.rehearsal. rows is
// how many each table has, or AsExpected.
func Rehearse(ctx context.Context, p *compiled.Compiled, rows int64, o Options) (string, error) {
	place := filepath.Join(o.Out, p.Name+rehearsalSuffix)
	if err := checkRehearsalPlace(place); err != nil {
		return place, err
	}
	if err := o.checkMemory(p); err != nil {
		return place, err
	}
	key, err := noise.NewKey()
	if err != nil {
		return place, err
	}
	streams := noise.NewStreams(key, p.Hash())
	key.Erase()
	defer streams.Erase()
	sealed, err := measureMadeUp(ctx, p, rows, streams, o.scanOptions())
	if err != nil {
		return place, err
	}
	out, err := stage(o.Out, filepath.Base(place))
	if err != nil {
		return place, err
	}
	defer out.discard()
	record, err := published.RecordIn(sealed)
	if err != nil {
		return place, err
	}
	if err := derive.Release(ctx, out.Folder, sealed, record, published.Manifest{}, derive.Modules()); err != nil {
		return place, err
	}
	if err := removeRehearsal(place); err != nil {
		return place, err
	}
	return place, out.commit()
}

// measureMadeUp measures made-up rows with the receipt of a rehearsal.
func measureMadeUp(ctx context.Context, p *compiled.Compiled, rows int64, streams *noise.Streams,
	opt scan.Options) (*measured.Sealed, error) {
	if p.Release().Collection != nil {
		return reportsMadeUp(ctx, p, MadeUpRows(p.Release().Tables[0], rows))
	}
	counter := madeUp(rows)
	counter.Options = opt
	exact, err := histogram.Count(ctx, p, counter, streams)
	if err != nil {
		return nil, err
	}
	receipt, err := rehearsedDebit(ctx, p, exact.Commitment(streams))
	if err != nil {
		return nil, err
	}
	return drawAll(ctx, p, exact, receipt, streams, nil, &journal{})
}

// rehearsedDebit returns the receipt of a rehearsal.
func rehearsedDebit(ctx context.Context, p *compiled.Compiled, commitment string) (ledger.Receipt, error) {
	l := ledger.OpenRehearsal()
	defer l.Close()
	return l.Debit(ctx, ledger.Charge{Account: "rehearsal", Release: p.Name, PlanHash: p.Hash(),
		Terms: published.Terms(p), Cost: p.Cost, Commitment: commitment})
}

// checkRehearsalPlace returns an error if place holds anything but an earlier rehearsal.
func checkRehearsalPlace(place string) error {
	there, err := durable.Exists(place)
	if err != nil || !there {
		return err
	}
	if m, err := published.ReadManifest(place); err != nil || m.Status != published.StatusText(ledger.Rehearsal) {
		return &Occupied{Folder: place, Why: "holds something else than a rehearsal"}
	}
	return nil
}

// removeRehearsal removes an earlier rehearsal, and nothing else.
func removeRehearsal(place string) error {
	if err := checkRehearsalPlace(place); err != nil {
		return err
	}
	if err := os.RemoveAll(place); err != nil {
		return fmt.Errorf("removing the earlier rehearsal: %w", err)
	}
	return nil
}
