// Package publishedtest makes releases for tests of what is built on published folders.
package publishedtest

import (
	"path/filepath"
	"testing"

	"github.com/dprelease/dprelease/internal/release"
	"github.com/dprelease/dprelease/internal/releasetest"
)

// Options returns options that write below a folder of an office and pay from its ledger.
func Options(o releasetest.Office, out string) release.Options {
	return release.Options{Out: filepath.Join(o.Dir, out), Data: o.Dir, Ledger: o.Ledger}
}

// Run makes the release of an office, and returns its folder.
func Run(t *testing.T, o releasetest.Office) (release.Options, string) {
	t.Helper()
	opt := Options(o, "out")
	r, err := release.Run(t.Context(), o.Plan, opt)
	if err != nil {
		t.Fatal(err)
	}
	return opt, r.Folder
}

// Ages makes the release of [releasetest.Ages] on a practice account.
func Ages(t *testing.T, spec, budget string) string {
	t.Helper()
	dir, p := releasetest.Ages(t, spec, budget)
	r, err := release.Run(t.Context(), p, release.Options{Out: filepath.Join(dir, "out"), Data: dir})
	if err != nil {
		t.Fatal(err)
	}
	return r.Folder
}
