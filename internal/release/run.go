package release

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan"
)

// Result is what a run leaves.
type Result struct {
	Plan    *plan.Plan
	Place   string // the published folder
	Already bool   // it was there before, from the same plan
}

// Run plans, measures and publishes a spec. A release that is already there
// from the same plan is success; one from another plan is refused before
// anything is read or spent.
func Run(ctx context.Context, p *plan.Plan, o Options) (Result, error) {
	result := Result{Plan: p, Place: filepath.Join(o.Out, p.Name)}
	published, err := publishedFor(result.Place, p)
	if err != nil {
		return result, err
	}
	sealed := MeasuredFolder(o.Out, p.Name)
	if measuredThere, err := sealedFor(sealed, p); err != nil {
		return result, err
	} else if published && !measuredThere {
		result.Already = true
		return result, intact(result.Place)
	}
	if _, err := Measure(ctx, p, o); err != nil {
		return result, err
	}
	if _, err := writePlan(p, o.Out); err != nil {
		return result, err
	}
	_, fresh, err := Publish(ctx, sealed, o)
	result.Already = !fresh
	return result, err
}

// publishedFor tells whether place already holds a release of the plan; another
// plan's, or anything else there, is an error.
func publishedFor(place string, p *plan.Plan) (bool, error) {
	there, err := exists(place)
	if err != nil || !there {
		return false, err
	}
	hash, err := publishedPlan(place)
	if err != nil || hash != p.Hash() {
		return false, occupied(place, err)
	}
	return true, nil
}

// rehearsalSuffix marks the folder of a rehearsal.
const rehearsalSuffix = ".rehearsal"

// Rehearse goes the whole way on made-up rows, drawn uniformly from the
// declared domains: no data is read, no account is charged, and every file says
// REHEARSAL. It replaces an earlier rehearsal in out/NAME.rehearsal.
func Rehearse(ctx context.Context, p *plan.Plan, rows int64, o Options) (string, error) {
	place := filepath.Join(o.Out, p.Name+rehearsalSuffix)
	if err := removeRehearsal(place); err != nil {
		return place, err
	}
	if err := histogram.CheckMemory(p); err != nil {
		return place, err
	}
	key, err := noise.NewKey()
	if err != nil {
		return place, err
	}
	defer key.Erase()
	streams := noise.NewStreams(key, p.Hash())
	exact, err := histogram.CountMadeUp(ctx, p, rows, streams)
	if err != nil {
		return place, err
	}
	l := ledger.OpenRehearsal()
	defer l.Close()
	receipt, err := l.Debit(ctx, ledger.Charge{
		Account: "rehearsal", Release: p.Name, PlanHash: p.Hash(), Terms: terms(p), Cost: p.Cost,
		Commitment: exact.Commitment(streams),
	})
	if err != nil {
		return place, err
	}
	sealed, err := os.MkdirTemp("", "dprelease-rehearsal-*")
	if err != nil {
		return place, err
	}
	defer os.RemoveAll(sealed)
	if err := seal(ctx, sealed, p, exact, receipt, streams); err != nil {
		return place, err
	}
	return place, publishRehearsal(ctx, sealed, place, o)
}

// publishRehearsal derives a rehearsal's folder from its sealed measurements.
func publishRehearsal(ctx context.Context, sealed, place string, o Options) error {
	s, err := measured.Open(sealed)
	if err != nil {
		return err
	}
	out, err := stage(o.Out, filepath.Base(place))
	if err != nil {
		return err
	}
	defer out.discard()
	if err := write(ctx, out, s); err != nil {
		return err
	}
	return out.commit()
}

// removeRehearsal clears the place of an earlier rehearsal, and nothing else.
func removeRehearsal(place string) error {
	there, err := exists(place)
	if err != nil || !there {
		return err
	}
	m, err := readManifest(place)
	if err != nil || m.Status != statusText(ledger.Rehearsal) {
		return &Occupied{Place: place, Why: "holds something else than a rehearsal"}
	}
	if err := os.RemoveAll(place); err != nil {
		return fmt.Errorf("removing the earlier rehearsal: %w", err)
	}
	return nil
}
