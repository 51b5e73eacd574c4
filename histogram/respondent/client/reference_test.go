package client_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/histogram/respondent/client"
)

// This file follows protocol.md once more, word by word and slowly, to check the client and to make its vectors.

// reference is a stream of bytes, of which it counts how many are used.
type reference struct {
	bytes []byte
	used  int
}

// number takes n bytes as a big-endian integer.
func (r *reference) number(n int) *big.Int {
	r.used += n
	return new(big.Int).SetBytes(r.bytes[r.used-n : r.used])
}

// uniform is a number below n.
func (r *reference) uniform(n int64) int64 {
	bits := uint(0)
	for 1<<bits < n {
		bits++
	}
	for {
		x := new(big.Int).Rem(r.number(int(bits+7)/8), new(big.Int).Lsh(big.NewInt(1), bits)).Int64()
		if x < n {
			return x
		}
	}
}

// respond returns the reports of a device without a memo.
func (r *reference) respond(c *client.Collector, answers map[string]string) (reports []client.Report) {
	token, drawn := r.number(16).FillBytes(make([]byte, 16)), -1
	if c.Asks == "one" {
		x, sum := r.number(6), new(big.Int)
		for drawn = 0; sum.Add(sum, big.NewInt(c.Questions[drawn].Chance)).Cmp(x) <= 0; drawn++ {
		}
	}
	for i, q := range c.Questions {
		if c.Asks == "all" || drawn == i {
			reports = append(reports, client.Report{Collector: c.ID(), Token: token, Question: q.Name,
				Bytes: r.report(q, answerOf(q, answers))})
		}
	}
	return reports
}

// answerOf is the index of the answers.
func answerOf(q client.Question, answers map[string]string) int64 {
	answer, size := 0, 1
	for _, c := range slices.Backward(q.Columns) {
		if c.Length > 0 {
			return hashed(q.Name, answers[c.Name], int(c.Length))
		}
		at, n := slices.Index(c.Categories, answers[c.Name]), len(c.Categories)
		if c.Width > 0 {
			at, n = at/int(c.Width), len(slices.Collect(slices.Chunk(c.Categories, int(c.Width))))
		}
		answer += size * at
		size *= n
	}
	return int64(answer)
}

// hashed is the category of a text.
func hashed(question, text string, length int) int64 {
	characters := strings.Split(text, "")
	hash := sha256.Sum256([]byte(question + "\x00" + strings.Join(characters[:min(length, len(characters))], "")))
	x := new(big.Int).SetBytes(hash[:8])
	return x.Rsh(x, 1).Mod(x, big.NewInt(1<<31-1)).Int64()
}

// rounded is the category of an answer to a question whose last column has points.
func (r *reference) rounded(c client.Column, answer int64) int64 {
	n := int64(len(c.Categories))
	t := answer % n * (c.Points - 1)
	point := t / (n - 1)
	if r.uniform(n-1) < t%(n-1) {
		point++
	}
	return answer/n*c.Points + point
}

// report is the report of an answer.
func (r *reference) report(q client.Question, v int64) []byte {
	if last := q.Columns[len(q.Columns)-1]; last.Points > 0 {
		v = r.rounded(last, v)
	}
	kept := r.number(6).Cmp(big.NewInt(q.Keep)) < 0
	if q.Form == "set" {
		return r.set(q, v, kept)
	}
	a, t := 1+r.uniform(q.Categories-1), int64(0)
	if kept {
		t = r.uniform(q.Support)
	} else {
		t = q.Support + r.uniform(q.Categories-q.Support)
	}
	b := new(big.Int).Sub(big.NewInt(t), new(big.Int).Mul(big.NewInt(a), big.NewInt(v)))
	b.Mod(b, big.NewInt(q.Categories))
	return append(big.NewInt(a).FillBytes(make([]byte, 4)), b.FillBytes(make([]byte, 4))...)
}

func (r *reference) set(q client.Question, v int64, kept bool) []byte {
	set := map[int64]bool{}
	if kept {
		set[v] = true
	}
	for int64(len(set)) < q.Support {
		if u := r.uniform(q.Categories); u != v {
			set[u] = true
		}
	}
	report := make([]byte, (q.Categories+7)/8)
	for u := range set {
		report[u/8] |= 1 << (u % 8)
	}
	return report
}

// TestReferenceAgrees compares the client with the reference on random bytes.
func TestReferenceAgrees(t *testing.T) {
	for name, text := range vectorCollectors(t) {
		c := read(t, text)
		for i := range 100 {
			random := stream(fmt.Sprint("agrees", name, i), 4096)
			answers := map[string]string{}
			for _, q := range c.Questions {
				for j, column := range q.Columns {
					if answers[column.Name] = fmt.Sprintf("wörd %d", i*i*7); column.Length == 0 {
						answers[column.Name] = column.Categories[(i*7+j)%len(column.Categories)]
					}
				}
			}
			r := &reference{bytes: random}
			want := r.respond(c, answers)
			got, err := c.Respond(answers, new(client.Memo), bytes.NewReader(random[:r.used]))
			if err != nil || textOf(t, got) != textOf(t, want) {
				t.Fatalf("%s: %s, want %s: %v", name, textOf(t, got), textOf(t, want), err)
			}
		}
	}
}
