package respondent

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/histogram/respondent/client"
)

// This file randomises answers where somebody trusted has them, in place of the respondents' devices.

// Memos are the memos of respondents, by who they are. They are as confidential as the answers.
type Memos map[string]*client.Memo

// memoLine is a memo in a file, one a line.
type memoLine struct {
	ID   string       `json:"id"`
	Memo *client.Memo `json:"memo"`
}

// ReadMemos reads what [Memos.Write] writes.
func ReadMemos(r io.Reader) (Memos, error) {
	all, d := Memos{}, json.NewDecoder(r)
	for {
		var line memoLine
		err := d.Decode(&line)
		switch {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil || line.Memo == nil || all[line.ID] != nil:
			return nil, &Unfit{"the file of memos is damaged: restore it; without it, whoever answers again loses ε again"}
		}
		all[line.ID] = line.Memo
	}
}

// Write writes the memos, one a line, in the order of who they are of.
func (m Memos) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	for _, id := range slices.Sorted(maps.Keys(m)) {
		if err := e.Encode(memoLine{id, m[id]}); err != nil {
			return err
		}
	}
	return nil
}

// sips reads a few bytes at a time, so that a device that asks for as many as there are does not take thousands.
type sips struct{ *bufio.Reader }

func (s sips) Read(b []byte) (int, error) { return s.Reader.Read(b[:min(len(b), 64)]) }

// Randomise randomises the answers in a CSV file, with a line for each respondent and a column for each attribute that
// is asked, and writes the reports. If id names a column, its texts identify respondents, and their memos, which it
// adds to, make whoever answers as before report as before; if id is "", every line is another respondent. It returns
// the number of reports. random is nil but in tests.
//
// Its errors name columns, and no answer and no line.
func Randomise(ctx context.Context, c *client.Collector, answers io.Reader, id string, memos Memos, w *Writer,
	random io.Reader) (reports int64, err error) {
	r := csv.NewReader(answers)
	r.ReuseRecord = true
	header, err := r.Read()
	if err != nil {
		return 0, &Unfit{"the file of answers has no header line, or is no CSV file"}
	}
	header = slices.Clone(header)
	header[0] = strings.TrimPrefix(header[0], "\ufeff") // a byte order mark, which spreadsheets write
	for i, name := range header {
		if slices.Contains(header[:i], name) {
			return 0, &Unfit{fmt.Sprintf("the file of answers has two columns %q: rename or remove one", name)}
		}
	}
	if id != "" && !slices.Contains(header, id) {
		return 0, &Unfit{fmt.Sprintf("the file of answers has no column %q", id)}
	}
	if random == nil {
		random = sips{bufio.NewReaderSize(rand.Reader, 1<<16)}
	}
	given := map[string]string{}
	for {
		if err := ctx.Err(); err != nil {
			return reports, err
		}
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			if reports == 0 {
				err = &Unfit{"the file of answers has no line after its header"}
			} else {
				err = nil
			}
			return reports, err
		}
		if err != nil {
			return reports, &Unfit{"a line of the file of answers has another number of fields than its header, or is no CSV"}
		}
		for i, name := range header {
			given[name] = record[i]
		}
		memo := &client.Memo{}
		if id != "" {
			if given[id] == "" {
				return reports, &Unfit{fmt.Sprintf("column %q is empty in a line: say which respondent answers", id)}
			}
			if memos[given[id]] == nil {
				memos[given[id]] = memo
			}
			memo = memos[given[id]]
		}
		all, err := c.Respond(given, memo, random)
		if err != nil {
			return reports, &Unfit{err.Error()}
		}
		for _, one := range all {
			if err := w.Write(one, false); err != nil {
				return reports, err
			}
			reports++
		}
	}
}
