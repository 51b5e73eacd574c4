package client_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/dprelease/dprelease/budget/local"
	"github.com/dprelease/dprelease/histogram/respondent/client"
)

const certain = 1 << 48

// column returns a column of so many categories: 0, 1, 2 …
func column(name string, n int) client.Column {
	c := client.Column{Name: name}
	for i := range n {
		c.Categories = append(c.Categories, fmt.Sprint(i))
	}
	return c
}

// numbers returns a column that asks for a number: 0, 1, 2 … below n, rounded to so many points.
func numbers(name string, n int, points int64) client.Column {
	c := column(name, n)
	c.Points = points
	return c
}

// bands returns a column of so many categories: 0, 1, 2 … that is asked in bands.
func bands(name string, n int, width int64) client.Column {
	c := column(name, n)
	c.Width = width
	return c
}

// openText returns a column that asks for the first so many characters of a text.
func openText(name string, length int64) client.Column {
	return client.Column{Name: name, Length: length}
}

// question returns a question with the randomiser that a collector would choose.
func question(t testing.TB, form, epsilon string, columns ...client.Column) client.Question {
	t.Helper()
	k := int64(1)
	for _, c := range columns {
		k *= cmp.Or(c.Points, c.Answers())
	}
	for form == client.Permuted && !big.NewInt(k).ProbablyPrime(0) {
		k++
	}
	e, ok := new(big.Rat).SetString(epsilon)
	if !ok {
		t.Fatalf("ε = %s", epsilon)
	}
	r, err := local.New(e, k)
	if err != nil {
		t.Fatal(err)
	}
	return client.Question{Name: columns[0].Name, Columns: columns, Epsilon: epsilon, Form: form,
		Categories: r.Categories, Support: r.Support, Keep: r.Keep}
}

// collectorOf returns what a collector asks, with equal chances if a device answers one question.
func collectorOf(asks, epsilon string, questions ...client.Question) *client.Collector {
	left := int64(certain)
	for i := range questions {
		if questions[i].Chance = 0; asks == client.One {
			questions[i].Chance = left / int64(len(questions)-i)
			left -= questions[i].Chance
		}
	}
	return &client.Collector{Format: "dprelease.collector/1", Release: "student-drugs-2026", Collection: "answers",
		Epsilon: epsilon, Asks: asks, Questions: questions}
}

// textOf returns the text of a value as JSON.
func textOf(t testing.TB, v any) string {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSpace(b.Bytes()))
}

// read reads a collector's text.
func read(t testing.TB, text string) *client.Collector {
	t.Helper()
	c, err := client.Read([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return c
}

// randomised returns the report that a question draws from bytes, or nil if they do not suffice.
func randomised(q *client.Question, category int64, random []byte) []byte {
	report, err := q.Randomise(nil, category, client.NewBytes(bytes.NewReader(random)))
	if err != nil {
		return nil
	}
	return report
}

// six returns the lowest 48 bits of a number as bytes.
func six(x int64) []byte {
	return []byte{byte(x >> 40), byte(x >> 32), byte(x >> 24), byte(x >> 16), byte(x >> 8), byte(x)}
}

// stream returns random bytes that are the same each time.
func stream(name string, n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8(sha256.Sum256([]byte(name))).Read(b)
	return b
}
