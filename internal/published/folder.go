package published

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan/compiled"
)

// Folder is a published folder that is open for reading. Its files are read by [Folder.Read] only.
type Folder struct {
	NamedPath    string // as it was named
	dir          string // links resolved
	Manifest     Manifest
	ManifestText []byte // text of the manifest
	lines        map[string]Line
}

// hashedWhole is the size, in bytes, up to which every file of a folder is hashed when it is opened. In a larger
// folder each file is hashed when it is read.
const hashedWhole = 64 << 20

// OpenFolder opens a published folder.
//
// Contract: after a nil error the manifest is in the form in which it is written, it fits its signature if there is
// one, and the folder holds what the manifest lists and nothing else: no other file, link or folder. What is read from
// it later has the hash that the manifest lists.
//
// Errors: *[verdict.Unusable] for what is not a published folder; *[Altered] for one that was changed.
func OpenFolder(place string) (*Folder, error) {
	none := func(err error) error {
		return &verdict.Unusable{File: place, Err: fmt.Errorf("this is not the folder of a published release: %w", err)}
	}
	dir, err := Resolve(place)
	if err != nil {
		return nil, none(err)
	}
	d := &Folder{NamedPath: place, dir: dir}
	if d.ManifestText, err = ReadFile(d.Path(ManifestFile)); err != nil {
		return nil, none(fmt.Errorf("%s: %w", ManifestFile, err))
	}
	if d.Manifest, err = ParseManifest(d.ManifestText); err != nil {
		if other := new(OtherFormat); errors.As(err, &other) {
			return nil, none(fmt.Errorf("%s %w", ManifestFile, other))
		}
		return nil, d.Altered(err)
	}
	d.lines = d.Manifest.linesByPath()
	signature, err := ReadFile(d.Path(SignatureFile))
	switch {
	case errors.Is(err, ErrNotFile):
		return nil, d.Altered(Faultf(SignatureFile, "is not a file"))
	case err != nil && !errors.Is(err, ErrMissing):
		return nil, err
	case err == nil:
		if _, err := ParseSignature(signature, d.ManifestText); err != nil {
			return nil, d.Altered(err)
		}
	}
	return d, d.check()
}

// check compares the names and sizes in the folder with the manifest, and in a small folder the hashes.
func (d *Folder) check() error {
	var total int64
	for _, line := range d.Manifest.Files {
		total += line.Bytes
	}
	err := d.Manifest.CheckUnlisted(d.dir, func(name, says string) error { return d.Altered(&Fault{name, says}) })
	if err != nil {
		return err
	}
	if total > hashedWhole {
		return d.eachLine(func(line Line) error { return checkSize(d.Path(line.Path), line) })
	}
	return d.checkHashes()
}

// checkHashes hashes every file of the folder and compares.
func (d *Folder) checkHashes() error {
	return d.eachLine(func(line Line) error { return CheckFile(d.Path(line.Path), line) })
}

// eachLine calls check with every line of the manifest, until it returns an error.
func (d *Folder) eachLine(check func(Line) error) error {
	for _, line := range d.Manifest.Files {
		if err := check(line); err != nil {
			return d.Altered(err)
		}
	}
	return nil
}

// Read reads a file, which must have the hash that the manifest lists. Errors: *[Altered].
func (d *Folder) Read(name string) ([]byte, error) {
	line, ok := d.lines[name]
	if !ok {
		return nil, d.Altered(Faultf(name, "is not listed in %s", ManifestFile))
	}
	b, err := ReadFile(d.Path(name))
	if err != nil {
		return nil, d.Altered(readFault(line, err))
	}
	if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != line.SHA256 {
		return nil, d.Altered(&Fault{name, notListed})
	}
	return b, nil
}

// Path returns where a file of the folder is.
func (d *Folder) Path(name string) string {
	return filepath.Join(d.dir, filepath.FromSlash(name))
}

// Altered converts a *[Fault] to an *[Altered] of this folder. It returns any other error as it is.
func (d *Folder) Altered(err error) error {
	if bad := new(Fault); errors.As(err, &bad) {
		return &Altered{Folder: d.NamedPath, File: bad.File, Says: bad.Says}
	}
	return err
}

// OpenIntact opens a published folder, checks every file of it, and that the manifest lists every table, measurement
// and file of microdata of the plan.
func OpenIntact(place string, p *compiled.Compiled) error {
	d, err := OpenFolder(place)
	if err == nil {
		err = d.checkListed(p)
	}
	if err == nil {
		err = d.checkHashes()
	}
	return err
}

// checkListed checks that the manifest lists the files that the plan names.
func (d *Folder) checkListed(p *compiled.Compiled) error {
	for _, name := range plannedFiles(p) {
		if _, ok := d.lines[name]; !ok {
			return d.Altered(Faultf(name, "is not listed in %s", ManifestFile))
		}
	}
	return nil
}
