package main

// This file counts a table in shards, one after the other, each in a process of its own with little memory. Each has a
// file of its own, as machines do that share nothing.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
)

const (
	shardCase   = "bounded"      // the case that is counted in shards
	shardMemory = 40 * megabyte  // that a process may use for counting
	shardPeak   = 128 * megabyte // that it may take altogether
	mostWhole   = 100_000_000    // rows up to which one process counts all of them too
	shardFiles  = "*.parquet"    // of a shard, as the spec has them
)

// shardKey is the key by which all processes count. The table is made up.
var shardKey = noise.Key{1}

// shardJob is the part of a [job] that counts a shard.
type shardJob struct {
	Number int    `json:"number,omitempty"`
	Of     int    `json:"of,omitempty"`
	Part   string `json:"part,omitempty"` // file to write
}

// planOf plans a case for files.
func (c benchCase) planOf(files string) (*compiled.Compiled, error) {
	r, err := spec.Parse(spec.Source{Name: "bench.yaml", Text: c.specText(filepath.Base(files))})
	if err != nil {
		return nil, err
	}
	return planner.New(r)
}

// countShard counts a shard and writes its part.
func (c benchCase) countShard(ctx context.Context, j job) (*outcome, error) {
	p, err := c.planOf(j.File)
	if err != nil {
		return nil, err
	}
	q, err := histogram.QuestionsOf(p.Plan())
	if err != nil {
		return nil, err
	}
	before := usageNow()
	part, err := scan.Files{Dir: filepath.Dir(j.File), Options: scan.Options{MemoryLimit: j.Memory},
		Shard: scan.Shard{Number: j.Number, Of: j.Of, OwnFiles: true}}.CountPart(ctx, q,
		noise.NewStreams(shardKey, p.Hash()).Rows())
	if err != nil {
		return nil, err
	}
	defer part.Close()
	f, err := os.Create(j.Part)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(scan.WritePart(f, part), f.Close()); err != nil {
		return nil, err
	}
	after := usageNow()
	return &outcome{Wall: after.wall.Sub(before.wall).Seconds(), CPU: after.cpu - before.cpu, Peak: after.peak,
		Done: len(p.Measurements)}, nil
}

// runShards counts a table in shards, puts them together, and prints what that took.
func (b *bench) runShards(ctx context.Context, to io.Writer) error {
	c, err := caseOf(shardCase)
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(filepath.Join(b.dir, fmt.Sprintf("shards-%d-%d", b.rows, b.shards)))
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program, err := os.Executable()
	if err != nil {
		return err
	}
	const line = "%5v  %8.1f  %11.1f  %10.0f\n" // each as soon as it is known: all take long
	fmt.Fprintf(to, "%d rows, %s, in %d shards\n\n%5s  %8s  %11s  %10s\n", b.rows, c.title, b.shards,
		"shard", "seconds", "CPU seconds", "MB at most")
	var parts []string
	wall, cpu, peak := 0.0, 0.0, int64(0)
	for i := range b.shards {
		t := table{rows: b.rows / b.shards}
		t.first = uint32(i * t.allPersons())
		own := filepath.Join(dir, fmt.Sprint(i+1))
		b.logf("shard %d of %d: a table of %d rows", i+1, b.shards, t.rows)
		file, err := t.pathOf(own, c.format)
		if err != nil {
			return err
		}
		one := shardJob{Number: i + 1, Of: b.shards, Part: filepath.Join(own, "part")}
		text, err := json.Marshal(job{Case: c.name, File: filepath.Join(own, shardFiles), Memory: shardMemory,
			shardJob: one})
		if err != nil {
			return err
		}
		command := exec.CommandContext(ctx, program, "-child", string(text))
		command.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", b.threads), "GOGC=50") // as the command has it
		out, err := outputOf[outcome](command, ownName)
		if err != nil {
			return err
		}
		if b.rows > mostWhole { // nobody counts all of them, and there would be many
			if err := os.Remove(file); err != nil {
				return err
			}
		}
		parts = append(parts, one.Part)
		wall, cpu, peak = wall+out.Wall, cpu+out.CPU, max(peak, out.Peak)
		fmt.Fprintf(to, line, one.Number, out.Wall, out.CPU, float64(out.Peak)/megabyte)
		b.logf("shard %d of %d: counted in %.1f s", one.Number, b.shards, out.Wall)
	}
	fmt.Fprintf(to, line+"\n", "all", wall, cpu, float64(peak)/megabyte)
	fmt.Fprintf(to, "%.2f seconds for every million rows; at most %d MB: %s\n", wall/float64(b.rows)*1e6,
		shardPeak/megabyte,
		map[bool]string{true: "met", false: "missed"}[peak <= shardPeak])
	return b.compareShards(ctx, c, dir, parts, to)
}

// compareShards puts parts together, and compares them with what one process counts unless there are too many rows.
func (b *bench) compareShards(ctx context.Context, c benchCase, dir string, paths []string, to io.Writer) error {
	p, err := c.planOf(shardFiles)
	if err != nil {
		return err
	}
	var parts []scan.Part
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		part, err := scan.ReadPart(f)
		if err != nil {
			return err
		}
		parts = append(parts, part)
	}
	streams := noise.NewStreams(shardKey, p.Hash())
	before := usageNow()
	together, err := histogram.Count(ctx, p, scan.Parts{All: parts}, streams)
	if err != nil {
		return err
	}
	fmt.Fprintf(to, "put together, and all units compared, in %.1f seconds\n",
		usageNow().wall.Sub(before.wall).Seconds())
	if b.rows > mostWhole {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", shardFiles))
	if err != nil {
		return err
	}
	for i, file := range files {
		if err := os.Rename(file, filepath.Join(dir, fmt.Sprint(i, ".parquet"))); err != nil {
			return err
		}
	}
	whole, err := histogram.Count(ctx, p, scan.Files{Dir: dir}, streams)
	if err != nil {
		return err
	}
	if whole.Commitment(streams) != together.Commitment(streams) {
		return errDisagree
	}
	fmt.Fprintln(to, "the same counts as by one process that counts all rows")
	return nil
}
