//go:build unix

package verify

// This file holds what a forger puts where a file should be: pipes, which never end.

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/dprelease/dprelease/internal/ending"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/publishedtest"
	"github.com/dprelease/dprelease/internal/verdict"
)

// TestTamperPipesForFilesAreNotRead wants an answer though nobody writes into the
// pipes, also where no manifest tells which files there should be.
func TestTamperPipesForFilesAreNotRead(t *testing.T) {
	o := publishedtest.SignTrips(t)
	for name, c := range map[string]struct{ pipe, gone string }{
		"the manifest":              {pipe: published.ManifestFile},
		"its signature":             {pipe: published.SignatureFile},
		"a listed file":             {pipe: "plan.json"},
		"a plan without a manifest": {pipe: "plan.json", gone: published.ManifestFile},
		"a table":                   {pipe: "tables/hours.parquet"},
		"a file too many":           {pipe: "tables/more.parquet"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := o.CopiedFolder(t)
			path := filepath.Join(dir, filepath.FromSlash(c.pipe))
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			if c.gone != "" {
				if err := os.Remove(filepath.Join(dir, c.gone)); err != nil {
					t.Fatal(err)
				}
			}
			if err := syscall.Mkfifo(path, 0o644); err != nil {
				t.Skipf("no pipes here: %v", err)
			}
			done := make(chan error, 1)
			go func() {
				_, err := Folder(t.Context(), dir, Options{Trust: o.Public})
				done <- err
			}()
			select {
			case err := <-done:
				if ending.Of(err).Exit != verdict.ExitVerify {
					t.Errorf("exit %d, %v", ending.Of(err).Exit, err)
				}
			case <-time.After(20 * time.Second):
				t.Fatal("verification waits for what is written into a pipe")
			}
		})
	}
}
