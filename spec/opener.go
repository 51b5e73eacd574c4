package spec

// This file holds the way to the public files that a spec names: which of them may be opened, and what is read of them. What they
// hold is published with the plan, so that a file that is not meant for everybody is refused before a byte of it is used.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/internal/regular"
	"github.com/dprelease/dprelease/spec/document"
)

// The most bytes that are read of a file, by what it is.
const (
	mostSpec       = 8 << 20
	mostCodebook   = 64 << 20
	mostBoundaries = 4 << 20 // they are embedded in the plan
	mostLine       = 1 << 20 // of a line of a code book or a public table
)

// opener opens the public files that a spec names.
type opener interface {
	// keepFrom makes the opener refuse the files of confidential sources. Where not all of them are known, because the spec has
	// mistakes in what says them, it opens no file.
	keepFrom(sources []namedSource, all bool)
	// text reads a text of at most `most` bytes.
	text(name string, most int64) (string, error)
	// table reads a public table.
	table(name string, format Format) (*Unpacked, error)
	// digests are those of a file that was opened.
	digests(name string) []Digest
}

// namedSource is where a confidential table is read from.
type namedSource struct {
	table string
	paths []string
}

// Digest is the length in bytes and the SHA-256 in hexadecimal of what a public file holds.
type Digest struct {
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// DigestText is the digest of a text.
func DigestText(text string) Digest {
	sum := sha256.Sum256([]byte(text))
	return Digest{Size: int64(len(text)), SHA256: hex.EncodeToString(sum[:])}
}

// unfit says why a public file is not read although it is there.
type unfit struct{ says, expected string }

func (u *unfit) Error() string { return "it " + u.says }

// errNotOpened is a public file that is not opened because of mistakes that are reported where they are.
var errNotOpened = errors.New("it is not opened before the sources of all tables can be read")

// unopened reports a public file that was not read. what names its kind, as "code book", and expected says what it should be.
func (r *reader) unopened(at document.Node, what, path, expected string, err error) {
	if errors.Is(err, errNotOpened) {
		return
	}
	p := document.Problem{
		Message:  fmt.Sprintf("%s %q cannot be read: %s", what, document.Clip(path), explain(err)),
		Expected: expected + ", relative to the folder of the spec",
	}
	var u *unfit
	if errors.As(err, &u) {
		p.Message, p.Expected = fmt.Sprintf("%s %q %s", what, document.Clip(path), u.says), u.expected
	}
	r.problem(at, p)
}

// embed makes the text of a public file part of the release's source. whole says that it is all of the file.
func (r *reader) embed(path, text string, whole bool) {
	if r.source.Files == nil {
		r.source.Files, r.source.Digests = map[string]string{}, map[string][]Digest{}
	}
	r.source.Files[path], r.source.Digests[path] = text, []Digest{DigestText(text)}
	if !whole {
		r.source.Digests[path] = r.open.digests(path)
	}
}

// inMemory opens the files that a source holds.
type inMemory struct{ source Source }

func (m inMemory) keepFrom([]namedSource, bool) {}

func (m inMemory) text(name string, most int64) (string, error) {
	text, found := m.source.Files[name]
	switch {
	case !found:
		return "", fs.ErrNotExist
	case int64(len(text)) > most:
		return "", tooLarge(most)
	}
	return text, checkKeys(text)
}

// table reads the extract of a public table, which is a text whatever it was taken from.
func (m inMemory) table(name string, _ Format) (*Unpacked, error) {
	text, err := m.text(name, maxJoinedText)
	return &Unpacked{Text: text}, err
}

// digests are those that the source notes, where they can be those of a file, so that what was edited is not what its plan leads to.
func (m inMemory) digests(name string) []Digest {
	noted := m.source.Digests[name]
	sound := len(noted) > 0 && len(noted) <= 2
	for _, d := range noted {
		raw, err := hex.DecodeString(d.SHA256)
		sound = sound && err == nil && len(raw) == sha256.Size && d.Size >= 0
	}
	if !sound {
		return []Digest{DigestText(m.source.Files[name])}
	}
	return noted
}

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

// sourceFile is a file that a confidential table is read from.
type sourceFile struct {
	table string
	info  os.FileInfo
}

// keepFrom looks up the files of the sources. None is opened, and one that is not there yet is nothing to be kept from.
func (d *onDisk) keepFrom(sources []namedSource, all bool) {
	if !all {
		d.without = errNotOpened
	}
	for _, s := range sources {
		for _, glob := range s.paths {
			paths, err := Glob(d.data, glob)
			if err != nil {
				d.without = &unfit{"is not opened: a path of a source is no pattern, so that nothing says which files are confidential", "patterns in which every [ is closed"}
			}
			for _, path := range paths {
				if info, err := os.Stat(path); err == nil {
					d.secret = append(d.secret, sourceFile{s.table, info})
				}
			}
		}
	}
}

// Glob returns the paths that a pattern reaches, starting from the folder dir, whatever characters the name of that holds.
// Errors: filepath.ErrBadPattern.
func Glob(dir, pattern string) ([]string, error) {
	if !filepath.IsAbs(pattern) {
		pattern = filepath.Join(literal(dir), pattern)
	}
	return filepath.Glob(pattern)
}

// literal is the glob that matches the folder dir alone.
func literal(dir string) string {
	special := `*?[\`
	if filepath.Separator == '\\' {
		special = "*?[" // there a backslash parts folders
	}
	var b strings.Builder
	for _, c := range dir {
		if strings.ContainsRune(special, c) {
			b.WriteString("[" + string(c) + "]")
		} else {
			b.WriteRune(c)
		}
	}
	return b.String()
}

func (d *onDisk) digests(name string) []Digest { return d.noted[name] }

func (d *onDisk) text(name string, most int64) (string, error) {
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

func (d *onDisk) table(name string, format Format) (*Unpacked, error) {
	if format == CSV && !isCompressed(name) {
		text, err := d.text(name, maxJoinedText)
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
	u, err := d.unpack(d.ctx, o.path, o.info, format, maxJoinedText)
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
		return nil, &unfit{"lies in a state directory, in which releases keep what is confidential", "a public file elsewhere: all that it holds is published with the plan"}
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
		return nil, &unfit{says, "a file in the folder of the spec or below it, or in a folder that is named by --public: all that it holds is published with the plan"}
	}
	if err := d.checkOpened(o, info, own); err != nil {
		o.Close()
		return nil, err
	}
	return o, nil
}

// checkOpened refuses a file that was exchanged since it was looked at, and outside the folder of the spec one that its owner keeps from
// others. (Windows shows no such permissions.)
func (d *onDisk) checkOpened(o *openFile, seen os.FileInfo, own bool) (err error) {
	if o.info, err = o.Stat(); err != nil {
		return err
	}
	switch {
	case !os.SameFile(seen, o.info):
		return errors.New("it was exchanged while it was being opened")
	case !own && o.info.Mode().Perm()&0o077 == 0:
		return &unfit{"may be read by its owner alone, and lies outside the folder of the spec", "a public file: all that it holds is published with the plan"}
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

// openWithin opens a path of [resolve] where it lies in one of the folders for public files, and says whether that is the spec's own.
// It is nil where it lies in none.
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
			return nil, false, &unfit{"is hidden, as confidential state and keys are", "a file whose path has no name that begins with a dot: all that it holds is published with the plan"}
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

// isHidden reports whether a name of a path begins with a dot: so do the folders in which releases keep their confidential state, and
// those of keys (.ssh, .aws, .gnupg).
func isHidden(path string) bool {
	return slices.ContainsFunc(strings.Split(filepath.ToSlash(path), "/"), func(name string) bool { return strings.HasPrefix(name, ".") })
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

// ReadFile reads a regular file of at most `most` bytes. A context that ends, ends it.
func ReadFile(ctx context.Context, path string, most int64) ([]byte, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := readAtMost(ctx, f, most)
	return []byte(text), err
}

// readAtMost reads a file of at most `most` bytes.
func readAtMost(ctx context.Context, f *os.File, most int64) (string, error) {
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if info.Size() > most {
		return "", tooLarge(most)
	}
	var read strings.Builder // so that the text is held once
	read.Grow(int(info.Size()))
	n, err := io.Copy(&read, io.LimitReader(interruptible{ctx, f}, most+1))
	if err == nil && n > most { // it has grown
		err = tooLarge(most)
	}
	return read.String(), err
}

// tooLarge says that a file has more bytes than are read of its kind.
func tooLarge(most int64) error {
	return &unfit{"holds more than " + regular.Size(most), "a smaller file: what is used of it is part of the plan"}
}

// Interruptible is a reader that ends with a context.
func Interruptible(ctx context.Context, r io.Reader) io.Reader { return interruptible{ctx, r} }

type interruptible struct {
	ctx context.Context
	io.Reader
}

func (r interruptible) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// DigestOf is the digest of what a reader gives. A context that ends, ends it.
func DigestOf(ctx context.Context, r io.Reader) (Digest, error) {
	h := sha256.New()
	n, err := io.Copy(h, interruptible{ctx, r})
	return Digest{Size: n, SHA256: hex.EncodeToString(h.Sum(nil))}, err
}

// privateKey is what the text of a private key begins with: in PEM of all kinds (PKCS #1, PKCS #8, SEC 1, OpenSSH, OpenPGP, SSH2), without
// its frame as PKCS #8 of Ed25519 or of OpenSSH, and of age, PuTTY and minisign. Each holds one of privateKeyMarks.
var (
	privateKey = regexp.MustCompile(`-----? ?BEGIN [A-Z0-9 ]*PRIVATE KEY|MC4CAQAwBQYDK2VwBCIE|b3BlbnNzaC1rZXktdjE|AGE-SECRET-KEY-1|` +
		`PuTTY-User-Key-File-[0-9]|untrusted comment: [^\n]{0,200}secret key`)
	privateKeyMarks = []string{"PRIVATE KEY", "MC4CAQAwBQYDK2VwBCIE", "b3BlbnNzaC1rZXktdjE", "AGE-SECRET-KEY-1", "PuTTY-User-Key-File-", "secret key"}
)

// checkKeys refuses a text that holds a private key.
func checkKeys(text string) error {
	for _, mark := range privateKeyMarks { // a search for fixed texts is fast in large files
		if strings.Contains(text, mark) && privateKey.MatchString(text) {
			return &unfit{"holds a private key", "a public file: all that it holds is published with the plan; keep keys out of the folders of specs"}
		}
	}
	return nil
}

// checkKeys refuses a table that holds a private key.
func (u *Unpacked) checkKeys() error {
	if err := checkKeys(u.Text); err != nil {
		return err
	}
	for _, f := range u.Fields {
		if err := checkKeys(f.Name); err != nil {
			return err
		}
	}
	for _, row := range u.Rows {
		for _, cell := range row {
			if err := checkKeys(cell); err != nil {
				return err
			}
		}
	}
	return nil
}

// longLine is the number of the first line with more than mostLine bytes, 0 where there is none.
func longLine(text string) int {
	for line := 1; len(text) > 0; line++ {
		end := strings.IndexByte(text, '\n')
		if end < 0 {
			end = len(text)
		}
		if end > mostLine {
			return line
		}
		text = text[min(end+1, len(text)):]
	}
	return 0
}
