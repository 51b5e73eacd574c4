package derive

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/canonical"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/plan/compiled"
)

// This file holds the writing of a release's manifest.

// writeManifest completes a staging folder with the list of its files; m says which publication it is.
func writeManifest(out *Folder, p *compiled.Compiled, record ledger.Record, m published.Manifest) error {
	m.Format, m.Release, m.Status, m.PlanHash, m.Software = published.ManifestFormat, p.Name,
		published.StatusText(record.Status), p.Hash(), published.Software
	m.Head = record.Proof.Hash
	m.Files = slices.SortedFunc(slices.Values(out.lines),
		func(a, b published.Line) int { return comparePaths(a.Path, b.Path) })
	b, err := canonical.Indented(m)
	if err != nil {
		return err
	}
	return out.Write(published.ManifestFile, b)
}

// lineOf returns the manifest's line of a file.
func lineOf(path string, b []byte) published.Line {
	h := sha256.Sum256(b)
	return published.Line{Path: path, Bytes: int64(len(b)), SHA256: hex.EncodeToString(h[:])}
}

// comparePaths orders slash-separated paths part by part, as [published.Files] lists them.
func comparePaths(a, b string) int {
	return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
}
