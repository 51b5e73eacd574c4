package engine

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/parallel"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/files"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// This file holds what a Spark job has left in its folder: the values of the first round, and the counts of the second,
// which answer what is asked of a [scan.Remote].

// codesOf returns the codes of values.
type codesOf = func(values []arrow.Array) []uint32

// readSpark visits the rows of the Parquet files that a job wrote, in batches, in an order that the files alone decide.
// Arrays are valid until visit returns.
func readSpark(ctx context.Context, dir, path string, columns []source.Column, visit func(*source.Batch) error) error {
	t := &spec.Table{Name: path, Source: spec.TableSource{Format: files.Parquet, Paths: []string{path}}}
	r, err := source.Open(ctx, source.Data{Dir: dir}, t, columns)
	if err != nil {
		return err
	}
	defer r.Close()
	buffers := &source.Buffers{}
	for {
		piece, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = piece.Read(ctx, buffers, source.MaxRows, visit)
		}
		if err != nil {
			return err
		}
	}
}

// written matches the files of a result. Spark's own names begin so, whatever wrote them.
const written = "part-*.parquet"

// doneJob returns the job that a mark in the folder is about, and the number of its run. The error wraps
// [fs.ErrNotExist] if there is no mark.
func doneJob(ctx context.Context, dir, mark string) (job, run string, err error) {
	rows := 0
	err = readSpark(ctx, dir, filepath.Join(mark, written), []source.Column{{Name: "job"}, {Name: "run"}},
		func(b *source.Batch) error {
			job, run = textAt(b.Columns[0], 0), textAt(b.Columns[1], 0)
			rows += b.Rows
			return nil
		})
	if err == nil && (rows != 1 || job == "" || run == "") {
		err = brokenResult(dir, mark)
	}
	return job, run, err
}

// textAt returns a copy of a text, "" if there is none.
func textAt(a arrow.Array, row int) string {
	if texts, ok := a.(*array.String); ok && texts.IsValid(row) {
		return strings.Clone(texts.Value(row))
	}
	return ""
}

// brokenResult returns the error of files that are not those of one run of the job.
func brokenResult(dir, name string) error {
	return &source.Error{Kind: source.Malformed, File: filepath.Join(dir, name),
		Message: "is not whole, or mixes files of two runs; run the job again, and copy the whole folder back"}
}

// encode reads the values of a column with codes, and hands each with its code to a file, if there is one. It returns
// a hash of all of them.
func (t *sparkTable) encode(ctx context.Context, dir string, number int, codesOf codesOf, to *codeFile) (string,
	error) {
	inputs := t.made[number].Columns
	name := filepath.Join(t.Folder, "values", fmt.Sprint(number))
	columns := make([]source.Column, 0, 2*len(inputs)+1)
	for i, c := range inputs {
		columns = append(columns, source.Column{Name: fmt.Sprintf("v%d", i), Type: c.Type})
	}
	for i := range inputs {
		columns = append(columns, source.Column{Name: fmt.Sprintf("k%d", i)})
	}
	columns = append(columns, source.Column{Name: "run"})
	h := sha256.New()
	rows, bytes := 0, 0
	texts := make([][]byte, len(inputs))
	err := readSpark(ctx, dir, filepath.Join(name, written), columns,
		func(b *source.Batch) error {
			for row, code := range codesOf(b.Columns[:len(inputs)]) {
				if textAt(b.Columns[2*len(inputs)], row) != t.valuesRun {
					return brokenResult(dir, name)
				}
				for i, keys := range b.Columns[len(inputs) : 2*len(inputs)] {
					key, ok := keys.(*array.String)
					if !ok {
						return brokenResult(dir, name)
					}
					texts[i] = nil
					if key.IsValid(row) {
						texts[i] = []byte(key.Value(row))
					}
					bytes += len(texts[i])
				}
				hashRow(h, texts, code)
				if to != nil {
					if err := to.add(texts, code); err != nil {
						return err
					}
				}
			}
			if rows += b.Rows; rows > mostDistinct || bytes > mostDistinctBytes {
				return &source.Error{Kind: source.Malformed, File: t.name(),
					Column: strings.Join(t.Values[number], ", "),
					Message: fmt.Sprintf("has more than %d distinct values, or very long ones, the most that are "+
						"encoded for a table in Spark; round them in a query",
						mostDistinct)}
			}
			return nil
		})
	if errors.Is(err, fs.ErrNotExist) {
		err = brokenResult(dir, name)
	}
	return hex.EncodeToString(h.Sum(nil)), t.nameColumns(err, inputs)
}

// readKnown reads of which columns with codes the first round has found that they have integers of a range.
func (t *sparkTable) readKnown(ctx context.Context, dir string) error {
	t.known = nil
	of := sparkCounts{sparkTable: t, dir: dir, run: t.valuesRun}
	found := map[int64]bool{}
	err := of.result(ctx, []string{"number", "known"}, func(numbers []int64) error {
		found[numbers[0]] = numbers[1] == 1
		return nil
	}, "known")
	if err != nil {
		return err
	}
	for number, made := range t.made {
		known, ok := found[int64(number)]
		if !ok || known && made.Integers == nil {
			return brokenResult(dir, filepath.Join(t.Folder, "known"))
		}
		t.known = append(t.known, known)
	}
	return nil
}

// hashRow adds texts and a code to a hash, each text after its length and 1, or 0 if it is null.
func hashRow(h hash.Hash, texts [][]byte, code uint32) {
	var number [8]byte
	for _, text := range texts {
		length := uint64(0)
		if text != nil {
			length = uint64(len(text)) + 1
		}
		binary.LittleEndian.PutUint64(number[:], length)
		h.Write(number[:])
		h.Write(text)
	}
	binary.LittleEndian.PutUint64(number[:], uint64(code))
	h.Write(number[:])
}

// nameColumns makes an error about a column of the files of values one about the column of the table.
func (t *sparkTable) nameColumns(err error, inputs []source.Column) error {
	var fault *source.Error
	if !errors.As(err, &fault) || len(fault.Column) < 2 {
		return err
	}
	for i, c := range inputs {
		if of := fmt.Sprint(i); fault.Column == "v"+of || fault.Column == "k"+of {
			named := *fault
			named.File, named.Column = t.name(), c.Name
			return &named
		}
	}
	return err
}

// openSpark adds the tables that Spark has counted, by jobs whose folder has come back.
func (o *Opened) openSpark(ctx context.Context, q histogram.Questions, s *noise.RowStreams, dir string) error {
	j, err := firstRound(q)
	if j == nil || err != nil {
		return err
	}
	refuse := func(kind source.ErrorKind, message string, err error) error {
		return &source.Error{Kind: kind, File: dir, Message: message, Err: err}
	}
	done, run, err := doneJob(ctx, dir, sparkValuesDone)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return refuse(source.Missing, "Spark has not run the first round of the job to its end; run it, and copy the "+
			"whole folder back", err)
	case err != nil:
		return err
	case done != j.Job:
		return refuse(source.Malformed, "has the values of another plan; write the job of this plan into a folder of "+
			"its own, and run it", nil)
	}
	if err := j.secondRound(ctx, q, s, dir, run, nil); err != nil {
		return err
	}
	done, run, err = doneJob(ctx, dir, sparkCountsDone)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return refuse(source.Missing, "Spark has not run the second round of the job to its end; run it, and copy "+
			"the whole folder back", err)
	case err != nil:
		return err
	case done != j.Job:
		return refuse(source.Malformed, "has the counts of another job: the plan, the key or the values are not "+
			"those that it was written for; write the job anew, and run it", nil)
	}
	for _, t := range j.Tables {
		o.remotes[t.Name] = &sparkCounts{sparkTable: t, dir: dir, run: run}
	}
	return nil
}

// sparkCounts is a [scan.Remote]: a table that Spark has counted, whose counts are in a folder.
type sparkCounts struct {
	*sparkTable
	dir     string
	run     string // of the second round, which every file of counts names
	counted int64  // rows that count
}

// Encode has the values of the first round encoded as they were for the job.
func (c *sparkCounts) Encode(ctx context.Context, number int, made scan.Made, codesOf codesOf) error {
	if c.known[number] {
		if !slices.Equal(codesOf([]arrow.Array{made.Integers.Values()}), c.Lookups[number]) {
			return parallel.ErrBug
		}
		return nil
	}
	hash, err := c.encode(ctx, c.dir, number, codesOf, nil)
	if err == nil && hash != c.hashes[number] {
		err = brokenResult(c.dir, filepath.Join(c.Folder, "values", fmt.Sprint(number)))
	}
	return err
}

// result visits the rows of a result: numbers in some columns. Each must be there.
func (c *sparkCounts) result(ctx context.Context, columns []string, visit func(numbers []int64) error,
	path ...string) error {
	name := filepath.Join(append([]string{c.Folder}, path...)...)
	wanted := []source.Column{{Name: "run"}}
	for _, column := range columns {
		wanted = append(wanted, source.Column{Name: column})
	}
	numbers := make([]int64, len(columns))
	err := readSpark(ctx, c.dir, filepath.Join(name, written), wanted, func(b *source.Batch) error {
		runs, ok := b.Columns[0].(*array.String)
		for row := range b.Rows {
			if !ok || runs.IsNull(row) || runs.Value(row) != c.run {
				return brokenResult(c.dir, name)
			}
			for i := range numbers {
				of, ok := b.Columns[i+1].(*array.Int64)
				if !ok || of.IsNull(row) || of.Value(row) < 0 {
					return brokenResult(c.dir, name)
				}
				numbers[i] = of.Value(row)
			}
			if err := visit(numbers); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return brokenResult(c.dir, name)
	}
	return err
}

// one returns the numbers of a result that has one row.
func (c *sparkCounts) one(ctx context.Context, columns []string, path ...string) (all []int64, err error) {
	err = c.result(ctx, columns, func(numbers []int64) error {
		all = append(all, numbers...)
		return nil
	}, path...)
	if err == nil && len(all) != len(columns) {
		err = brokenResult(c.dir, filepath.Join(append([]string{c.Folder}, path...)...))
	}
	return all, err
}

// fault returns an error of the table.
func (c *sparkCounts) fault(column, message string) error {
	return &source.Error{Kind: source.Malformed, File: c.name(), Column: column, Message: message}
}

// Judge returns what the job has found of the rows.
func (c *sparkCounts) Judge(ctx context.Context, j scan.Judgement) (scan.Judged, error) {
	names := []string{"copied", "inexact", "long_ids", "missing"}
	for i := range c.Numbers {
		names = append(names, fmt.Sprintf("n%d", i))
	}
	numbers, err := c.one(ctx, names, "numbers")
	if err != nil {
		return scan.Judged{}, err
	}
	rest := numbers[4:]
	switch {
	case numbers[1] != 0:
		return scan.Judged{}, c.fault("", "this Spark does not write some number as a text from which it reads the "+
			"same number; cast such columns to decimals in a query")
	case numbers[2] != 0:
		return scan.Judged{}, c.fault(c.ID, fmt.Sprintf("an id has more than %d bytes; write it shorter",
			source.MostID))
	case numbers[3] != 0:
		return scan.Judged{}, c.fault("", "has other values than in the first round, as it has changed since; begin "+
			"with the first round again, in a new folder")
	case rest[0] != numbers[0]:
		return scan.Judged{}, c.fault("", "Spark gave another number of rows than before; run the job again")
	}
	found := judgedOf(j, rest)
	c.counted = found.Counted
	return found, nil
}

// Occurring returns the codes of a column in the rows that count.
func (c *sparkCounts) Occurring(ctx context.Context, column int) (codes []uint32, err error) {
	err = c.result(ctx, []string{fmt.Sprintf("c%d", column)}, func(numbers []int64) error {
		if numbers[0] > math.MaxUint32 {
			return brokenResult(c.dir, c.Folder)
		}
		codes = append(codes, uint32(numbers[0]))
		return nil
	}, "occurring", fmt.Sprint(column))
	return codes, err
}

// Bound returns how many rows stay.
func (c *sparkCounts) Bound(ctx context.Context, b scan.Bound) (int64, error) {
	if b.MaxRows == 0 {
		return c.counted, nil
	}
	numbers, err := c.one(ctx, []string{"rows", "allowed"}, "bound")
	if err != nil {
		return 0, err
	}
	if numbers[0] != numbers[1] || numbers[0] > c.counted {
		return 0, c.fault("", "Spark kept another number of rows than its units may have; run the job again")
	}
	return numbers[0], nil
}

// Groups visits the groups of the rows that stay.
func (c *sparkCounts) Groups(ctx context.Context, columns []int, visit func(codes []uint32, rows int64) error) error {
	at := slices.IndexFunc(c.asked.Groups, func(set []int) bool { return slices.Equal(set, columns) })
	if at < 0 {
		return parallel.ErrBug
	}
	names := make([]string, 0, len(columns)+1)
	for _, column := range columns {
		names = append(names, fmt.Sprintf("c%d", column))
	}
	codes := make([]uint32, len(columns))
	sizes := c.asked.Judgement.Sizes
	return c.result(ctx, append(names, "rows"), func(numbers []int64) error {
		for i := range codes {
			if numbers[i] >= int64(sizes[columns[i]]) {
				return brokenResult(c.dir, c.Folder)
			}
			codes[i] = uint32(numbers[i])
		}
		return visit(codes, numbers[len(columns)])
	}, "groups", fmt.Sprint(at))
}
