package release

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan"
)

// This file holds the published folder: how whatever reads one opens it.

// publishedFolder is a published folder that is open for reading. Its files are read by [publishedFolder.read] alone.
type publishedFolder struct {
	place    string // as it was named
	dir      string // links resolved
	manifest manifest
	text     []byte // of the manifest
	lines    map[string]manifestLine
}

// hashedWhole is the size, in bytes, up to which every file of a folder is hashed when it is opened. Of a larger folder each file
// is hashed when it is read.
const hashedWhole = 64 << 20

// openPublished opens a published folder.
//
// Contract: after a nil error the manifest is in the form in which it is written, it fits the signature beside it where there is
// one, and the folder holds what the manifest lists and nothing else: no other file, link or folder. What is read from it later
// has the hash that the manifest lists.
//
// Errors: *[verdict.Unusable] for what is not a published folder; *[Altered] for one that was changed.
func openPublished(place string) (*publishedFolder, error) {
	none := func(err error) error {
		return &verdict.Unusable{File: place, Err: fmt.Errorf("this is not the folder of a published release: %w", err)}
	}
	dir, err := resolved(place)
	if err != nil {
		return nil, none(err)
	}
	d := &publishedFolder{place: place, dir: dir}
	if d.text, err = readRegular(d.path(manifestFile)); err != nil {
		return nil, none(fmt.Errorf("%s: %w", manifestFile, err))
	}
	if d.manifest, err = parseManifest(d.text); err != nil {
		if other := new(otherFormat); errors.As(err, &other) {
			return nil, none(fmt.Errorf("%s %w", manifestFile, other))
		}
		return nil, d.altered(err)
	}
	d.lines = d.manifest.lines()
	signature, err := readRegular(d.path(signatureFile))
	switch {
	case errors.Is(err, errNoFile):
		return nil, d.altered(wrongf(signatureFile, "is not a file"))
	case err != nil && !errors.Is(err, errMissing):
		return nil, err
	case err == nil:
		if _, err := parseSignature(signature, d.text); err != nil {
			return nil, d.altered(err)
		}
	}
	return d, d.holds()
}

// holds compares the names and sizes in the folder with the manifest, and in a small folder the hashes.
func (d *publishedFolder) holds() error {
	var total int64
	for _, line := range d.manifest.Files {
		total += line.Bytes
	}
	err := d.manifest.strangers(d.dir, func(name, says string) error { return d.altered(&wrong{name, says}) })
	if err != nil {
		return err
	}
	if total > hashedWhole {
		return d.each(func(line manifestLine) error { return sized(d.path(line.Path), line) })
	}
	return d.whole()
}

// whole hashes every file of the folder.
func (d *publishedFolder) whole() error {
	return d.each(func(line manifestLine) error { return hashed(d.path(line.Path), line) })
}

// each checks every file that the manifest lists.
func (d *publishedFolder) each(check func(manifestLine) error) error {
	for _, line := range d.manifest.Files {
		if err := check(line); err != nil {
			return d.altered(err)
		}
	}
	return nil
}

// read reads a file, which must have the hash that the manifest lists. Errors: *[Altered].
func (d *publishedFolder) read(name string) ([]byte, error) {
	line, ok := d.lines[name]
	if !ok {
		return nil, d.altered(wrongf(name, "is not listed in %s", manifestFile))
	}
	b, err := readRegular(d.path(name))
	switch {
	case errors.Is(err, errMissing):
		return nil, d.altered(wrongf(name, "is missing"))
	case errors.Is(err, errNoFile):
		return nil, d.altered(wrongf(name, "is not a file"))
	case err != nil:
		return nil, err
	}
	if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != line.SHA256 {
		return nil, d.altered(&wrong{name, notListed})
	}
	return b, nil
}

// path is where a file of the folder lies.
func (d *publishedFolder) path(name string) string {
	return filepath.Join(d.dir, filepath.FromSlash(name))
}

// altered says that a file of the folder is wrong. Another error is returned as it is.
func (d *publishedFolder) altered(err error) error {
	if bad := new(wrong); errors.As(err, &bad) {
		return &Altered{Place: d.place, File: bad.file, Says: bad.says}
	}
	return err
}

// intact opens a published folder, checks every file of it, and that the manifest lists every table, measurement and file of
// microdata of the plan.
func intact(place string, p *plan.Plan) error {
	d, err := openPublished(place)
	if err == nil {
		err = d.lists(p)
	}
	if err == nil {
		err = d.whole()
	}
	return err
}

// lists checks that the manifest lists what the plan names.
func (d *publishedFolder) lists(p *plan.Plan) error {
	for _, name := range planned(p) {
		if _, ok := d.lines[name]; !ok {
			return d.altered(wrongf(name, "is not listed in %s", manifestFile))
		}
	}
	return nil
}

// lines are the files of a manifest by their paths.
func (m manifest) lines() map[string]manifestLine {
	lines := make(map[string]manifestLine, len(m.Files))
	for _, line := range m.Files {
		lines[line.Path] = line
	}
	return lines
}

// strangers calls fault for everything below a folder that the manifest does not list, its signature excepted: a file, a link, or
// a folder that holds no listed file, with whatever is in it.
func (m manifest) strangers(dir string, fault func(name, says string) error) error {
	files, folders := map[string]bool{manifestFile: true, signatureFile: true}, map[string]bool{".": true}
	for _, line := range m.Files {
		files[line.Path] = true
		for parent := pathAbove(line.Path); parent != ""; parent = pathAbove(parent) {
			folders[parent] = true
		}
	}
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		switch {
		case files[name] || entry.IsDir() && folders[name]: // a folder in the place of a file is found with that file
			return nil
		case entry.IsDir():
			if err := fault(name, "is a folder of no file that manifest.json lists: it was added"); err != nil {
				return err
			}
			return fs.SkipDir
		}
		return fault(name, "is not listed in manifest.json: it was added")
	})
}

// pathAbove is the folder that a slash-separated path lies in, "" for one in the release's own.
func pathAbove(path string) string { return path[:max(strings.LastIndexByte(path, '/'), 0)] }
