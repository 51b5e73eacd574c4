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
	"slices"

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
	root, ok := r.readDocument(src.Text)
	if ok {
		(&checker{findings: r.findings}).check(language(), root)
		r.spread(root.value)
		if root.value.Kind == yaml.MappingNode {
			r.readRelease(root)
		}
	}
	problems := sorted(r.problems)
	r.release.Source = src
	slices.SortStableFunc(r.unbuilt, func(a, b Unbuilt) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column)) })
	r.release.Unbuilt = r.unbuilt
	r.release.Warnings = sorted(r.warnings)
	failure := &Errors{Problems: problems}
	switch {
	case len(problems) == 0:
		return r.release, nil
	case failure.Unbuilt():
		return r.release, failure
	}
	return nil, failure
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
