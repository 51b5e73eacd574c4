package spec

// This file holds the ways in: from a file and from memory.

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"gopkg.in/yaml.v3"
)

// Load reads the spec at path, its code books and its public tables, whose paths are relative to the spec's
// folder, with values for its parameters. unpack reads the public tables that are no plain CSV files; where it is nil
// they are refused. What is wrong with them comes back as *Errors. A
// spec that is well formed but uses parts of the language that this version does not build
// comes back as a Release together with *Errors whose Unbuilt is true.
func Load(path string, params map[string]string, unpack Unpack) (*Release, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the spec: %w", err)
	}
	folder := filepath.Dir(path)
	found := func(name string) string {
		if filepath.IsAbs(name) {
			return name
		}
		return filepath.Join(folder, filepath.FromSlash(name))
	}
	open := opener{
		text: func(name string) (string, error) {
			book, err := os.ReadFile(found(name))
			return string(book), err
		},
		unpack: func(name string, format Format, most int64) (*Unpacked, error) {
			if unpack == nil {
				return nil, errors.New("it is no plain CSV file")
			}
			return unpack(found(name), format, most)
		},
	}
	return read(Source{Name: filepath.Base(path), Text: string(text), Params: maps.Clone(params)}, open)
}

// Parse reads a release from memory only, with the same results as Load.
func Parse(src Source) (*Release, error) {
	src.Params = maps.Clone(src.Params)
	return read(src, opener{text: func(name string) (string, error) {
		book, found := src.Files[name]
		if !found {
			return "", fs.ErrNotExist
		}
		return book, nil
	}})
}

// opener opens the files that a spec names. unpack is nil where all of them are texts: of a public table its extract.
type opener struct {
	text   func(name string) (string, error)
	unpack Unpack
}

// table opens a public table.
func (o opener) table(name string, format Format) (*Unpacked, error) {
	if o.unpack == nil || format == CSV && !isCompressed(name) {
		text, err := o.text(name)
		return &Unpacked{Text: text}, err
	}
	return o.unpack(name, format, maxJoinedText)
}

// read is Parse with code books from open. The release's Source holds the code books that
// were used.
func read(src Source, open opener) (*Release, error) {
	src.Files = nil
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
