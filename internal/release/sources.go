package release

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/regular"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/spec/files"
)

// This file holds what keeps confidential sources from being published as public files. A plan carries the content of
// its public files. Before anything is reserved it is known that none is a file that the confidential tables are read
// from; before anything is paid, that none has the content of such a file, or of one that was ever counted for the
// account.

// PublicIsConfidential is a plan one of whose public files is a confidential source.
type PublicIsConfidential struct {
	File  string // as the spec names it
	Table string // that is read from it
	// Release is the earlier release that counted it, "" for the one at hand.
	Release string
}

func (e *PublicIsConfidential) Error() string {
	if e.Release != "" {
		return fmt.Sprintf("the plan publishes what it uses of the public file %s, and the release %s counted it as the confidential table %s: nothing was spent; "+
			"take it out of the spec, and keep the plan file, which holds its content, confidential", screen.Quoted(e.File),
			e.Release, e.Table)
	}
	return fmt.Sprintf("the plan publishes what it uses of the public file %s, and the confidential table %s is read from it: nothing was spent; "+
		"take it out of the spec, and keep the plan file, which holds its content, confidential", screen.Quoted(e.File),
		e.Table)
}

// Verdict says that the file cannot be public.
func (*PublicIsConfidential) Verdict() verdict.Verdict {
	return verdict.Verdict{Exit: verdict.ExitSpec, Reason: verdict.PublicIsInput, Retry: verdict.Never}
}

// input is a file of a confidential table.
type input struct {
	table, path string
	format      files.Format
	info        os.FileInfo
	required    bool // as the plan counts its table
}

// inputsOf are the files of all tables of a plan that are there. Those of counted tables must be, each once.
func inputsOf(p *compiled.Compiled, data string) ([]input, error) {
	counted := tablesOf(p)
	var all []input
	for _, t := range p.Release().Tables {
		var paths []string
		if slices.Contains(counted, t.Name) {
			var err error
			if paths, err = source.Files(data, t.Source); err != nil {
				return nil, err
			}
		} else {
			for _, glob := range t.Source.Paths {
				found, _ := files.Glob(data, glob) // a table that is not counted need not be there
				paths = append(paths, found...)
			}
		}
		for _, path := range paths {
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				all = append(all, input{t.Name, path, t.Source.Format, info, slices.Contains(counted, t.Name)})
			}
		}
	}
	return all, nil
}

// keepApart refuses a plan one of whose public files is an input, whatever paths lead to it. It opens none.
func keepApart(p *compiled.Compiled, data string, inputs []input) error {
	for name := range p.Source.Files {
		path := filepath.FromSlash(name)
		if !filepath.IsAbs(path) {
			path = filepath.Join(data, path)
		}
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		if i := slices.IndexFunc(inputs, func(in input) bool { return os.SameFile(in.info, info) }); i >= 0 {
			return &PublicIsConfidential{File: name, Table: inputs[i].table}
		}
	}
	return nil
}

// publicDigests are those of a plan's public files: of what they held when the plan was made, and of what the plan
// holds of them.
func publicDigests(p *compiled.Compiled) map[string][]files.Digest {
	all := map[string][]files.Digest{}
	for name, text := range p.Source.Files {
		all[name] = append(slices.Clone(p.Source.Digests[name]), files.DigestText(text))
	}
	return all
}

// keepContentsApart refuses a plan one of whose public files has the content of an input.
func keepContentsApart(p *compiled.Compiled, inputs []input, contents [][]files.Digest) error {
	public := publicDigests(p)
	for _, name := range slices.Sorted(maps.Keys(public)) {
		for i, in := range inputs {
			if slices.ContainsFunc(contents[i], func(d files.Digest) bool { return slices.Contains(public[name], d) }) {
				return &PublicIsConfidential{File: name, Table: in.table}
			}
		}
	}
	return nil
}

// digests are those of an input's bytes and, of a compressed CSV file, of its text if that has at most mostPrintedText
// bytes. The file must be the one that was found.
func (in input) digests(ctx context.Context) ([]files.Digest, error) {
	raw, err := source.Digest(ctx, in.path)
	if err != nil {
		return nil, err
	}
	all := []files.Digest{raw}
	if in.format == files.CSV {
		text, ok, err := source.TextDigest(ctx, in.path, mostPrintedText)
		if err != nil {
			return nil, err
		}
		if ok {
			all = append(all, text)
		}
	}
	if info, err := os.Stat(in.path); err != nil || !source.Unchanged(in.info, info) {
		return nil, source.Changed(in.path)
	}
	return all, nil
}

// sourcesFile is the record, in the state directory, of all files that were ever counted.
const sourcesFile = files.StateSources

// mostPrintedText is the most bytes of a compressed file's text that it is known by, in addition to its own bytes.
const mostPrintedText = 1 << 30

// countedSources records which files were counted, by keyed fingerprints: without the key, which never leaves the
// confidential state, nobody can ask it whether some file was counted.
type countedSources struct {
	Key      []byte         `json:"key"`
	Releases []countedFiles `json:"releases"`
}

// countedFiles are the files of one release on one account.
type countedFiles struct {
	Account string        `json:"account"` // with the identity of its ledger
	Release string        `json:"release"`
	Plan    string        `json:"plan"` // its hash
	Date    time.Time     `json:"date"`
	Files   []countedFile `json:"files"`
}

// countedFile is a file as it was when it was counted.
type countedFile struct {
	Table        string    `json:"table"`
	Path         string    `json:"path"`
	Size         int64     `json:"size"`
	Modified     time.Time `json:"modified"`
	Fingerprints []string  `json:"fingerprints"` // of its bytes and, where it is compressed, of its text
}

// fingerprint is the keyed fingerprint of a content: HMAC-SHA-256 (RFC 2104).
func (c *countedSources) fingerprint(d files.Digest) string {
	h := hmac.New(sha256.New, c.Key)
	fmt.Fprintf(h, "%d %s", d.Size, d.SHA256)
	return hex.EncodeToString(h.Sum(nil))
}

// payers are the accounts that a charge is paid from, each with its ledger's identity.
func payers(identity string, c ledger.Charge) []string {
	var all []string
	for _, account := range append([]string{c.Account}, c.Also...) {
		all = append(all, identity+" "+account)
	}
	return all
}

// keepFrom refuses a plan one of whose public files was counted for one of the accounts.
func (c *countedSources) keepFrom(p *compiled.Compiled, accounts []string) error {
	public := publicDigests(p)
	for _, name := range slices.Sorted(maps.Keys(public)) {
		for _, d := range public[name] {
			print := c.fingerprint(d)
			for _, r := range c.Releases {
				if !slices.Contains(accounts, r.Account) {
					continue
				}
				for _, f := range r.Files {
					if slices.Contains(f.Fingerprints, print) {
						return &PublicIsConfidential{File: name, Table: f.Table, Release: r.Release}
					}
				}
			}
		}
	}
	return nil
}

// fingerprinted are inputs whose contents are known.
func (c *countedSources) fingerprinted(inputs []input, contents [][]files.Digest) []countedFile {
	var files []countedFile
	for i, in := range inputs {
		f := countedFile{Table: in.table, Path: in.path, Size: in.info.Size(), Modified: in.info.ModTime()}
		for _, d := range contents[i] {
			f.Fingerprints = append(f.Fingerprints, c.fingerprint(d))
		}
		files = append(files, f)
	}
	return files
}

// of is what was last counted for a plan, and whether there is a record of it.
func (c *countedSources) of(planHash string) (last countedFiles, found bool) {
	for _, r := range c.Releases {
		if r.Plan == planHash {
			last, found = r, true
		}
	}
	return last, found
}

// same reports whether inputs are the files that were counted. Only one that looks otherwise than when it was counted
// is read.
func (c *countedSources) same(ctx context.Context, was countedFiles, inputs []input) (bool, error) {
	left := slices.Clone(was.Files)
	for _, in := range inputs {
		var print string
		i := slices.IndexFunc(left, func(f countedFile) bool {
			return f.Table == in.table && f.Path == in.path && f.Size == in.info.Size() && f.Modified.Equal(in.info.ModTime())
		})
		if i < 0 {
			d, err := source.Digest(ctx, in.path)
			if err != nil {
				return false, err
			}
			print = c.fingerprint(d)
			i = slices.IndexFunc(left, func(f countedFile) bool {
				return f.Table == in.table &&
					slices.Contains(f.Fingerprints, print)
			})
		}
		if i < 0 {
			return false, nil
		}
		left = slices.Delete(left, i, i+1)
	}
	return len(left) == 0, nil
}

// inputsChanged is the day on which a release that is there already was counted, where its files are others now; ""
// where they are the same, are not there, or nothing is known of them.
func (o Options) inputsChanged(ctx context.Context, p *compiled.Compiled) (string, error) {
	c, err := readSources(o.StateDir())
	if err != nil {
		return "", nil //nolint:nilerr // a release that is done needs no record
	}
	was, found := c.of(p.Hash())
	if !found {
		return "", nil
	}
	inputs, err := inputsOf(p, o.Data)
	if err != nil {
		return "", nil //nolint:nilerr // a release that is done needs its files no longer
	}
	same, err := c.same(ctx, was, inputs)
	if err != nil || same {
		return "", ctx.Err()
	}
	return was.Date.Format(time.DateOnly), nil
}

// readSources reads the record of a state directory. Where there is none it is empty, with a new key.
func readSources(root string) (*countedSources, error) {
	c := &countedSources{}
	b, err := regular.Read(filepath.Join(root, sourcesFile), planfile.Most)
	if errors.Is(err, fs.ErrNotExist) {
		c.Key = make([]byte, sha256.Size)
		_, err := rand.Read(c.Key)
		return c, err
	}
	if err == nil {
		err = json.Unmarshal(b, c)
	}
	if err == nil && len(c.Key) != sha256.Size {
		err = errors.New("its key is missing")
	}
	if err != nil {
		return nil, fmt.Errorf("state directory: %s, by which confidential files are known again, cannot be read (%w): put back a copy, or move it away to begin anew", sourcesFile, err)
	}
	return c, nil
}

// noteSources adds the files of a plan to the record, durably, before they are paid for.
func noteSources(ctx context.Context, root string, accounts []string, p *compiled.Compiled, inputs []input,
	contents [][]files.Digest) error {
	held, err := durable.HoldWaiting(ctx, root)
	if err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	if held != nil {
		defer held.Close()
	}
	c, err := readSources(root)
	if err != nil {
		return err
	}
	files := c.fingerprinted(inputs, contents)
	for _, account := range accounts {
		one := countedFiles{Account: account, Release: p.Name, Plan: p.Hash(), Date: time.Now().UTC().Truncate(time.Second),
			Files: files}
		c.Releases = append(c.Releases, one) // no earlier record goes: what was counted once stays confidential
	}
	if err := removeMaking(root); err != nil {
		return err
	}
	err = durable.WritePrivate(root, sourcesFile+".making-", sourcesFile,
		func(w io.Writer) error { return json.NewEncoder(w).Encode(c) })
	if err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	return nil
}

// removeMaking removes what runs that were killed have left of records that they were writing.
func removeMaking(root string) error {
	left, err := files.Glob(root, sourcesFile+".making-*")
	for _, path := range left {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// reading is the reading of inputs for their contents while they are counted.
type reading struct {
	contents [][]files.Digest
	err      error
	done     chan struct{}
}

// read begins to read inputs for their contents.
func read(ctx context.Context, inputs []input) *reading {
	r := &reading{done: make(chan struct{})}
	go func() {
		defer close(r.done)
		for _, in := range inputs {
			var digests []files.Digest
			if digests, r.err = in.digests(ctx); r.err != nil && (in.required || ctx.Err() != nil) {
				return
			}
			r.err = nil // one that is not counted need not be readable
			r.contents = append(r.contents, digests)
		}
	}()
	return r
}

// wait returns the contents once all inputs are read.
func (r *reading) wait() ([][]files.Digest, error) {
	<-r.done
	return r.contents, r.err
}
