package files

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// This file decides which files on disk may be opened as public.

// onDisk opens files of the spec's folder, and of other folders named as public.
type onDisk struct {
	ctx         context.Context
	folder      string   // of the spec
	public      []string // further public folders
	data        string   // the folder that relative paths of sources start from
	unpack      Unpack
	sourceFiles []sourceFile
	digests     map[string][]Digest
	blocked     error // why no file is opened: the files of the sources are not all known
}

// OnDisk returns an opener of the public files in the spec's folder and in further folders that are named as public.
// data is the folder that relative paths of confidential sources start from. Without unpack, tables other than plain
// CSV files are refused.
func OnDisk(ctx context.Context, folder string, public []string, data string, unpack Unpack) Opener {
	return &onDisk{ctx: ctx, folder: folder, public: public, data: data, unpack: unpack, digests: map[string][]Digest{}}
}

// sourceFile is a file that a confidential table is read from.
type sourceFile struct {
	table string
	info  os.FileInfo
}

// RefuseConfidential looks up the files of the sources without opening them. A file that does not exist yet needs no
// protection.
func (d *onDisk) RefuseConfidential(sources []Confidential, all bool) {
	if !all {
		d.blocked = errNotOpened
	}
	for _, s := range sources {
		for _, glob := range s.Paths {
			paths, err := Glob(d.data, glob)
			if err != nil {
				d.blocked = &unfitError{
					"is not opened: a path of a source is no pattern, so that nothing says which files are confidential",
					"patterns in which every [ is closed",
				}
			}
			for _, path := range paths {
				if info, err := os.Stat(path); err == nil {
					d.sourceFiles = append(d.sourceFiles, sourceFile{s.Table, info})
				}
			}
		}
	}
}

// Glob returns the paths that match a pattern, starting from the folder dir, whatever characters dir's name contains.
// It returns filepath.ErrBadPattern for an invalid pattern.
func Glob(dir, pattern string) ([]string, error) {
	if !filepath.IsAbs(pattern) {
		pattern = filepath.Join(Literal(dir), pattern)
	}
	return filepath.Glob(pattern)
}

// Literal returns the glob that matches only a path.
func Literal(path string) string {
	special := []string{"*", "[*]", "?", "[?]", "[", "[[]"}
	if filepath.Separator != '\\' { // where it separates folders
		special = append(special, `\`, `[\]`)
	}
	return strings.NewReplacer(special...).Replace(path)
}

func (d *onDisk) Digests(name string) []Digest { return d.digests[name] }

func (d *onDisk) Text(name string, most int64) (string, error) {
	o, err := d.openPublic(name)
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
	d.digests[name] = []Digest{DigestText(text)}
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
	o, err := d.openPublic(name)
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
	d.digests[name] = []Digest{raw}
	if format == CSV {
		d.digests[name] = append(d.digests[name], DigestText(u.Text))
	}
	return u, nil
}

// openFile is a public file that may be read.
type openFile struct {
	*os.File
	path string // without links
	info os.FileInfo
}

// openPublic opens a public file. It refuses files outside the public folders, after resolving links, and files that
// are confidential.
func (d *onDisk) openPublic(name string) (*openFile, error) {
	path := filepath.FromSlash(name)
	if !filepath.IsAbs(path) {
		path = filepath.Join(d.folder, path)
	}
	if d.blocked != nil {
		return nil, d.blocked
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &unfitError{"is not a regular file", "a file; folders, devices and pipes are not read"}
	}
	if table := d.sourceOf(info); table != "" {
		return nil, &unfitError{
			"is a confidential source: table " + table + " is read from it",
			"a public file: all that it holds is published with the plan",
		}
	}
	resolved, err := resolvePath(path)
	if err != nil {
		return nil, err
	}
	if state, err := isInState(resolved); err != nil {
		return nil, err
	} else if state {
		return nil, &unfitError{"lies in a state directory, in which releases keep what is confidential",
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
		return nil, &unfitError{says,
			"a file in the folder of the spec or below it, or in a folder that is named by --public: all that it " +
				"holds is published with the plan"}
	}
	if err := d.checkOpened(o, info, own); err != nil {
		o.Close()
		return nil, err
	}
	return o, nil
}

// checkOpened refuses a file that was replaced after it was examined, and a file outside the folder of the spec that
// only its owner may read. (Windows shows no such permissions.)
func (d *onDisk) checkOpened(o *openFile, examined os.FileInfo, inSpecFolder bool) (err error) {
	if o.info, err = o.Stat(); err != nil {
		return err
	}
	switch {
	case !os.SameFile(examined, o.info):
		return errors.New("it was exchanged while it was being opened")
	case !inSpecFolder && o.info.Mode().Perm()&0o077 == 0:
		return &unfitError{"may be read by its owner alone, and lies outside the folder of the spec",
			"a public file: all that it holds is published with the plan"}
	}
	return nil
}

// sourceOf returns the confidential table that is read from a file, whatever paths lead to it, or "".
func (d *onDisk) sourceOf(info os.FileInfo) string {
	for _, s := range d.sourceFiles {
		if os.SameFile(s.info, info) {
			return s.table
		}
	}
	return ""
}

// openWithin opens a path, as returned by [resolve], if it lies in one of the public folders, and reports whether that
// is the spec's own folder. It returns nil if the path lies in none.
func (d *onDisk) openWithin(path string) (o *openFile, inSpecFolder bool, err error) {
	for i, folder := range append([]string{d.folder}, d.public...) {
		if folder, err = resolvePath(folder); err != nil {
			return nil, false, err
		}
		within, err := filepath.Rel(folder, path)
		if err != nil || !filepath.IsLocal(within) {
			continue
		}
		if isHidden(within) {
			return nil, false, &unfitError{"is hidden, as confidential state and keys are",
				"a file whose path has no name that begins with a dot: all that it holds is published with the plan"}
		}
		root, err := os.OpenRoot(folder) // no link created in the meantime leads out of it
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

// isHidden reports whether a name in a path begins with a dot. Folders with the confidential state of releases have
// such names, and so do folders of keys (.ssh, .aws, .gnupg).
func isHidden(path string) bool {
	return slices.ContainsFunc(strings.Split(filepath.ToSlash(path), "/"),
		func(name string) bool { return strings.HasPrefix(name, ".") })
}

// resolve returns the absolute path of a file with all links resolved, including links in the current folder's path.
func resolvePath(path string) (string, error) {
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
