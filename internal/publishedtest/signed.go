package publishedtest

import (
	"testing"

	"github.com/dprelease/dprelease/internal/release"
	"github.com/dprelease/dprelease/internal/releasetest"
)

// SignTrips makes a signed and approved release of trips.
func SignTrips(t *testing.T) releasetest.Signed {
	t.Helper()
	return Sign(t, releasetest.TripSpec, releasetest.TripPolicy, releasetest.TripRows)
}

// Sign makes a signed and approved release of a spec.
func Sign(t *testing.T, spec, policy, rows string) releasetest.Signed {
	t.Helper()
	return releasetest.Sign(t, spec, policy, rows, func(o releasetest.Signed) string {
		r, err := release.Run(t.Context(), o.Plan, SignedOptions(o))
		if err != nil {
			t.Fatal(err)
		}
		return r.Folder
	})
}

// SignedOptions returns [Options] with the office's key and the approvals of its plan.
func SignedOptions(o releasetest.Signed) release.Options {
	opt := Options(o.Office, "out")
	opt.Office, opt.Approvals = &o.Key, o.Dir
	return opt
}
