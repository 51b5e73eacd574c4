package spec

// This file holds the ways in: from a file and from memory.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"strings"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/shape"
	"gopkg.in/yaml.v3"
)

// Options say how a spec on the disk is read.
type Options struct {
	// Params are the values for its parameters.
	Params map[string]string
	// Public are folders, in addition to the spec's own, in which its public files may lie.
	Public []string
	// Data is the folder that relative paths of sources start from, "" for the spec's own. No source is opened.
	Data string
	// Unpack reads the public tables that are no plain CSV files; where it is nil they are refused.
	Unpack Unpack
}

// Load reads the spec at path, its code books and its public tables, whose paths are relative to the spec's folder. What is wrong
// with them comes back as *Errors; so does a public file that is a confidential source, lies in no folder for public files, or holds
// a private key. A spec that is well formed but uses parts of the language that this version does not build comes back as a Release
// together with *Errors whose Unbuilt is true.
func Load(ctx context.Context, path string, o Options) (*Release, error) {
	text, err := ReadFile(ctx, path, mostSpec)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("the spec cannot be read: %s", explain(err))
	}
	folder := filepath.Dir(path)
	files := &onDisk{ctx: ctx, folder: folder, public: o.Public, data: cmp.Or(o.Data, folder), unpack: o.Unpack, noted: map[string][]Digest{}}
	r, err := read(Source{Name: filepath.Base(path), Text: string(text), Params: maps.Clone(o.Params)}, files)
	return r, cmp.Or(ctx.Err(), err)
}

// Parse reads a release from memory only, with the same results as Load.
func Parse(src Source) (*Release, error) {
	src.Params = maps.Clone(src.Params)
	return read(src, inMemory{src})
}

// read is Parse with code books from open. The release's Source holds the code books that
// were used.
func read(src Source, open opener) (*Release, error) {
	src.Files, src.Digests = nil, nil
	if len(src.Params) == 0 {
		src.Params = nil // as it is when read back
	}
	r := newReader(&src, open)
	root, ok := readTree(r.Findings)
	if ok {
		shape.Check(r.Findings, language(), root, &unfilled)
		r.Spread(root.Value)
		if root.Value.Kind == yaml.MappingNode {
			r.readRelease(root)
		}
	}
	problems := r.Problems()
	r.release.Source = src
	r.release.Unbuilt, r.release.Warnings = r.Unbuilt(), r.Warnings()
	failure := &document.Errors{Problems: problems}
	switch {
	case len(problems) == 0:
		return r.release, nil
	case failure.Unbuilt():
		return r.release, failure
	}
	return nil, failure
}

// Problem is a problem with what stands in the spec at a path of keys, as marginals.ages.target, told as *Errors as those that
// Parse finds: with its line and a caret. Where the spec says nothing at that path, it is placed at the longest part of it
// that is there.
func (r *Release) Problem(path string, p document.Problem) error {
	f := document.NewFindings(r.Source.Name, r.Source.Text)
	root, _ := readTree(f)
	return f.ProblemAt(root, path, p)
}

// readTree reads the YAML of a spec, and tells a plan from one.
func readTree(f *document.Findings) (document.Node, bool) {
	root, ok := f.Read("a release, which starts with version: 1", "one release a file, without --- between")
	if format := root.Get("format"); ok && format.Present() && strings.HasPrefix(format.Text(), "dprelease.plan/") {
		f.ReportAt(1, 1, "", document.Problem{Message: "a plan, and not a spec", Expected: "the spec that the plan was made from; `dprelease run` takes a spec, `dprelease measure` a plan"})
		return document.Node{}, false
	}
	return root, ok
}

// unfilled is the problem of ${…} where no parameters are filled in.
var unfilled = document.Problem{
	Message:  "parameters are not filled in here",
	Expected: "${…} only in release, about and the paths of files: a standing approval signs a plan with its parameters blank, and what is counted is part of what it signs",
}

// explain says why a file could not be read, without the paths of this machine.
func explain(err error) string {
	var path *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file"
	case errors.As(err, &path):
		return path.Err.Error()
	}
	return err.Error()
}
