package files

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// This file holds the public files on the disk: which of them may be opened.

// onDisk opens files of the spec's folder, and of others that were named as public.
type onDisk struct {
	ctx     context.Context
	folder  string   // of the spec
	public  []string // further folders
	data    string   // the folder that relative paths of sources start from
	unpack  Unpack
	secret  []sourceFile
	noted   map[string][]Digest
	without error // why no file is opened: the files of the sources are not all known
}

// OnDisk opens the public files of the spec's folder and of further ones that are named as public. data is the folder
// that relative paths of confidential sources start from; without unpack, tables that are no plain CSV files are
// refused.
func OnDisk(ctx context.Context, folder string, public []string, data string, unpack Unpack) Opener {
	return &onDisk{ctx: ctx, folder: folder, public: public, data: data, unpack: unpack, noted: map[string][]Digest{}}
}

// sourceFile is a file that a confidential table is read from.
type sourceFile struct {
	table string
	info  os.FileInfo
}

// KeepFrom looks up the files of the sources. None is opened, and one that is not there yet is nothing to be kept from.
func (d *onDisk) KeepFrom(sources []Confidential, all bool) {
	if !all {
		d.without = errNotOpened
	}
	for _, s := range sources {
		for _, glob := range s.Paths {
			paths, err := Glob(d.data, glob)
			if err != nil {
				d.without = &unfit{"is not opened: a path of a source is no pattern, so that nothing says which files are confidential", "patterns in which every [ is closed"}
			}
			for _, path := range paths {
				if info, err := os.Stat(path); err == nil {
					d.secret = append(d.secret, sourceFile{s.Table, info})
				}
			}
		}
	}
}

// Glob returns the paths that a pattern reaches, starting from the folder dir, whatever characters the name of that
// holds. Errors: filepath.ErrBadPattern.
func Glob(dir, pattern string) ([]string, error) {
	if !filepath.IsAbs(pattern) {
		pattern = filepath.Join(literal(dir), pattern)
	}
	return filepath.Glob(pattern)
}

// literal is the glob that matches the folder dir alone.
func literal(dir string) string {
	special := []string{"*", "[*]", "?", "[?]", "[", "[[]"}
	if filepath.Separator != '\\' { // which parts folders there
		special = append(special, `\`, `[\]`)
	}
	return strings.NewReplacer(special...).Replace(dir)
}

func (d *onDisk) Digests(name string) []Digest { return d.noted[name] }

func (d *onDisk) Text(name string, most int64) (string, error) {
	o, err := d.open(name)
	if err != nil {
		return "", err
	}
	defer o.Close()
	text, err := readAtMost(d.ctx, o.File, most)
	if err != nil {
		return "", err
	}
	if err := checkKeys(text); err != nil {
		return "", err
	}
	d.noted[name] = []Digest{DigestText(text)}
	return text, nil
}

func (d *onDisk) Table(name string, format Format) (*Unpacked, error) {
	if format == CSV && !isCompressed(name) {
		text, err := d.Text(name, mostTable)
		return &Unpacked{Text: text}, err
	}
	if d.unpack == nil {
		return nil, errors.New("it is no plain CSV file")
	}
	o, err := d.open(name)
	if err != nil {
		return nil, err
	}
	defer o.Close()
	raw, err := DigestOf(d.ctx, o.File)
	if err != nil {
		return nil, err
	}
	u, err := d.unpack(d.ctx, o.path, o.info, format, mostTable)
	if err != nil {
		return nil, err
	}
	if err := u.checkKeys(); err != nil {
		return nil, err
	}
	d.noted[name] = []Digest{raw}
	if format == CSV {
		d.noted[name] = append(d.noted[name], DigestText(u.Text))
	}
	return u, nil
}

// openFile is a public file that may be read.
type openFile struct {
	*os.File
	path string // without links
	info os.FileInfo
}

// open opens a public file. It refuses what lies elsewhere, links resolved, and what is not for everybody.
func (d *onDisk) open(name string) (*openFile, error) {
	path := filepath.FromSlash(name)
	if !filepath.IsAbs(path) {
		path = filepath.Join(d.folder, path)
	}
	if d.without != nil {
		return nil, d.without
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &unfit{"is not a regular file", "a file; folders, devices and pipes are not read"}
	}
	if table := d.sourceOf(info); table != "" {
		return nil, &unfit{
			"is a confidential source: table " + table + " is read from it",
			"a public file: all that it holds is published with the plan",
		}
	}
	resolved, err := resolve(path)
	if err != nil {
		return nil, err
	}
	if state, err := inState(resolved); err != nil {
		return nil, err
	} else if state {
		return nil, &unfit{"lies in a state directory, in which releases keep what is confidential",
			"a public file elsewhere: all that it holds is published with the plan"}
	}
	o, own, err := d.openWithin(resolved)
	if err != nil {
		return nil, err
	}
	if o == nil {
		says := "lies outside the folder of the spec"
		if filepath.IsLocal(filepath.FromSlash(name)) {
			says = "is a link that leads out of the folder of the spec"
		}
		return nil, &unfit{says,
			"a file in the folder of the spec or below it, or in a folder that is named by --public: all that it holds is published with the plan"}
	}
	if err := d.checkOpened(o, info, own); err != nil {
		o.Close()
		return nil, err
	}
	return o, nil
}

// checkOpened refuses a file that was exchanged since it was looked at, and outside the folder of the spec one that its
// owner keeps from others. (Windows shows no such permissions.)
func (d *onDisk) checkOpened(o *openFile, seen os.FileInfo, own bool) (err error) {
	if o.info, err = o.Stat(); err != nil {
		return err
	}
	switch {
	case !os.SameFile(seen, o.info):
		return errors.New("it was exchanged while it was being opened")
	case !own && o.info.Mode().Perm()&0o077 == 0:
		return &unfit{"may be read by its owner alone, and lies outside the folder of the spec",
			"a public file: all that it holds is published with the plan"}
	}
	return nil
}

// sourceOf is the confidential table that is read from a file, whatever paths lead to it, "" for none.
func (d *onDisk) sourceOf(info os.FileInfo) string {
	for _, s := range d.secret {
		if os.SameFile(s.info, info) {
			return s.table
		}
	}
	return ""
}

// openWithin opens a path of [resolve] where it lies in one of the folders for public files, and says whether that is
// the spec's own. It is nil where it lies in none.
func (d *onDisk) openWithin(path string) (o *openFile, own bool, err error) {
	for i, folder := range append([]string{d.folder}, d.public...) {
		if folder, err = resolve(folder); err != nil {
			return nil, false, err
		}
		within, err := filepath.Rel(folder, path)
		if err != nil || !filepath.IsLocal(within) {
			continue
		}
		if isHidden(within) {
			return nil, false, &unfit{"is hidden, as confidential state and keys are",
				"a file whose path has no name that begins with a dot: all that it holds is published with the plan"}
		}
		root, err := os.OpenRoot(folder) // no link that is put there meanwhile leads out of it
		if err != nil {
			return nil, false, err
		}
		defer root.Close()
		f, err := root.Open(within)
		if err != nil {
			return nil, false, err
		}
		return &openFile{File: f, path: path}, i == 0, nil
	}
	return nil, false, nil
}

// isHidden reports whether a name of a path begins with a dot: so do the folders in which releases keep their
// confidential state, and those of keys (.ssh, .aws, .gnupg).
func isHidden(path string) bool {
	return slices.ContainsFunc(strings.Split(filepath.ToSlash(path), "/"),
		func(name string) bool { return strings.HasPrefix(name, ".") })
}

// resolve is the absolute path of a file without any link, the current folder's included.
func resolve(path string) (string, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil || filepath.IsAbs(path) {
		return path, err
	}
	here, err := os.Getwd()
	if err == nil {
		here, err = filepath.EvalSymlinks(here)
	}
	return filepath.Join(here, path), err
}
