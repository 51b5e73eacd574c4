package published

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/spec/document"
)

// Release is a published release that is being read.
type Release struct {
	*Folder
	Plan   *compiled.Compiled
	Record ledger.Record // of the debit that paid for it
}

// Open opens a published folder as [OpenFolder] does, and reads its plan with its words, and the record of its debit.
//
// Contract: after a nil error the plan and the record are those that the manifest names, and the manifest lists every
// table, measurement and file of microdata of the plan. Errors: as [OpenFolder].
func Open(place string) (*Release, error) {
	d, err := OpenFolder(place)
	if err != nil {
		return nil, err
	}
	e := &Release{Folder: d}
	b, err := d.Read(measured.PlanFile)
	if err != nil {
		return nil, err
	}
	if e.Plan, err = compiled.Read(b); err != nil {
		return nil, &verdict.Unusable{File: filepath.Join(place, measured.PlanFile), Err: err}
	}
	if e.Plan.Hash() != e.Manifest.PlanHash || e.Plan.Name != e.Manifest.Release {
		return nil, d.Altered(Faultf(measured.PlanFile, "is not the plan that %s names", ManifestFile))
	}
	if b, err = d.Read(measured.WordsFile); err != nil {
		return nil, err
	}
	if e.Plan, err = measured.WithWords(e.Plan, b); err != nil {
		return nil, d.Altered(Faultf(measured.WordsFile, "%v", err))
	}
	if err := d.checkListed(e.Plan); err != nil {
		return nil, err
	}
	if e.Record, err = d.ReadRecord(); err != nil {
		return nil, err
	}
	if e.Plan.Release().Holders != nil && e.Record.Status != ledger.Rehearsal {
		var all []measured.Held
		if b, err = d.Read(measured.HoldersFile); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(b, &all); err != nil {
			return nil, d.Altered(Faultf(measured.HoldersFile, "cannot be read"))
		}
		if err := checkHolders(&measured.Sealed{Plan: e.Plan, Holders: all}, e.Record.Status); err != nil {
			return nil, d.Altered(Faultf(measured.HoldersFile, "%v", err))
		}
		e.Plan = measured.MeasuredBy(e.Plan, all)
	}
	return e, nil
}

// SameMeasurements reports whether two releases publish the same measurements: both the same debit, which pays for one
// draw, and the same numbers.
func (e *Release) SameMeasurements(other *Release) bool {
	return e.Record.Proof.Hash == other.Record.Proof.Hash && slices.Equal(e.Manifest.Drawn(), other.Manifest.Drawn())
}

// TableAt returns the index of a table in the plan, given its path or the name of its file.
func (e *Release) TableAt(path string) (int, error) {
	path = strings.TrimSuffix(strings.TrimPrefix(path, "tables/"), ".parquet")
	var paths []string
	for i, t := range e.Plan.Tables {
		if t.Path == path {
			return i, nil
		}
		paths = append(paths, t.Path)
	}
	for _, m := range e.Plan.Synthetic {
		names := MicrodataFiles(m)
		if path == m.Table || slices.Contains(names, path) || slices.Contains(names, path+".parquet") {
			return 0, fmt.Errorf("the microdata of %s are rows of a model without intervals, which their file says "+
				"and no CSV would: read %s with any program that reads Parquet", m.Table, names[0])
		}
	}
	for _, m := range e.Plan.AllModels() {
		if path == m.Name || path == m.Path() || path == m.File() {
			return 0, fmt.Errorf(
				"%s is a model, and not a table: %s holds it, report.html shows it, and `dprelease predict` predicts with it",
				m.Name, m.File())
		}
	}
	return 0, NoSuch("table", path, paths)
}

// NoSuch returns the error that nothing has the given name, with the nearest existing name.
func NoSuch(kind, name string, there []string) error {
	near := document.Nearest(name, there)
	if near == "" { // most keyboards have a hyphen and not the dash of a range
		near = document.Nearest(strings.ReplaceAll(name, "-", "–"), there)
	}
	switch {
	case near != "":
		return fmt.Errorf("there is no %s %q; did you mean %q?", kind, name, near)
	case len(there) == 0:
		return fmt.Errorf("there is no %s %q", kind, name)
	case len(there) > 12:
		return fmt.Errorf("there is no %s %q; there are %s … %s", kind, name, strings.Join(there[:6], ", "),
			there[len(there)-1])
	}
	return fmt.Errorf("there is no %s %q; there is %s", kind, name, strings.Join(there, ", "))
}
