package model

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan/boosting"
)

// smallLabels returns labels of the columns of small shapes.
func smallLabels() (all []Labels) {
	for c, categories := range []int{12, 3, 1} {
		one := Labels{Name: string(rune('a' + c))}
		for k := range categories {
			one.Categories = append(one.Categories, strconv.Itoa(k))
		}
		all = append(all, one)
	}
	return all
}

// publish fits and publishes a small model with pairs.
func publish(t *testing.T, link boosting.Link) (*Additive, *Published, [][]int) {
	t.Helper()
	s := withPairs(smallShape(link))
	rows, _ := smallRows(rand.New(rand.NewPCG(1, 1)), s, 2000)
	m, err := Train(t.Context(), s, &oracle{shape: s, cells: cellsOf(rows)})
	if err != nil {
		t.Fatal(err)
	}
	var classes []string
	if link == boosting.Logit {
		classes = []string{"no", "yes"}
	}
	p, err := m.Publish("target", smallLabels(), classes)
	if err != nil {
		t.Fatal(err)
	}
	return m, p, rows
}

// TestPublishedModelsPredictAlike: a model that was written and read again has the means of the model that was fitted.
func TestPublishedModelsPredictAlike(t *testing.T) {
	for _, link := range links {
		m, p, rows := publish(t, link)
		for i, c := range p.Columns { // the answers are without noise
			tally := make([]int64, len(c.Categories))
			for _, row := range rows {
				tally[row[i]]++
			}
			if !slices.Equal(c.Rows, tally) {
				t.Errorf("%s: column %s has counts %v, want %v", link, c.Name, c.Rows, tally)
			}
		}
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		read, err := Read(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			values := make([]Value, len(read.Inputs))
			for i := range values {
				values[i].Category = row[i]
			}
			got := read.Mean(values)
			// The intercept of link log is rounded to 1/ScoreUnit.
			if want := m.Mean(row[:3]); math.Abs(got-want) > want/boosting.ScoreUnit+1e-12 {
				t.Fatalf("%s: mean %v, want %v", link, got, want)
			}
		}
	}
}

func TestPublishedModelsAreRefused(t *testing.T) {
	_, p, _ := publish(t, boosting.Logit)
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Read(text); err != nil {
		t.Fatal(err)
	}
	for old, changed := range map[string]string{
		`"logit"`:               `"probit"`,
		`["no","yes"]`:          `["no"]`,
		`"most":1`:              `"most":0`,
		`"intercept":`:          `"offset":`,
		`"scores":[`:            `"scores":[0,`,
		`"errors":[0,`:          `"errors":[`,
		`"counts":[`:            `"counts":[0,`,
		`{"target"`:             `[{"target"`,
		`"columns":[`:           `"columns":[{},`,
		`"categories":[`:        `"categories":["",`,
		`["b","a"],"scores":[`:  `["b","d"],"scores":[`,
		`["c","a"],"scores":[`:  `["a","b"],"scores":[`,
		`["b","a"],"scores":[[`: `["b","a"],"scores":[[0,`,
	} {
		if !strings.Contains(string(text), old) {
			t.Errorf("there is no %s", old)
		}
		if _, err := Read([]byte(strings.Replace(string(text), old, changed, 1))); err == nil {
			t.Errorf("%s in place of %s is accepted", changed, old)
		}
	}
	p.Pairs = append(p.Pairs, p.Pairs[0])
	if _, err := p.Predictor(); err == nil {
		t.Error("a pair is accepted twice")
	}
	if _, err := Read(append(text, text...)); err == nil {
		t.Error("two models are accepted")
	}
	m, _, _ := publish(t, boosting.Identity)
	if _, err := m.Publish("target", []Labels{{Name: "a"}}, nil); err == nil {
		t.Error("too few labels are accepted")
	}
}
