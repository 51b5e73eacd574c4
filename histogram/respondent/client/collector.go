package client

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
)

// This file holds the collector's public file: what is asked, and how answers are randomised.

const (
	One      = "one"      // [Collector.Asks]: the answer to one question, which the device draws
	All      = "all"      // [Collector.Asks]: the answers to all questions
	Set      = "set"      // [Question.Form]: category v is bit v%8, the least significant first, of byte v/8
	Permuted = "permuted" // [Question.Form]: a, b of 4 bytes, big-endian; v is held if (a·v+b) % Categories < Support

	collectorFormat = "dprelease.collector/1"
	certain         = 1 << 48 // the probability 1
	mostCategories  = 1 << 20
	mostEpsilon     = 10

	// TextCategories is how many hashes a text can have, a prime.
	TextCategories = 1<<31 - 1
)

// Collector is what a collector asks, as [Read] returns it. It is only to be read.
type Collector struct {
	Format     string     `json:"format"`
	Release    string     `json:"release"`
	Collection string     `json:"collection"`
	Title      string     `json:"title,omitempty"`
	Epsilon    string     `json:"epsilon"` // that a respondent loses in all: an integer, or a/b in lowest terms
	Asks       string     `json:"asks"`    // One or All
	Questions  []Question `json:"questions"`

	id string
}

// Question is a question and its randomiser: a report holds Support of the Categories, the respondent's with
// probability Keep / 2^48; the others in it are drawn uniformly. A category is an index of the answers to all columns,
// the last column's fastest. If the last column has points, a category has one of these in place of its answer. If
// reports are permuted, Categories is the least prime that is large enough.
type Question struct {
	Name       string   `json:"name"`
	Title      string   `json:"title,omitempty"`
	Columns    []Column `json:"columns"`
	Chance     int64    `json:"chance,omitempty"` // that a device draws it, in units of 2^−48, if it answers one
	Epsilon    string   `json:"epsilon"`
	Form       string   `json:"form"` // Set or Permuted
	Categories int64    `json:"categories"`
	Support    int64    `json:"support"`
	Keep       int64    `json:"keep"`

	definition string
}

// Column is an attribute that is asked, with the texts of its categories. Labels, if any, are for people to read. With
// Points, which only the last column of a question has, the categories are numbers at equal distances, ascending, and
// the device rounds an answer, at random, to one of so many points, the first, the last, and others evenly between.
// With a Width an answer is one of the bands of so many neighbouring categories, the last of which may be narrower.
// With a Length, the only column of its question has no categories: the answer is a text, and its category is a hash of
// at most that many first characters.
type Column struct {
	Name       string   `json:"name"`
	Title      string   `json:"title,omitempty"`
	Categories []string `json:"categories"`
	Labels     []string `json:"labels,omitempty"`
	Points     int64    `json:"points,omitempty"`
	Width      int64    `json:"width,omitempty"`
	Length     int64    `json:"length,omitempty"`
}

// Answers returns how many answers the column has: categories, bands of them, or hashes of a text.
func (c Column) Answers() int64 {
	if c.Length > 0 {
		return TextCategories
	}
	return (int64(len(c.Categories))-1)/max(1, c.Width) + 1
}

// Category returns the category of a text, whose question has a column with a length: the hash of the question's name
// and of the first characters.
func (q *Question) Category(text string) int64 {
	letters := []rune(text)
	letters = letters[:min(int64(len(letters)), q.Columns[0].Length)]
	sum := sha256.Sum256([]byte(q.Name + "\x00" + string(letters)))
	return int64(binary.BigEndian.Uint64(sum[:])>>1) % TextCategories
}

// Read reads a collector's file. It returns an error if the text is not of the format, if its numbers contradict each
// other, or if reports would take more ε than it says.
func Read(text []byte) (*Collector, error) {
	c := &Collector{id: hash(text)[:16]}
	if err := cmp.Or(decode(text, c), c.check()); err != nil {
		return nil, fmt.Errorf("this collector's file cannot be trusted, ask for a correct one: %w", err)
	}
	return c, nil
}

// ID returns the first 16 hexadecimal digits of the SHA-256 hash of the file, by which reports name it.
func (c *Collector) ID() string { return c.id }

func hash(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text)) }

// decode reads JSON as json.Marshal writes it, but for white space and the escapes of <, > and &: each field is there
// once, in order, and no other one.
func decode(text []byte, into any) error {
	if err := json.Unmarshal(text, into); err != nil {
		return err
	}
	var compact, got bytes.Buffer
	err := json.Compact(&compact, text)
	json.HTMLEscape(&got, compact.Bytes())
	if want, _ := json.Marshal(into); err == nil && !bytes.Equal(got.Bytes(), want) {
		err = errors.New("its fields are not each there once, in the order of the format, without needless escapes")
	}
	return err
}

// define returns a hash of what a report to a question rests on: titles, labels and chances are left out.
func (c *Collector) define(q Question) string {
	rests := []any{c.Release, c.Collection, q.Name, q.Epsilon, q.Form, q.Categories, q.Support, q.Keep}
	for _, column := range q.Columns {
		rests = append(rests, column.Name, column.Categories)
		if n := column.Points - column.Width - column.Length; n != 0 { // at most one of the three is not 0
			rests = append(rests, n)
		}
	}
	text, _ := json.Marshal(rests)
	return hash(text)
}

// check returns an error unless the file can be trusted, and defines its questions.
func (c *Collector) check() error {
	total, err := fraction(c.Epsilon)
	switch {
	case c.Format != collectorFormat:
		return fmt.Errorf("its format is %q, expected %q", c.Format, collectorFormat)
	case c.Release == "" || c.Collection == "" || c.Asks != One && c.Asks != All || len(c.Questions) == 0:
		return errors.New(`it must name a release and a collection, ask "one" or "all", and have questions`)
	case err != nil:
		return err
	}
	chances, spent, names, columns := int64(0), new(big.Rat), map[string]bool{"": true}, map[string][]string{}
	for i, q := range c.Questions {
		epsilon, err := fraction(q.Epsilon)
		if err == nil {
			err = q.check(columns, epsilon)
		}
		if c.Asks == All && err == nil {
			spent = epsilon.Add(epsilon, spent)
		}
		switch {
		case names[q.Name]:
			return fmt.Errorf("question %d has no name of its own: %q", i+1, q.Name)
		case err != nil:
			return fmt.Errorf("question %q: %w", q.Name, err)
		case epsilon.Cmp(total) > 0:
			return fmt.Errorf("question %q takes more than is left of ε = %s", q.Name, c.Epsilon)
		case (c.Asks == One) != (q.Chance > 0) || q.Chance < 0 || q.Chance > certain-chances:
			return fmt.Errorf("question %q has a chance that is impossible where devices answer %s", q.Name, c.Asks)
		}
		names[q.Name], chances = true, chances+q.Chance
		c.Questions[i].definition = c.define(q)
	}
	if c.Asks == One && chances != certain {
		return errors.New("the chances of its questions do not sum to 2^48")
	}
	return nil
}

// check returns an error if the question cannot be asked at ε. It adds its columns to those of the questions before.
func (q *Question) check(columns map[string][]string, epsilon *big.Rat) error {
	size, own := int64(1), map[string]bool{"": true}
	for i, c := range q.Columns {
		texts, distinct := c.Categories, slices.Compact(slices.Sorted(slices.Values(c.Categories)))
		known, seen := columns[c.Name]
		if c.Length != 0 && (c.Length < 0 || c.Name == "" || len(q.Columns) > 1 || texts != nil || known != nil ||
			c.Labels != nil || c.Points != 0 || c.Width != 0) {
			return fmt.Errorf("column %q asks for a text: it must be the only column of a question, with a name and "+
				"a length of 1 or more, without categories, labels, points and width", c.Name)
		}
		if c.Length == 0 && (own[c.Name] || len(distinct) != len(texts) || len(texts) == 0 ||
			seen && !slices.Equal(known, texts) || c.Labels != nil && len(c.Labels) != len(texts) ||
			c.Points != 0 && (c.Points < 2 || c.Points > int64(len(texts)) || i < len(q.Columns)-1 || c.Width != 0) ||
			c.Width < 0 || c.Width == 1) {
			return fmt.Errorf("column %q needs a name of its own, distinct categories, the same in all questions, as many "+
				"labels or none, and a width of 2 or more, or 2 to as many points if it is the last, or neither", c.Name)
		}
		own[c.Name], columns[c.Name] = true, texts
		if size = min(size*cmp.Or(c.Points, c.Answers()), mostCategories+1); c.Length > 0 {
			size = TextCategories
		}
	}
	want := size
	for q.Form == Permuted && !big.NewInt(want).ProbablyPrime(0) { // exact below 2^64
		want++
	}
	if q.Form != Set && q.Form != Permuted || size < 2 || q.Categories != want ||
		want > mostCategories && (size != TextCategories || q.Form != Permuted) {
		return fmt.Errorf("its reports are of form %q and %d categories, where its columns have %d: expected %q and that "+
			"number, or %q and the next prime, from 2 to %d", q.Form, q.Categories, size, Set, Permuted, mostCategories)
	}
	return q.checkRandomiser(epsilon)
}

// checkRandomiser returns an error if reports say nothing of the answer or cost more than ε: unless
// 1 < p (k−w) / ((1−p) w) ≤ e^ε, with k categories of which w are in a report.
func (q *Question) checkRandomiser(epsilon *big.Rat) error {
	if q.Support < 1 || q.Support >= q.Categories || q.Keep < 1 || q.Keep >= certain {
		return errors.New("its reports hold no or all categories, or never or always the answer")
	}
	ratio := big.NewRat(q.Categories-q.Support, q.Support)
	if ratio.Mul(ratio, big.NewRat(q.Keep, certain-q.Keep)).Cmp(big.NewRat(1, 1)) <= 0 {
		return errors.New("its reports say nothing of the answer")
	}
	if ratio.Cmp(expUp(epsilon)) > 0 {
		return fmt.Errorf("its reports cost more than ε = %s", q.Epsilon)
	}
	return nil
}

// fraction reads an ε. Longer ones would only take time.
func fraction(text string) (*big.Rat, error) {
	if r, ok := new(big.Rat).SetString(text); len(text) <= 100 && len(bytes.Trim([]byte(text), "0123456789/")) == 0 &&
		ok && r.RatString() == text && r.Sign() > 0 && r.Cmp(big.NewRat(mostEpsilon, 1)) <= 0 {
		return r, nil
	}
	return nil, fmt.Errorf("an ε is not an integer or a fraction in lowest terms, above 0 and at most %d", mostEpsilon)
}

// expUp returns a number that is at least e^x and less than e^x (1 + 2^−80), for 0 < x ≤ 10: the first terms of the
// series, and the last of them again, which is more than the sum of all that follow.
func expUp(x *big.Rat) *big.Rat {
	sum, term := big.NewRat(1, 1), big.NewRat(1, 1)
	for i := int64(1); i <= 64; i++ {
		term.Mul(term, x).Mul(term, big.NewRat(1, i))
		sum.Add(sum, term)
	}
	return sum.Add(sum, term)
}
