package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/spec"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/parquet-go/parquet-go"
)

// This file holds the job of tables that an office counts on its own Spark, to which nothing here connects. A folder
// goes there and comes back, twice: first with the distinct values of the columns, which are given codes here, then
// with counts. What Spark does is in dprelease_spark.py, which is the same for all releases; what it does it with is in
// job.json. Values, codes and keys are in Parquet files, and in no program and no query.

//go:embed dprelease_spark.py
var sparkProgram []byte

// Names of files in the folder.
const (
	sparkProgramFile = "dprelease_spark.py"
	sparkJobFile     = "job.json"
	sparkKeyFile     = "key-%s.parquet" // of a table, with the job
	sparkCodesFile   = "%d-%s.parquet"  // of a column, with the hash of its values and codes
	sparkValuesDone  = "values_done"
	sparkCountsDone  = "counts_done"
)

// sparkJob is what job.json holds.
type sparkJob struct {
	Format  int           `json:"format"` // of the folder
	Job     string        `json:"job"`    // the hash of all that decides what the results are
	Round   int           `json:"round"`
	Release string        `json:"release"`
	Plan    string        `json:"plan"`
	Tables  []*sparkTable `json:"tables"`
}

// sparkTable is a table of a job. What follows Values is only in the second round.
type sparkTable struct {
	Name    string     `json:"name"`
	Folder  string     `json:"folder"`
	Table   []string   `json:"table,omitempty"`
	Query   string     `json:"query,omitempty"`
	Parquet string     `json:"parquet,omitempty"`
	ID      string     `json:"id,omitempty"` // "" if each row is a unit
	Columns []string   `json:"columns"`      // of the source
	Values  [][]string `json:"values"`       // by column with codes, the columns of the source that it is made of
	// Integers has by column with codes null, or the range of which all integers are encoded if its source has
	// integers.
	Integers []*scan.Integers `json:"integers"`

	Codes []string `json:"codes,omitempty"` // names of files, by column with codes; "" for one of Lookups
	// Lookups has by column with codes null, or the codes of the integers of a range ([scan.Integers.Values]).
	Lookups   [][]uint32 `json:"lookups,omitempty"`
	Numbers   []string   `json:"numbers,omitempty"` // of rows, as [judgementSQL] has them
	Counts    string     `json:"counts,omitempty"`  // the condition of rows that count
	Occurring []int      `json:"occurring,omitempty"`
	MaxRows   int64      `json:"max_rows"`
	Contents  []int      `json:"contents,omitempty"`
	Groups    [][]int    `json:"groups,omitempty"`

	request
	made      []scan.Made // by column with codes
	known     []bool      // by column with codes, whether it has integers of a range, whose codes are public
	valuesRun string      // of the job's first round, which every file of values names
	hashes    []string    // by column with codes, of its values and codes
	asked     scan.Asked
}

// sparkFormat is the version of the folder.
const sparkFormat = 2

// inSpark reports whether a table is counted by Spark.
func inSpark(t *spec.Table) bool {
	return t.Source.Database != nil && t.Source.Database.Engine == spec.Spark
}

// HasSpark reports whether a table of a release is counted by Spark.
func HasSpark(r *spec.Release) bool { return slices.ContainsFunc(r.Tables, inSpark) }

// CheckSpark returns an error if questions ask of a table in Spark what only its rows can answer. Errors are
// *[source.Error].
func CheckSpark(q histogram.Questions) error { return scan.CheckRemotes(q, inSpark) }

// firstRound returns the job of the first round, nil if no table that is asked about is in Spark.
func firstRound(q histogram.Questions) (*sparkJob, error) {
	if err := CheckSpark(q); err != nil {
		return nil, err
	}
	inputs, err := scan.Inputs(q, inSpark)
	if err != nil {
		return nil, err
	}
	j := &sparkJob{Format: sparkFormat, Round: 1, Release: q.Plan.Name, Plan: q.Plan.Hash()}
	for _, t := range q.Plan.Release().Tables {
		if inputs[t.Name] == nil {
			continue
		}
		d := t.Source.Database
		s := &sparkTable{Name: t.Name, Folder: fmt.Sprintf("table%d", len(j.Tables)), Table: d.Table, Query: d.Query,
			Parquet: d.Path, ID: t.Unit.ID, Columns: []string{}, Values: [][]string{}, Integers: []*scan.Integers{},
			request: request{table: t}, made: inputs[t.Name]}
		for _, made := range s.made {
			var names []string
			for _, c := range made.Columns {
				names = append(names, c.Name)
				if !slices.Contains(s.Columns, c.Name) {
					s.Columns = append(s.Columns, c.Name)
				}
			}
			s.Values, s.Integers = append(s.Values, names), append(s.Integers, made.Integers)
		}
		j.Tables = append(j.Tables, s)
	}
	if j.Tables == nil {
		return nil, nil
	}
	return j, j.identify(nil)
}

// identify gives a job its hash.
func (j *sparkJob) identify(stamp []byte) error {
	j.Job = ""
	text, err := json.Marshal(j)
	if err != nil {
		return err
	}
	h := sha256.New()
	h.Write(text)
	h.Write(stamp)
	for _, t := range j.Tables {
		for _, one := range t.hashes {
			fmt.Fprintln(h, one)
		}
	}
	j.Job = hex.EncodeToString(h.Sum(nil)[:16])
	return nil
}

// secondRound makes a job of the first round one of the second. The values that a run of the first has left are read
// from a folder. The files that put returns get them with their codes; it is nil if nobody wants them.
func (j *sparkJob) secondRound(ctx context.Context, q histogram.Questions, s *noise.RowStreams, dir, run string,
	put func(t *sparkTable, number int) (*codeFile, error)) error {
	by := map[string]scan.Encode{}
	for _, t := range j.Tables {
		t.valuesRun, t.hashes, t.Codes, t.Lookups = run, nil, nil, nil
		if err := t.readKnown(ctx, dir); err != nil {
			return err
		}
		by[t.Name] = func(ctx context.Context, number int, made scan.Made, codesOf codesOf) (err error) {
			if t.known[number] {
				t.hashes, t.Codes = append(t.hashes, ""), append(t.Codes, "")
				t.Lookups = append(t.Lookups, codesOf([]arrow.Array{made.Integers.Values()}))
				return nil
			}
			var file *codeFile
			if put != nil {
				if file, err = put(t, number); err != nil {
					return err
				}
			}
			hash, err := t.encode(ctx, dir, number, codesOf, file)
			name := fmt.Sprintf(sparkCodesFile, number, hash[:16])
			if file != nil {
				err = errors.Join(err, file.close(name, err == nil))
			}
			t.hashes, t.Codes, t.Lookups = append(t.hashes, hash), append(t.Codes, name), append(t.Lookups, nil)
			return err
		}
	}
	asked, err := scan.Ask(ctx, q, s, by)
	if err != nil {
		return err
	}
	j.Round = 2
	for _, t := range j.Tables {
		t.asked = asked[t.Name]
		t.Numbers, t.Counts = judgementSQL(t.asked.Judgement)
		t.Occurring, t.Groups = t.asked.Occurring, t.asked.Groups
		t.MaxRows, t.Contents = t.asked.Bound.MaxRows, t.asked.Bound.Contents
	}
	stamp, err := q.Stamp(s)
	if err != nil {
		return err
	}
	return j.identify(stamp[:])
}

// EmitSpark writes the next round of the job of a plan's tables in Spark into a folder, which is made if it is not
// there. Whoever runs Spark runs it, and copies the folder back. It returns the number of the round, and 0 if the
// folder has all counts, so that nothing is left to run ([Tables.FromSpark]). The same questions and streams give the
// same job.
//
// Contract: the folder is as confidential as the tables. Nobody else may enter it, if it is made here, nor read the
// files in it that are written here. Two rounds must not be written at the same time.
//
// Errors: *[source.Error]; those of the context.
func EmitSpark(ctx context.Context, q histogram.Questions, s *noise.RowStreams, dir string) (round int, err error) {
	j, err := firstRound(q)
	if err != nil {
		return 0, err
	}
	if j == nil {
		return 0, &source.Error{Kind: source.Malformed, File: "the plan " + q.Plan.Name,
			Message: "has no table in Spark; run dprelease measure"}
	}
	if err := prepareFolder(dir); err != nil {
		return 0, err
	}
	done, run, err := doneJob(ctx, dir, sparkValuesDone)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return 0, err
	case done != j.Job:
		return 1, j.write(dir)
	}
	if err := j.secondRound(ctx, q, s, dir, run, func(t *sparkTable, number int) (*codeFile, error) {
		return createCodes(filepath.Join(dir, t.Folder, "codes"), len(t.made[number].Columns))
	}); err != nil {
		return 0, err
	}
	for _, t := range j.Tables {
		if err := t.writeKey(filepath.Join(dir, t.Folder, fmt.Sprintf(sparkKeyFile, j.Job))); err != nil {
			return 0, err
		}
	}
	switch done, _, err := doneJob(ctx, dir, sparkCountsDone); {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return 0, err
	case done == j.Job:
		return 0, nil
	}
	return 2, j.write(dir)
}

// prepareFolder makes a folder, or checks that one is empty or has a job.
func prepareFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return folderError(dir, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return folderError(dir, err)
	}
	isJob := func(e os.DirEntry) bool { return e.Name() == sparkJobFile }
	if len(entries) > 0 && !slices.ContainsFunc(entries, isJob) {
		return &source.Error{Kind: source.Duplicate, File: dir,
			Message: "has files, and none of them is a job for Spark; name an empty or a new folder"}
	}
	if info, err := os.Stat(dir); runtime.GOOS != "windows" && err == nil && info.Mode().Perm()&0o077 != 0 {
		return &source.Error{Kind: source.Malformed, File: dir,
			Message: "can be entered by others than its owner, and is as confidential as the table: chmod 700, or " +
				"name a new folder"}
	}
	return nil
}

// folderError returns the error of a folder or a file that cannot be written.
func folderError(path string, err error) error {
	return &source.Error{Kind: source.Unreadable, File: path, Detail: err.Error(), Err: err,
		Message: "cannot be written; check its permissions and its disk, or name another folder"}
}

// write writes the program and then the job.
func (j *sparkJob) write(dir string) error {
	for _, t := range j.Tables { // before Spark makes them, for others to enter
		if err := os.MkdirAll(filepath.Join(dir, t.Folder), 0o700); err != nil {
			return folderError(dir, err)
		}
	}
	text, err := json.MarshalIndent(j, "", "  ")
	if err != nil {
		return err
	}
	if err := replaceFile(filepath.Join(dir, sparkProgramFile), sparkProgram); err != nil {
		return err
	}
	return replaceFile(filepath.Join(dir, sparkJobFile), append(text, '\n'))
}

// replaceFile writes a file that only its owner may read. A file that is there is replaced once all is written.
func replaceFile(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".making-*") // mode 0600, and follows no link
	if err != nil {
		return folderError(path, err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return folderError(path, errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}

// writeKey writes the keys of contents and of priorities.
func (t *sparkTable) writeKey(path string) error {
	var text bytes.Buffer
	b := t.asked.Bound
	err := parquet.Write(&text, []sparkKey{{Contents: string(b.Content[:]), Priorities: string(b.Row[:])}}, plainPages)
	if err != nil {
		return folderError(path, err)
	}
	return replaceFile(path, text.Bytes())
}

// plainPages are pages that every Spark reads. Spark 3.4 reads texts wrongly that are encoded as their differences in
// length (DELTA_LENGTH_BYTE_ARRAY), which is the writer's default.
var plainPages = parquet.DataPageVersion(1)

// sparkKey is the only row of the file of keys.
type sparkKey struct {
	Contents   string `parquet:"contents,plain"`
	Priorities string `parquet:"priorities,plain"`
}

// codeFile is a Parquet file of rows of texts, each with a code: the columns k0, k1 … and code.
type codeFile struct {
	dir   string
	file  *os.File
	to    *parquet.GenericWriter[any]
	texts []int // by text, its column
	code  int
}

// createCodes creates the file of the codes of a column.
func createCodes(dir string, inputs int) (*codeFile, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, folderError(dir, err)
	}
	names := make([]string, inputs)
	for i := range names {
		names[i] = fmt.Sprintf("k%d", i)
	}
	group := parquet.Group{"code": parquet.Encoded(parquet.Int(64), &parquet.Plain)}
	for _, name := range names {
		group[name] = parquet.Optional(parquet.Encoded(parquet.Leaf(parquet.ByteArrayType), &parquet.Plain))
	}
	sorted := slices.Sorted(maps.Keys(group)) // as they are in the file
	f := &codeFile{dir: dir, code: slices.Index(sorted, "code")}
	for _, name := range names {
		f.texts = append(f.texts, slices.Index(sorted, name))
	}
	var err error
	if f.file, err = os.CreateTemp(dir, "making-*"); err != nil { // mode 0600
		return nil, folderError(dir, err)
	}
	f.to = parquet.NewGenericWriter[any](f.file, parquet.NewSchema("codes", group), plainPages)
	return f, nil
}

// add adds a row. A text that is nil is null.
func (f *codeFile) add(texts [][]byte, code uint32) error {
	row := make(parquet.Row, len(texts)+1)
	row[f.code] = parquet.Int64Value(int64(code)).Level(0, 0, f.code)
	for i, text := range texts {
		at := f.texts[i]
		if text == nil {
			row[at] = parquet.NullValue().Level(0, 0, at)
		} else {
			row[at] = parquet.ByteArrayValue(text).Level(0, 1, at)
		}
	}
	if _, err := f.to.WriteRows([]parquet.Row{row}); err != nil {
		return folderError(f.dir, err)
	}
	return nil
}

// close ends the file, and gives it its name if it is whole; else it removes it.
func (f *codeFile) close(name string, whole bool) error {
	err := errors.Join(f.to.Close(), f.file.Close())
	if err == nil && whole {
		err = os.Rename(f.file.Name(), filepath.Join(f.dir, name))
	} else {
		err = errors.Join(err, os.Remove(f.file.Name()))
	}
	if err != nil {
		return folderError(f.dir, err)
	}
	return nil
}
