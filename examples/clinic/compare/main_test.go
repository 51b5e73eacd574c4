package main

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"
)

func TestAUC(t *testing.T) {
	for name, c := range map[string]struct {
		back  []bool
		score []float64
		want  float64
	}{
		"in order":     {[]bool{false, false, true, true}, []float64{1, 2, 3, 4}, 1},
		"upside down":  {[]bool{true, false}, []float64{1, 2}, 0},
		"all equal":    {[]bool{true, false, true}, []float64{2, 2, 2}, .5},
		"some are not": {[]bool{false, true, false, true}, []float64{1, 2, 3, 4}, .75},
		"one is equal": {[]bool{false, true, true}, []float64{1, 1, 2}, .75},
	} {
		r := rows{back: c.back, numbers: map[string][]float64{"x": c.score}}
		if got := r.auc("x"); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestTableAndChart(t *testing.T) {
	all := []result{{"0.5", .65, .6, "0.65 (0.6 to 0.7)"}, {"1", .8, .79, ""}}
	if got := table(all, .8); !strings.Contains(got, strings.Repeat("█", 20)+strings.Repeat("░", 20)+"\n") ||
		!strings.Contains(got, "0.6500           0.6000") || !strings.Contains(got, "truth    0.8000") {
		t.Error(got)
	}
	d := xml.NewDecoder(strings.NewReader(chart(all, .8)))
	for {
		_, err := d.Token()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
