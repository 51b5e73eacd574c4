package release

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
)

const (
	manifestFile   = "manifest.json"
	manifestFormat = "dprelease.manifest/1"
)

// manifest lists every other file of a release with its SHA-256.
type manifest struct {
	Format   string         `json:"format"`
	Release  string         `json:"release"`
	Status   string         `json:"status"`
	PlanHash string         `json:"plan_hash"`
	Software string         `json:"software"`
	Files    []manifestLine `json:"files"`
}

type manifestLine struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// writeManifest closes a staging folder with the list of its files.
func writeManifest(out *staging, p *plan.Plan, status ledger.Status) error {
	m := manifest{Format: manifestFormat, Release: p.Name, Status: statusText(status), PlanHash: p.Hash(), Software: Software}
	names, err := files(out.dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(out.dir, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		h := sha256.Sum256(b)
		m.Files = append(m.Files, manifestLine{Path: name, Bytes: int64(len(b)), SHA256: hex.EncodeToString(h[:])})
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	if err := e.Encode(m); err != nil {
		return err
	}
	return out.write(manifestFile, b.Bytes())
}

// readManifest reads the manifest of a published folder.
func readManifest(place string) (manifest, error) {
	var m manifest
	b, err := os.ReadFile(filepath.Join(place, manifestFile))
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return m, fmt.Errorf("%s: %w", filepath.Join(place, manifestFile), err)
	}
	if m.Format != manifestFormat {
		return m, fmt.Errorf("%s: format %q, expected %q", filepath.Join(place, manifestFile), m.Format, manifestFormat)
	}
	return m, nil
}

// intact checks a published folder against its own manifest, which must list every
// table and measurement of the plan.
func intact(place string, p *plan.Plan) error {
	m, err := readManifest(place)
	if err != nil {
		return err
	}
	listed := map[string]bool{}
	for _, line := range m.Files {
		listed[line.Path] = true
	}
	for i, t := range p.Tables {
		for _, name := range []string{t.File(), measured.Path(p.Measurements[i].ID)} {
			if !listed[name] {
				return &Altered{Place: place, File: name}
			}
		}
	}
	for _, line := range m.Files {
		b, err := os.ReadFile(filepath.Join(place, filepath.FromSlash(line.Path)))
		if err != nil {
			return &Altered{Place: place, File: line.Path}
		}
		if h := sha256.Sum256(b); hex.EncodeToString(h[:]) != line.SHA256 {
			return &Altered{Place: place, File: line.Path}
		}
	}
	return nil
}

// PracticeStatus marks what was drawn on a practice account.
const PracticeStatus = "PRACTICE, NOT A RELEASE"

// statusText is how a status is written into every published file.
func statusText(s ledger.Status) string {
	switch s {
	case ledger.Official:
		return "RELEASE"
	case ledger.Practice:
		return PracticeStatus
	default:
		return "REHEARSAL, MADE-UP DATA"
	}
}
