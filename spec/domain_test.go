package spec

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/spec/domain"
	"github.com/google/go-cmp/cmp"
)

// column parses one column, written as in a spec, of a table with no other column.
func column(t testing.TB, text string, files map[string]string) *Column {
	t.Helper()
	c, err := tryColumn(text, files)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func tryColumn(text string, files map[string]string) (*Column, error) {
	r, err := releaseOfColumn(text, files)
	if err != nil {
		return nil, err
	}
	return r.Tables[0].Columns[0], nil
}

// releaseOfColumn reads a release whose one table has one column.
func releaseOfColumn(text string, files map[string]string) (*Release, error) {
	return Parse(Source{Name: "release.yaml", Files: files, Text: `version: 1
release: x
privacy: {protects: trip, neighbours: add-remove}
budget: {epsilon: 1}
tables:
  t:
    source: {parquet: t.parquet}
    unit: row
    columns:
      x: ` + text + `
marginals:
  total: {by: []}
`})
}

func TestPoliciesNameCategories(t *testing.T) {
	c := column(t, "{values: [a, b, c], unknown: {as: c}, null: drop}", nil)
	if c.Unknown != (Policy{As, 2}) || c.Null != (Policy{Action: Drop}) {
		t.Errorf("unknown %v, null %v", c.Unknown, c.Null)
	}
	c = column(t, "{type: integer, range: [0, 3], unknown: {as: odd}, null: {as: none}}", nil)
	if c.Unknown != (Policy{As, 4}) || c.Null != (Policy{As, 5}) {
		t.Errorf("unknown %v, null %v", c.Unknown, c.Null)
	}
	c = column(t, "{values: {integers: [1, 3]}, unknown: {as: 3}}", nil)
	if c.Unknown != (Policy{As, 2}) || c.Null != (Policy{}) {
		t.Errorf("unknown %v, null %v", c.Unknown, c.Null)
	}
}

func TestCodebookLevels(t *testing.T) {
	book := "\ufeffplace,label,state,state_label,nation\n" +
		"003,Three,s2,South,n\n001,One,s1,North,n\n\"002\",\"Two, or so\",s2,South,n\n"
	files := map[string]string{"r.csv": book}
	r, err := releaseOfColumn("{codebook: r.csv, levels: [nation, state, district]}", files)
	if err != nil {
		t.Fatal(err)
	}
	d := r.Tables[0].Columns[0].Domain
	if got := fmt.Sprint(d.Categories()); got != "[{003 } {001 } {002 }]" {
		t.Errorf("finest %s", got)
	}
	state, _ := d.Level("state")
	if got := fmt.Sprint(state.Categories, state.CategoryOf); got != "[{s2 } {s1 }] [0 1 0]" {
		t.Errorf("state %s", got)
	}
	codes := map[string]string{"003": "Three", "001": "One", "002": "Two, or so"}
	labels := map[string]map[string]string{"x": codes, "x.district": codes, "x.state": {"s1": "North", "s2": "South"}}
	if diff := cmp.Diff(labels, r.Words.Labels["t"]); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	district, ok := d.Level("district")
	if !ok || district.CategoryOf != nil || district.Size() != 3 {
		t.Errorf("district %v", district)
	}
	for _, levels := range []string{"[state, place]", "[state, code]", "[state]", "[place]"} {
		column(t, "{codebook: r.csv, levels: "+levels+"}", files)
	}
	if names := column(t, "{codebook: r.csv}", files).Domain.LevelNames(); len(names) != 0 {
		t.Errorf("levels %v without being named", names)
	}
}

func TestLargeDomains(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a few hundred megabytes")
	}
	d := column(t, "{type: integer, range: [1, 1000000], levels: {l: {width: 1000}}}", nil).Domain
	if code, fit := d.CodeOfInt(1_000_000); d.Size() != 1_000_000 || code != 999_999 || fit != domain.Fits {
		t.Errorf("size %d, code %d, %v", d.Size(), code, fit)
	}
	for _, text := range []string{
		"{type: integer, range: [0, 16777216], levels: {l: {width: 1000}}}",
		"{type: decimal, range: [0, 1e15], step: 0.001, levels: {l: {width: 1e14}}}",
		"{type: timestamp, range: [0001-01-01T00:00:00, 9999-12-31T23:59:59], levels: {l: {width: second}}}",
	} {
		if _, err := tryColumn(text, nil); err == nil || !strings.Contains(err.Error(), "more than 16777216 cells") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestDomainsOfAReleaseAreBoundedTogether(t *testing.T) {
	var levels []string
	for i := range 30 {
		levels = append(levels, fmt.Sprintf("l%d: {width: 1}", i))
	}
	_, err := tryColumn("{type: integer, range: [1, 16000000], levels: {"+strings.Join(levels, ", ")+"}}", nil)
	if err == nil || !strings.Contains(err.Error(), "cells and categories together") {
		t.Errorf("got %v", err)
	}
}
