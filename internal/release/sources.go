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

// This file keeps confidential sources from being published as public files. A plan carries the content of its public
// files. None of them may be a file of a confidential table, which is checked before anything is reserved. None may
// have the content of such a file, or of any file ever counted for the account, which is checked before anything is
// paid.

// PublicIsConfidential reports a plan with a public file that is a confidential source.
type PublicIsConfidential struct {
	File  string // as the spec names it
	Table string // the confidential table that is read from the file
	// Release is the earlier release that counted the file, "" for this one.
	Release string
}

func (e *PublicIsConfidential) Error() string {
	if e.Release != "" {
		return fmt.Sprintf("the plan publishes what it uses of the public file %s, and the release %s counted it as "+
			"the confidential table %s: nothing was spent; take it out of the spec, and keep the plan file, which "+
			"holds its content, confidential",
			screen.Quoted(e.File),
			e.Release, e.Table)
	}
	return fmt.Sprintf("the plan publishes what it uses of the public file %s, and the confidential table %s is read "+
		"from it: nothing was spent; take it out of the spec, and keep the plan file, which holds its content, "+
		"confidential", screen.Quoted(e.File),
		e.Table)
}

// Verdict returns that the file cannot be public.
func (*PublicIsConfidential) Verdict() verdict.Verdict {
	return verdict.Verdict{Exit: verdict.ExitSpec, Reason: verdict.PublicIsInput, Retry: verdict.Never}
}

// input is a file of a confidential table.
type input struct {
	table, path string
	format      files.Format
	info        os.FileInfo
	required    bool // the plan counts the table
}

// inputsOf returns the existing files of all tables of a plan, each once. It returns an error if a file of a counted
// table is missing.
func inputsOf(p *compiled.Compiled, data string) ([]input, error) {
	counted := countedTables(p)
	var all []input
	for _, t := range p.Release().Tables {
		var paths []string
		if slices.Contains(counted, t.Name) { // a table on a server has no paths
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

// refusePublicInputs returns an error if a public file of the plan is an input, under whatever path. It opens no file.
func refusePublicInputs(p *compiled.Compiled, data string, inputs []input) error {
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

// publicDigests returns the digests of a plan's public files: of their contents when the plan was made, and of what
// the plan holds of them.
func publicDigests(p *compiled.Compiled) map[string][]files.Digest {
	all := map[string][]files.Digest{}
	for name, text := range p.Source.Files {
		all[name] = slices.Concat(p.Source.Digests[name], p.Release().Words.FileDigests(name),
			[]files.Digest{files.DigestText(text)})
	}
	return all
}

// readInput is an input as it was when it was counted. It is confidential.
type readInput struct {
	Table, Path string
	Name        string // path from the folder of sources, which does not depend on where that is
	Size        int64
	Modified    time.Time
	Digests     []files.Digest // of the bytes and, for a compressed file, of the text
	Required    bool           // the plan counts the table
}

// refusePublicContents returns an error if a public file of the plan has the content of an input.
func refusePublicContents(p *compiled.Compiled, inputs []readInput) error {
	public := publicDigests(p)
	for _, name := range slices.Sorted(maps.Keys(public)) {
		for _, in := range inputs {
			if slices.ContainsFunc(in.Digests, func(d files.Digest) bool { return slices.Contains(public[name], d) }) {
				return &PublicIsConfidential{File: name, Table: in.Table}
			}
		}
	}
	return nil
}

// digests returns the digest of an input's bytes and, for a compressed CSV file, that of its text if that has at most
// mostPrintedText bytes. The file must not have changed since it was found.
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

// sourcesFile records, in the state directory, all files that were ever counted.
const sourcesFile = files.StateSources

// mostPrintedText is the greatest size, in bytes, of a compressed file's text that gets a digest of its own.
const mostPrintedText = 1 << 30

// countedSources records which files were counted, by keyed fingerprints: without the key, which never leaves the
// confidential state, nobody can find out from the record whether a file was counted.
type countedSources struct {
	Key      []byte         `json:"key"`
	Releases []countedFiles `json:"releases"`
}

// countedFiles are the files counted for one release on one account.
type countedFiles struct {
	Account string        `json:"account"` // prefixed with the identity of its ledger
	Release string        `json:"release"`
	Plan    string        `json:"plan"` // hash
	Date    time.Time     `json:"date"`
	Files   []countedFile `json:"files"`
}

// countedFile describes a file as it was when it was counted.
type countedFile struct {
	Table        string    `json:"table"`
	Path         string    `json:"path"`
	Size         int64     `json:"size"`
	Modified     time.Time `json:"modified"`
	Fingerprints []string  `json:"fingerprints"` // of the bytes and, for a compressed file, of the text
}

// fingerprint returns the keyed fingerprint of a content: HMAC-SHA-256 (RFC 2104).
func (c *countedSources) fingerprint(d files.Digest) string {
	h := hmac.New(sha256.New, c.Key)
	fmt.Fprintf(h, "%d %s", d.Size, d.SHA256)
	return hex.EncodeToString(h.Sum(nil))
}

// payingAccounts returns the accounts that a charge is paid from, each prefixed with the identity of its ledger.
func payingAccounts(identity string, c ledger.Charge) []string {
	var all []string
	for _, account := range append([]string{c.Account}, c.FurtherAccounts...) {
		all = append(all, identity+" "+account)
	}
	return all
}

// refuseCounted returns an error if a public file of the plan was counted for one of the accounts.
func (c *countedSources) refuseCounted(p *compiled.Compiled, accounts []string) error {
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

// fingerprintAll returns the records of inputs.
func (c *countedSources) fingerprintAll(inputs []readInput) []countedFile {
	var files []countedFile
	for _, in := range inputs {
		f := countedFile{Table: in.Table, Path: in.Path, Size: in.Size, Modified: in.Modified}
		for _, d := range in.Digests {
			f.Fingerprints = append(f.Fingerprints, c.fingerprint(d))
		}
		files = append(files, f)
	}
	return files
}

// lastCounted returns the files that were last counted for a plan, and whether there is a record of it.
func (c *countedSources) lastCounted(planHash string) (last countedFiles, found bool) {
	for _, r := range c.Releases {
		if r.Plan == planHash {
			last, found = r, true
		}
	}
	return last, found
}

// isUnchanged reports whether the inputs are the files that were counted. It reads only files whose path, size or time
// has changed.
func (c *countedSources) isUnchanged(ctx context.Context, was countedFiles, inputs []input) (bool, error) {
	left := slices.Clone(was.Files)
	for _, in := range inputs {
		var print string
		i := slices.IndexFunc(left, func(f countedFile) bool {
			return f.Table == in.table && f.Path == in.path && f.Size == in.info.Size() &&
				f.Modified.Equal(in.info.ModTime())
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

// inputsChanged returns the day on which an existing release was counted if its files have changed since, and "" if
// they have not, are missing, or nothing is known about them.
func (o Options) inputsChanged(ctx context.Context, p *compiled.Compiled) (string, error) {
	c, err := readSources(o.StateDir())
	if err != nil {
		return "", nil //nolint:nilerr // a release that is done needs no record
	}
	was, found := c.lastCounted(p.Hash())
	if !found {
		return "", nil
	}
	inputs, err := inputsOf(p, o.Data)
	if err != nil {
		return "", nil //nolint:nilerr // a release that is done needs its files no longer
	}
	same, err := c.isUnchanged(ctx, was, inputs)
	if err != nil || same {
		return "", ctx.Err()
	}
	return was.Date.Format(time.DateOnly), nil
}

// readSources reads the record in a state directory. A missing record is empty and has a new key.
func readSources(root string) (*countedSources, error) {
	c := &countedSources{}
	b, err := regular.Read(filepath.Join(root, sourcesFile), planfile.MaxBytes)
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
		return nil, fmt.Errorf("state directory: %s, by which confidential files are known again, cannot be read "+
			"(%w): put back a copy, or move it away to begin anew", sourcesFile, err)
	}
	return c, nil
}

// noteSources adds the files of a plan to the record, durably, before they are paid for.
func noteSources(ctx context.Context, root string, accounts []string, p *compiled.Compiled, inputs []readInput) error {
	held, err := durable.LockWaiting(ctx, root)
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
	files := c.fingerprintAll(inputs)
	for _, account := range accounts {
		one := countedFiles{Account: account, Release: p.Name, Plan: p.Hash(),
			Date:  time.Now().UTC().Truncate(time.Second),
			Files: files}
		c.Releases = append(c.Releases, one) // earlier records stay: what was counted once stays confidential
	}
	if err := removeUnfinished(root); err != nil {
		return err
	}
	err = durable.WritePrivate(root, sourcesFile+".making-", sourcesFile,
		func(w io.Writer) error { return json.NewEncoder(w).Encode(c) })
	if err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	return nil
}

// removeUnfinished removes the unfinished records of runs that were killed.
func removeUnfinished(root string) error {
	left, err := files.Glob(root, sourcesFile+".making-*")
	for _, path := range left {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// reading is the computation of the inputs' digests in the background, while the inputs are counted.
type reading struct {
	read []readInput
	err  error
	done chan struct{}
}

// startReading begins to compute the digests of inputs.
func startReading(ctx context.Context, inputs []input) *reading {
	r := &reading{done: make(chan struct{})}
	go func() {
		defer close(r.done)
		for _, in := range inputs {
			digests, err := in.digests(ctx)
			if err != nil && (in.required || ctx.Err() != nil) {
				r.err = err
				return
			}
			// An input that is not counted need not be readable.
			r.read = append(r.read, readInput{Table: in.table, Path: in.path, Size: in.info.Size(),
				Modified: in.info.ModTime(), Digests: digests, Required: in.required})
		}
	}()
	return r
}

// wait returns the inputs with their digests once all are read.
func (r *reading) wait() ([]readInput, error) {
	<-r.done
	return r.read, r.err
}
