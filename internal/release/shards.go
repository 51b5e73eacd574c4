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

// CountShard counts a shard of a plan's tables, and writes what it has counted, sealed for whoever prepared the plan, to
// a file in the output folder, whose path it returns. It spends nothing, and asks no ledger.
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
	if err != nil {
		return "", err
	}
	if err := durable.MakeFolder(o.Out, 0o755); err != nil {
		return "", fmt.Errorf("output folder: %w", err)
	}
	name := shardName(p, c.Number, c.Of)
	head := shardHead{Format: shardFormat, Release: p.Name, PlanHash: p.Hash(), Shard: c.Number, Of: c.Of}
	err = durable.WritePrivate(o.Out, name+".making-", name, func(w io.Writer) error {
		return writeShard(w, head, key.Answers, rows.Parts(), read, part)
	})
	return filepath.Join(o.Out, name), err
}

// keepDetails writes the details of an error of counting to the state directory.
func (o Options) keepDetails(err error) error {
	if made := durable.MakeFolder(o.StateDir(), 0o700); made != nil {
		return errors.Join(err, made)
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
func writeShard(w io.Writer, head shardHead, to seal.PublicKey, parts [32]byte, read []readInput, part scan.Part) error {
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
	return sealed.Close()
}

// openedShards are the shards in a folder.
type openedShards struct {
	parts  []scan.Part
	inputs []readInput // of all machines, each once
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

// removeShards removes a plan's shards from a folder, and the row key from the output folder: they are of no more use.
func removeShards(dir, out string, p *compiled.Compiled) error {
	all, err := shardFiles(dir, p)
	for _, path := range append(all, RowKeyFile(out, p)) {
		if gone := os.Remove(path); gone != nil && !errors.Is(gone, os.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}

// openShards opens the shards of a plan in a folder: each once, all of them, of the same plan and the same files.
//
// Errors are *[source.Error], and those of the system.
func openShards(dir string, p *compiled.Compiled, streams *noise.Streams) (*openedShards, error) {
	paths, err := shardFiles(dir, p)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, &source.Error{Kind: source.Missing, File: dir,
			Message: "there is no shard of " + p.Name + " in this folder; have each machine count one (dprelease count --shard)"}
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
	err = checkShards(dir, heads)
	if err == nil {
		err = s.checkInputs(dir, inputs)
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
	refuse := func(why string) error { return &source.Error{Kind: source.Malformed, File: path, Message: why} }
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
		return head, nil, refuse("was counted for another plan; take it out of the folder, and have the shard counted by this plan")
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
	if err != nil {
		return head, nil, refuse("cannot be opened: it was counted by another row key, or was changed since; have the shard counted again by the row key of this preparation")
	}
	if part.Shard().Number != head.Shard || part.Shard().Of != head.Of {
		return head, nil, refuse("is not the shard that its first line names")
	}
	s.parts = append(s.parts, part)
	return head, read, nil
}

// checkShards returns an error unless there is each shard once.
func checkShards(dir string, heads []shardHead) error {
	refuse := func(kind source.ErrorKind, format string, args ...any) error {
		return &source.Error{Kind: kind, File: dir, Message: fmt.Sprintf(format, args...)}
	}
	of, there := heads[0].Of, map[int]bool{}
	for _, h := range heads {
		switch {
		case h.Of != of:
			return refuse(source.Malformed, "has shards of two divisions, into %d and %d; keep those of the preparation", of, h.Of)
		case there[h.Shard]:
			return refuse(source.Duplicate, "has the shard %d/%d twice; keep one file of it", h.Shard, of)
		}
		there[h.Shard] = true
	}
	for i := range of {
		if !there[i+1] {
			return refuse(source.Missing, "the shard %d/%d is missing; have it counted, and measure again", i+1, of)
		}
	}
	return nil
}

// checkInputs returns an error unless all machines have read the same files or, where each has files of its own, no file
// was read by two. It keeps the inputs, each once.
func (s *openedShards) checkInputs(dir string, inputs [][]readInput) error {
	own := s.parts[0].Shard().OwnFiles
	seen := map[string]int{} // by table and content, the last machine that has read it
	var first []string
	for i, of := range inputs {
		var contents []string
		for _, in := range of {
			if !in.Required || len(in.Digests) == 0 {
				continue
			}
			content := in.Table + " " + in.Digests[0].SHA256
			if at, again := seen[content]; again && own && at != i && in.Digests[0].Size > 0 {
				return &source.Error{Kind: source.Duplicate, File: dir,
					Message: "two machines have counted the same file of the table " + in.Table +
						"; give each file to one machine, or prepare without --own-files"}
			}
			seen[content] = i
			contents = append(contents, content)
		}
		if slices.Sort(contents); i == 0 {
			first = contents
		} else if !own && !slices.Equal(contents, first) {
			return &source.Error{Kind: source.Malformed, File: dir,
				Message: "the machines have not counted the same files; give all of them the same files and count again, or prepare with --own-files if each has its own"}
		}
		if i == 0 || own {
			s.inputs = append(s.inputs, of...)
		}
	}
	return nil
}
