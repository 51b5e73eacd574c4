package report_test

// This file holds the report against files that people can read.

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dprelease/dprelease/report"
)

var update = flag.Bool("update", false, "write the golden files again")

func TestGolden(t *testing.T) {
	release := reportOf(t, input(report.Official, nil))
	practice := reportOf(t, input(report.Practice, nil))
	levels := reportOf(t, levelsInput())
	microdata := reportOf(t, microdataInput(report.Official, "", 54470, 20.5, 14.25))
	figures := reportOf(t, figuresInput(report.Official, designWeight))
	for _, f := range []struct {
		name string
		got  []byte
	}{
		{"report.json", release.JSON()},
		{"report.html", []byte(pageOf(t, release))},
		{"report.md", release.Markdown()},
		{"README.txt", release.Readme()},
		{"practice.html", []byte(pageOf(t, practice))},
		{"practice.txt", practice.Readme()},
		{"levels.html", []byte(pageOf(t, levels))},
		{"levels.md", levels.Markdown()},
		{"levels.txt", levels.Readme()},
		{"microdata.json", microdata.JSON()},
		{"microdata.html", []byte(pageOf(t, microdata))},
		{"microdata.md", microdata.Markdown()},
		{"microdata.txt", microdata.Readme()},
		{"figures.json", figures.JSON()},
		{"figures.html", []byte(pageOf(t, figures))},
		{"figures.md", figures.Markdown()},
		{"figures.txt", figures.Readme()},
	} {
		t.Run(f.name, func(t *testing.T) {
			path := filepath.Join("testdata", f.name)
			if *update {
				if err := os.WriteFile(path, f.got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(f.got, want) {
				t.Errorf("run with -update if this is meant (-want +got):\n%s", cmp.Diff(string(want), string(f.got)))
			}
		})
	}
}
