package release

// This file holds the shards: what each of several machines has counted, sealed for whoever prepared the plan.

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/diagnostics"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/internal/regular"
	"github.com/dprelease/dprelease/internal/seal"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/spec/files"
)

// shardFormat is the format of a shard's file.
const shardFormat = "dprelease.shard/1"

// shardHead is the first line of a shard's file. What follows is sealed.
type shardHead struct {
	Format   string `json:"format"`
	Release  string `json:"release"`
	PlanHash string `json:"plan_hash"`
	Shard    int    `json:"shard"`
	Of       int    `json:"of"`
}

// ShardCount says which shard a machine counts, and by which key.
type ShardCount struct {
	Number      int      // of the shard, from 1
	Of          int      // how many shards there are
	RowKey      string   // file that [Prepare] wrote
	Fingerprint string   // of that file
	Machine     seal.Key // the machine's own
}

// shardName returns the name of the file of a shard.
func shardName(p *compiled.Compiled, number, of int) string {
	return fmt.Sprintf("%s.shard-%04d-of-%04d", p.Name, number, of)
}

// CountShard counts a shard of a plan's tables, and writes what it has counted, sealed for whoever prepared the plan,
// to a file in the output folder, whose path it returns. It spends nothing, and asks no ledger.
//
// Errors: those of counting files. Their details are written to a confidential file in the state directory.
func CountShard(ctx context.Context, p *compiled.Compiled, o Options, c ShardCount) (string, error) {
	key, rows, err := takeRowKey(c.RowKey, c.Fingerprint, p, c.Machine)
	if err != nil {
		return "", err
	}
	defer rows.Erase()
	if c.Of != key.Shards || c.Number < 1 || c.Number > c.Of {
		return "", refusePreparing(p, fmt.Sprintf("was prepared for %d shards: expected --shard 1/%[1]d to %[1]d/%[1]d",
			key.Shards))
	}
	if err := o.checkMemory(p); err != nil {
		return "", err
	}
	inputs, err := inputsOf(p, o.Data)
	if err != nil {
		return "", err
	}
	if err := refusePublicInputs(p, o.Data, inputs); err != nil {
		return "", err
	}
	q, err := histogram.QuestionsOf(p.Plan())
	if err != nil {
		return "", err
	}
	ctx = progress.BeginConfidential(ctx, 0, "counting %s", strings.Join(countedTables(p), ", "))
	reader, stop := context.WithCancel(ctx)
	defer stop()
	reading := startReading(reader, inputs)
	part, err := scan.Files{Dir: o.Data, Options: o.scanOptions(),
		Shard: scan.Shard{Number: c.Number, Of: c.Of, OwnFiles: key.OwnFiles}}.CountPart(ctx, q, rows)
	if err != nil {
		return "", o.keepDetails(err)
	}
	defer part.Close()
	read, err := reading.wait()
	if err == nil {
		err = o.sameInputs(p, inputs)
	}
	if err == nil {
		err = refusePublicContents(p, read)
	}
	if err != nil {
		return "", err
	}
	for i := range read {
		read[i].Name = nameBelow(o.Data, read[i].Path)
	}
	if err := durable.MakeFolder(o.Out, 0o755); err != nil {
		return "", fmt.Errorf("output folder: %w", err)
	}
	name := shardName(p, c.Number, c.Of)
	head := shardHead{Format: shardFormat, Release: p.Name, PlanHash: p.Hash(), Shard: c.Number, Of: c.Of}
	err = durable.WritePrivate(o.Out, name+".making-", name, func(w io.Writer) error {
		return writeShard(w, head, key.Answers, rows.Parts(), read, part)
	})
	if there, _ := durable.Exists(o.StateDir()); err == nil && there {
		err = diagnostics.Remove(o.StateDir())
	}
	return filepath.Join(o.Out, name), err
}

// nameBelow returns a path from a folder, as every machine writes it, or the path itself if it is not below the folder.
func nameBelow(dir, path string) string {
	name, err := filepath.Rel(dir, path)
	if err != nil || !filepath.IsLocal(name) {
		return filepath.ToSlash(path)
	}
	return filepath.ToSlash(name)
}

// sameInputs returns an error unless the inputs of a plan are still those that were found before they were counted.
func (o Options) sameInputs(p *compiled.Compiled, before []input) error {
	after, err := inputsOf(p, o.Data)
	if err != nil {
		return err
	}
	for i := range max(len(before), len(after)) {
		if i >= len(after) || i >= len(before) || before[i].path != after[i].path {
			return source.Changed(o.Data)
		}
		if !source.Unchanged(before[i].info, after[i].info) {
			return source.Changed(after[i].path)
		}
	}
	return nil
}

// keepDetails writes the details of an error of counting to the state directory, which must be private.
func (o Options) keepDetails(err error) error {
	made := durable.MakeFolder(o.StateDir(), 0o700)
	if made == nil {
		made = durable.Private(o.StateDir())
	}
	if made != nil {
		return errors.Join(err, fmt.Errorf("state directory: %w", made))
	}
	return diagnostics.Write(o.StateDir(), err)
}

// boundTo is what a shard's sealed bytes are bound to: its first line, and a key that only machines with the row key
// know.
func boundTo(head []byte, parts [32]byte) []byte {
	h := sha256.New()
	h.Write(parts[:])
	h.Write(head)
	return h.Sum(nil)
}

// writeShard writes a shard's file.
func writeShard(w io.Writer, head shardHead, to seal.PublicKey, parts [32]byte, read []readInput,
	part scan.Part) error {
	line, err := json.Marshal(head)
	if err != nil {
		return err
	}
	if _, err := w.Write(append(line, '\n')); err != nil {
		return err
	}
	sealed, err := seal.NewWriter(w, to, boundTo(line, parts))
	if err != nil {
		return err
	}
	if err := gob.NewEncoder(sealed).Encode(read); err != nil {
		return err
	}
	if err := scan.WritePart(sealed, part); err != nil {
		return err
	}
	if err := pad(sealed); err != nil {
		return err
	}
	return sealed.Close()
}

// Sealed bytes are padded, as their number follows from the counts: to a power of two, or to a multiple of padStep.
const (
	padLeast = 1 << 16
	padStep  = 1 << 26
)

// pad adds zeros, so that the length of a shard's file says hardly anything about its counts.
func pad(w *seal.Writer) error {
	_, err := io.CopyN(w, zeros{}, padded(w.Written())-w.Written())
	return err
}

// padded returns how many bytes there are once n bytes are padded.
func padded(n int64) int64 {
	size := int64(padLeast)
	for size < n && size < padStep {
		size *= 2
	}
	if n > size {
		size = (n + padStep - 1) / padStep * padStep
	}
	return size
}

// zeros is a reader of zeros.
type zeros struct{}

// Read implements io.Reader.
func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// openedShards are the shards in a folder.
type openedShards struct {
	parts  []scan.Part
	inputs []readInput // of all machines, each content once
	files  []*os.File
}

// close closes the files.
func (s *openedShards) close() {
	for _, f := range s.files {
		f.Close()
	}
}

// shardFiles returns the paths of a plan's shards in a folder.
func shardFiles(dir string, p *compiled.Compiled) ([]string, error) {
	all, err := files.Glob(dir, p.Name+".shard-*-of-*")
	return slices.DeleteFunc(all, func(path string) bool { return strings.Contains(path, ".making-") }), err
}

// removeShards removes a plan's shards from the folder that they were measured from, and the row key from the output
// folder: they are of no more use.
func (o Options) removeShards(p *compiled.Compiled) error {
	paths := []string{RowKeyFile(o.Out, p)}
	if o.FromShards != "" {
		all, err := files.Glob(o.FromShards, p.Name+".shard-*-of-*")
		if err != nil {
			return err
		}
		paths = append(paths, all...)
	}
	var err error
	for _, path := range paths {
		if gone := os.Remove(path); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}

// refuseShard returns an error about a shard, or about a folder of shards.
func refuseShard(path, why string) error {
	return &source.Error{Kind: source.Malformed, File: path, Message: why}
}

// openShards opens the shards of a plan in a folder: each once, all of them, of the same plan and the same files.
//
// Errors are *[source.Error], and those of the system.
func openShards(dir string, p *compiled.Compiled, d Division, streams *noise.Streams) (*openedShards, error) {
	paths, err := shardFiles(dir, p)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, &source.Error{Kind: source.Missing, File: dir,
			Message: "there is no shard of " + p.Name + " in this folder; have each machine count one (dprelease " +
				"count --shard)"}
	}
	key, err := seal.KeyOf(streams.Collecting())
	if err != nil {
		return nil, err
	}
	s := &openedShards{}
	var heads []shardHead
	var inputs [][]readInput
	for _, path := range paths {
		head, read, err := s.openShard(path, p, key, streams.Rows().Parts())
		if err != nil {
			s.close()
			return nil, err
		}
		heads, inputs = append(heads, head), append(inputs, read)
	}
	err = checkShards(dir, d, heads)
	if err == nil {
		err = s.checkInputs(dir, d, p, inputs)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// openShard opens one shard's file.
func (s *openedShards) openShard(path string, p *compiled.Compiled, key seal.Key, parts [32]byte) (head shardHead,
	read []readInput, err error) {
	refuse := func(why string) error { return refuseShard(path, why) }
	f, err := regular.Open(path)
	if err != nil {
		return head, nil, &source.Error{Kind: source.Unreadable, File: path, Message: "cannot be opened", Err: err}
	}
	s.files = append(s.files, f)
	in := bufio.NewReader(f)
	line, err := in.ReadSlice('\n')
	if err != nil {
		return head, nil, refuse("is no shard")
	}
	line = bytes.Clone(line[:len(line)-1])
	if err := json.Unmarshal(line, &head); err != nil || head.Format != shardFormat {
		return head, nil, refuse("is no shard that this version reads; expected " + shardFormat)
	}
	if head.PlanHash != p.Hash() {
		return head, nil, refuse("was counted for another plan; take it out of the folder, and have the shard " +
			"counted by this plan")
	}
	opened, err := seal.NewReader(in, key, boundTo(line, parts))
	if err == nil {
		in = bufio.NewReader(opened)
		err = gob.NewDecoder(in).Decode(&read)
	}
	var part scan.Part
	if err == nil {
		part, err = scan.ReadPart(in)
	}
	var system *fs.PathError
	if errors.As(err, &system) {
		return head, nil, &source.Error{Kind: source.Unreadable, File: path, Message: "cannot be read", Err: err}
	}
	if err != nil {
		return head, nil, refuse("cannot be opened: it was counted by another row key, or was changed since; have " +
			"the shard counted again by the row key of this preparation")
	}
	if part.Shard().Number != head.Shard || part.Shard().Of != head.Of {
		return head, nil, refuse("is not the shard that its first line names")
	}
	s.parts = append(s.parts, part)
	return head, read, nil
}

// checkShards returns an error unless there is each shard of the preparation once.
func checkShards(dir string, d Division, heads []shardHead) error {
	refuse := func(kind source.ErrorKind, format string, args ...any) error {
		return &source.Error{Kind: kind, File: dir, Message: fmt.Sprintf(format, args...)}
	}
	there := map[int]bool{}
	for _, h := range heads {
		switch {
		case h.Of != d.Shards:
			return refuse(source.Malformed, "has a shard of a division into %d, and the plan was prepared for %d; "+
				"take it out", h.Of,
				d.Shards)
		case there[h.Shard]:
			return refuse(source.Duplicate, "has the shard %d/%d twice; keep one file of it", h.Shard, d.Shards)
		}
		there[h.Shard] = true
	}
	for i := range d.Shards {
		if !there[i+1] {
			return refuse(source.Missing, "the shard %d/%d is missing; have it counted, and measure again", i+1,
				d.Shards)
		}
	}
	return nil
}

// checkInputs returns an error unless all machines have read the same files in the same order or, where each has files
// of its own, no file whose rows are units was read by two: units with ids are compared by these. It keeps the inputs
// of all machines.
func (s *openedShards) checkInputs(dir string, d Division, p *compiled.Compiled, inputs [][]readInput) error {
	seen := map[files.Digest]int{} // by content, the machine that has read it
	noted := map[string]bool{}
	var first []string
	for i, of := range inputs {
		if s.parts[i].Shard().OwnFiles != d.OwnFiles {
			return refuseShard(dir, "has a shard that was counted by another preparation; have it counted again")
		}
		var order []string // rows are divided by their places
		for _, in := range of {
			if what := fmt.Sprint(in.Table, in.Path, in.Digests); !noted[what] {
				noted[what] = true
				s.inputs = append(s.inputs, in)
			}
			if !in.Required || len(in.Digests) == 0 {
				continue
			}
			order = append(order, in.Table+" "+in.Name+" "+in.Digests[0].SHA256)
			for _, content := range in.Digests {
				if at, again := seen[content]; again && at != i && d.OwnFiles && p.Release().Table(in.Table).Unit.Row {
					return &source.Error{Kind: source.Duplicate, File: dir,
						Message: "two machines have counted the same file of the table " + in.Table +
							"; give each file to one machine, or prepare without --own-files"}
				}
				seen[content] = i
			}
		}
		if i == 0 {
			first = order
		} else if !d.OwnFiles && !slices.Equal(order, first) {
			return refuseShard(dir, "the machines have not counted the same files; give all of them the same files "+
				"under the same names and count again, or prepare with --own-files if each has its own")
		}
	}
	return nil
}
