package release

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/plan"
)

// Result is what a run leaves.
type Result struct {
	Place   string // the published folder
	Status  string // of the release, in words
	Already bool   // it was there before, from the same plan
}

// Run plans, measures and publishes a spec. A release that is already there
// from the same plan is success; one from another plan is refused before
// anything is read or spent.
func Run(ctx context.Context, p *plan.Plan, o Options) (Result, error) {
	result := Result{Place: filepath.Join(o.Out, p.Name)}
	published, err := publishedFor(result.Place, p, o)
	if err != nil {
		return result, err
	}
	sealed := MeasuredFolder(o.Out, p.Name)
	measuredThere, err := sealedFor(sealed, p, o)
	if err != nil {
		return result, err
	}
	if published && !measuredThere {
		result.Already = true
		err = errors.Join(intact(result.Place), forget(ctx, o.stateDir(), p.Name, p.Hash()))
	} else {
		result.Already, err = o.derive(ctx, p, sealed)
	}
	if err != nil {
		return result, err
	}
	m, err := readManifest(result.Place)
	result.Status = m.Status
	return result, err
}

// derive measures a plan where that is not done, and publishes it.
func (o Options) derive(ctx context.Context, p *plan.Plan, sealed string) (already bool, err error) {
	if _, err := Measure(ctx, p, o); err != nil {
		return false, err
	}
	if _, err := writePlan(p, o.Out); err != nil {
		return false, err
	}
	_, already, err = Publish(ctx, sealed, o)
	return already, err
}

// publishedFor tells whether place already holds a release of the plan; another
// plan's, or anything else there, is an error.
func publishedFor(place string, p *plan.Plan, o Options) (bool, error) {
	there, err := exists(place)
	if err != nil || !there {
		return false, err
	}
	m, err := readManifest(place)
	if err != nil || m.PlanHash != p.Hash() {
		return false, occupied(place, err)
	}
	if m.Status == statusText(ledger.Practice) {
		return true, o.accepts(place, ledger.Practice)
	}
	return true, nil
}
