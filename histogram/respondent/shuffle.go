package respondent

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"strings"

	"github.com/dprelease/dprelease/histogram/respondent/client"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/memory"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/files"
)

// This file gathers the reports that devices sent, and shuffles them.

// jsonLines is how the names of files end that hold a report a line, as devices send it.
const jsonLines = ".jsonl"

// bytesOfReport is the memory that gathering takes for a report, in addition to its own bytes.
const bytesOfReport = 160

// Gather reads the reports to a collector from files: Parquet files as [Writer] writes them, or JSON, a report a line.
// It leaves out those that no device makes, those of another collector or question, and those that were sent twice, and
// says how many of each it left out. Reports are in the order of the files. With fresh, reports that were shuffled
// before are refused.
//
// Errors: *[source.Error], those of the context.
func Gather(ctx context.Context, c *client.Collector, paths []string, fresh bool, limit int64) ([]client.Report,
	measured.Reports, error) {
	g := &gathering{questions: newQuestions(c), seen: map[sentBy]bool{}, limit: memory.Available(limit)}
	for _, path := range paths {
		read := g.readParquet
		if filepath.Ext(path) == jsonLines {
			read = g.readLines
		}
		if err := read(ctx, path); err != nil {
			return nil, g.tally, err
		}
	}
	switch {
	case len(g.all) == 0:
		return nil, g.tally, &Unfit{strings.TrimSuffix("there is no report to this collector: "+g.tally.Faults(), ": ")}
	case fresh && g.mixed:
		return nil, g.tally, &Unfit{"some reports have no token: they were shuffled before, and those that are there " +
			"twice could not be found"}
	case len(g.seen) > 0 && g.mixed:
		return nil, g.tally, &Unfit{"some reports have no token, as they were shuffled before, and some have one: " +
			"give either"}
	}
	return g.all, g.tally, nil
}

// sentBy is a device and a question.
type sentBy struct {
	token    string
	question uint32
}

// gathering is what was gathered so far.
type gathering struct {
	*questions
	seen  map[sentBy]bool
	mixed bool // some have no token
	all   []client.Report
	tally measured.Reports
	bytes int64
	limit int64
}

// add adds a report, unless it is left out. A report without a token was shuffled before, and is never sent twice.
func (g *gathering) add(r client.Report, token bool) error {
	at, known := g.index[r.Question]
	by := sentBy{string(r.Token), g.repeatedWithin(int(at))}
	switch {
	case r.Collector != g.ID() || !known:
		g.tally.Foreign++
	case token && len(r.Token) != tokenBytes || !g.Questions[at].Valid(r.Bytes):
		g.tally.Impossible++
	case token && g.seen[by]:
		g.tally.Repeated++
	default:
		g.tally.Kept++
		g.all = append(g.all, r)
		if token {
			g.seen[by] = true
		} else {
			g.mixed = true
		}
		g.bytes += bytesOfReport + int64(len(r.Bytes))
		return memory.Check(g.bytes, g.limit)
	}
	return nil
}

func (g *gathering) readLines(ctx context.Context, path string) error {
	f, err := os.Open(path)
	if err != nil {
		kind := source.Unreadable
		if errors.Is(err, fs.ErrNotExist) {
			kind = source.Missing
		}
		return &source.Error{Kind: kind, File: path, Message: "cannot be read: check the path", Err: err}
	}
	defer f.Close()
	lines := bufio.NewReaderSize(f, mostLine)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		line, err := lines.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull)
		for errors.Is(err, bufio.ErrBufferFull) { // no device sends so long a line
			_, err = lines.ReadSlice('\n')
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := g.addLine(line, long); err != nil {
			return err
		}
		if err != nil {
			return nil
		}
	}
}

// mostLine is more than the length of the longest report, as a line.
const mostLine = 1 << 16

// addLine adds the report in a line. An empty line is none.
func (g *gathering) addLine(line []byte, long bool) error {
	if line = bytes.TrimSpace(line); len(line) == 0 {
		return nil
	}
	r, ok := parseLine(line)
	if long || !ok {
		g.tally.Impossible++
		return nil
	}
	return g.add(r, true)
}

// parseLine reads a report as a device writes it: with each field once, in order. It reports false for anything else.
func parseLine(line []byte) (r client.Report, ok bool) {
	var compact, escaped bytes.Buffer
	if json.Unmarshal(line, &r) != nil || json.Compact(&compact, line) != nil || len(r.Collector) != 16 ||
		len(r.Token) != tokenBytes {
		return r, false
	}
	json.HTMLEscape(&escaped, compact.Bytes())
	text, err := json.Marshal(r)
	return r, err == nil && bytes.Equal(text, escaped.Bytes())
}

func (g *gathering) readParquet(ctx context.Context, path string) error {
	t := &spec.Table{Source: spec.TableSource{Format: files.Parquet, Paths: []string{path}, Total: true}}
	r, err := source.Open(ctx, source.Data{Dir: "."}, t, columns(g.questions))
	if verdict.Has[*source.Error](err) && !errors.Is(err, fs.ErrNotExist) {
		return &Unfit{path + " is no file of reports: expected JSON lines as devices send them (*.jsonl), or Parquet " +
			"as `dprelease local` writes it"}
	}
	if err != nil {
		return err
	}
	defer r.Close()
	buffers := &source.Buffers{}
	for {
		p, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = g.read(ctx, p, buffers, g.addBatch)
		}
		if err != nil {
			return err
		}
	}
}

// addBatch adds the reports of a batch.
func (g *gathering) addBatch(b batch) error {
	for i := range b.rows {
		var r client.Report
		if b.collector[i] == 0 && b.question[i] != unknown {
			r.Collector, r.Question = g.ID(), g.Questions[b.question[i]].Name
		}
		if b.report.IsValid(i) {
			r.Bytes = []byte(b.report.Value(i))
		}
		token := b.token.IsValid(i)
		if token {
			r.Token = []byte(b.token.Value(i))
		}
		if err := g.add(r, token); err != nil {
			return err
		}
	}
	return nil
}

// Mix puts reports into a uniformly random order, by the system's generator.
//
// Contract: whoever sees the reports in the new order, without their tokens, knows no more of who sent which than that
// each order was equally likely (Durstenfeld 1964, exact uniform draws).
func Mix(reports []client.Report) error {
	for i := len(reports) - 1; i > 0; i-- {
		j, err := rand.Int(rand.Reader, big.NewInt(int64(i)+1))
		if err != nil {
			return err
		}
		reports[i], reports[j.Int64()] = reports[j.Int64()], reports[i]
	}
	return nil
}
