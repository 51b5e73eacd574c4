package release

import (
	"context"
	"path/filepath"

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
	_, result.Already, err = Publish(ctx, sealed, o)
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
