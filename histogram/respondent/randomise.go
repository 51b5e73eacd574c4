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
	"math/big"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/histogram/respondent/client"
	"github.com/dprelease/dprelease/spec/document"
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

// numberAnswers are the answers to a question for numbers: at equal distances, ascending.
type numberAnswers struct {
	texts       []string
	first, step *big.Rat
}

// numbersAmong returns the columns whose numbers a collector asks for, by name.
func numbersAmong(c *client.Collector) map[string]numberAnswers {
	all := map[string]numberAnswers{}
	for _, q := range c.Questions {
		of := q.Columns[len(q.Columns)-1]
		if of.Points == 0 {
			continue
		}
		first, err := document.ParseNumber(of.Categories[0])
		second, err2 := document.ParseNumber(of.Categories[1])
		if err == nil && err2 == nil && second.Cmp(first) > 0 {
			all[of.Name] = numberAnswers{of.Categories, first, second.Sub(second, first)}
		}
	}
	return all
}

// nearest returns the answer that is nearest to a number, the larger of two. It reports false for other texts.
func (n numberAnswers) nearest(text string) (answer string, ok bool) {
	x, err := document.ParseNumber(text)
	if err != nil {
		return "", false
	}
	x.Sub(x, n.first).Quo(x, n.step).Add(x, big.NewRat(1, 2))
	place, last := new(big.Int).Div(x.Num(), x.Denom()), int64(len(n.texts)-1)
	switch {
	case place.Sign() <= 0:
		return n.texts[0], true
	case place.Cmp(big.NewInt(last)) >= 0:
		return n.texts[last], true
	}
	return n.texts[place.Int64()], true
}

// Randomise randomises the answers in a CSV file, with a line for each respondent and a column for each attribute that
// is asked, and writes the reports. Where a number is asked for, one that is none of the answers is taken for the
// nearest of them. If id names a column, its texts identify respondents, and their memos, which it
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
	numbers := numbersAmong(c)
	if random == nil {
		random = sips{bufio.NewReaderSize(rand.Reader, 1<<16)}
	}
	given, who := map[string]string{}, ""
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
			if name == id {
				who = record[i]
			}
			if of, ok := numbers[name]; ok {
				if given[name], ok = of.nearest(record[i]); !ok {
					return reports, &Unfit{fmt.Sprintf("column %q is empty in a line, or holds no number: expected "+
						"one; beyond %s to %s it counts as the nearer end",
						name, of.texts[0], of.texts[len(of.texts)-1])}
				}
			}
		}
		memo := &client.Memo{}
		if id != "" {
			if who == "" {
				return reports, &Unfit{fmt.Sprintf("column %q is empty in a line: say which respondent answers", id)}
			}
			if memos[who] == nil {
				memos[who] = memo
			}
			memo = memos[who]
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
