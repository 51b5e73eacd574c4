package client

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"
)

// This file holds what a device sends, and its memo of it.

const tokenBytes = 16

// Hex is bytes that are written in lower-case hexadecimal.
type Hex []byte

// MarshalText returns the digits.
func (h Hex) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h), nil }

// UnmarshalText reads digits.
func (h *Hex) UnmarshalText(text []byte) (err error) {
	*h, err = hex.AppendDecode(nil, text)
	return err
}

// Report is what leaves the device. As JSON it is a line {"collector":"…","token":"…","question":"…","report":"…"}.
type Report struct {
	Collector string `json:"collector"` // the ID of the collector's file
	Token     Hex    `json:"token"`     // 16 random bytes, the same in all reports of a memo
	Question  string `json:"question"`  // its name
	Bytes     Hex    `json:"report"`    // what the randomiser drew: see [Question.Valid]
}

// Memo holds the reports that a device has sent to a collection; it is empty (the zero value) on a device that has sent
// none. The same answer gets the same report, also for a later version of the collector's file, as long as the question
// is defined as before: its columns, categories and randomiser.
//
// A memo shows the answers, so it must stay on the device. It must be kept there, as JSON, before reports are sent: if
// it is lost, the next report costs ε again. It must not be used by two goroutines at a time.
type Memo struct {
	Release    string              `json:"release"`
	Collection string              `json:"collection"`
	Token      Hex                 `json:"token"`
	Drawn      string              `json:"drawn,omitempty"` // a hash of the definition of the question that was drawn
	Reports    map[string]Memoised `json:"reports"`         // by the definition of the question and the answer
}

// Memoised is the report of an answer to a question, and the ε that it has cost.
type Memoised struct {
	Epsilon string `json:"epsilon"`
	Report  Hex    `json:"report"`
}

// errDamaged shows nothing of what is in the memo.
var errDamaged = errors.New("this device's memo of its reports is damaged: with a new one, reports cost ε again")

// UnmarshalJSON reads the JSON of a memo.
func (m *Memo) UnmarshalJSON(text []byte) error {
	type plain Memo
	read := Memo{}
	if decode(text, (*plain)(&read)) != nil || len(read.Token) != tokenBytes && len(read.Token)+len(read.Reports) > 0 {
		return errDamaged
	}
	for _, r := range read.Reports {
		if _, err := fraction(r.Epsilon); err != nil {
			return errDamaged
		}
	}
	*m = read
	return nil
}

// Spent returns the ε that the device has lost to the collection, as an integer or a fraction: the sum over its
// reports, one for each distinct answer to each distinct definition of a question.
func (m *Memo) Spent() string {
	sum := new(big.Rat)
	for _, r := range m.Reports {
		if epsilon, err := fraction(r.Epsilon); err == nil {
			sum.Add(sum, epsilon)
		}
	}
	return sum.RatString()
}

// Respond returns the reports to send: of the one question that the device drew, or of all. Answers are texts of
// categories by the names of their columns. Every column of every question needs one, so that an error does not show
// which question was drawn. The memo, which is needed, does not change if there is an error. If random is nil, the
// system's generator is used.
func (c *Collector) Respond(answers map[string]string, memo *Memo, random io.Reader) (reports []Report, err error) {
	for _, q := range c.Questions {
		if _, err := q.Answer(answers); err != nil {
			return nil, err
		}
	}
	if c.id == "" || memo == nil || len(memo.Token) > 0 && (memo.Release != c.Release || memo.Collection != c.Collection) {
		return nil, errors.New("a device needs a collector's file that was read, and a separate memo for each collection")
	}
	next, b := *memo, NewBytes(random)
	next.Reports = maps.Collect(maps.All(memo.Reports))
	next.open(c, b)
	for _, q := range c.Questions {
		if c.Asks == One && q.definition != next.Drawn {
			continue
		}
		answer, _ := q.Answer(answers)
		key := fmt.Sprint(q.definition, ":", answer)
		kept, ok := next.Reports[key]
		if !ok {
			kept.Epsilon = q.Epsilon
			kept.Report, _ = q.Randomise(nil, answer, b)
			next.Reports[key] = kept
		} else if !q.Valid(kept.Report) {
			return nil, errDamaged
		}
		if b.err != nil { // of any draw so far
			return nil, b.err
		}
		reports = append(reports, Report{Collector: c.id, Token: next.Token, Question: q.Name, Bytes: kept.Report})
	}
	*memo = next
	return reports, nil
}

// Answer returns the index of the answers to the question's columns, or of the bands that they are in, which is their
// category if there are no points. Of a text it is the hash. An error shows what is expected, no answer.
func (q *Question) Answer(answers map[string]string) (answer int64, err error) {
	for _, c := range q.Columns {
		text, ok := answers[c.Name]
		i := slices.Index(c.Categories, text)
		switch {
		case c.Length > 0 && ok:
			return q.Category(text), nil
		case c.Length > 0:
			return 0, fmt.Errorf("column %q has no answer: expected a text", c.Name)
		case !ok || i < 0:
			return 0, fmt.Errorf("column %q has no answer, or one that is none of its %d categories: expected one of %q",
				c.Name, len(c.Categories), c.Categories[:min(len(c.Categories), 20)])
		}
		answer = answer*c.Answers() + int64(i)/max(1, c.Width)
	}
	return answer, nil
}

// open draws the token of a new memo, and a question unless the one drawn before is still asked. No answer matters.
func (m *Memo) open(c *Collector, random *Bytes) {
	if len(m.Token) == 0 {
		m.Release, m.Collection = c.Release, c.Collection
		m.Token = binary.BigEndian.AppendUint64(nil, uint64(random.take(8)))
		m.Token = binary.BigEndian.AppendUint64(m.Token, uint64(random.take(8)))
	}
	if c.Asks == One && !slices.ContainsFunc(c.Questions, func(q Question) bool { return q.definition == m.Drawn }) {
		x, i := random.take(6), 0
		for ; x >= c.Questions[i].Chance; i++ {
			x -= c.Questions[i].Chance
		}
		m.Drawn = c.Questions[i].definition
	}
}
