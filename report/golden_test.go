package report_test

// This file compares the report with files that people can read.

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/page"
)

var update = flag.Bool("update", false, "write the golden files again")

func TestGolden(t *testing.T) {
	release := reportOf(t, input(report.Official, nil))
	practice := reportOf(t, input(report.Practice, nil))
	levels := reportOf(t, levelsInput())
	microdata := reportOf(t, microdataInput(report.Official, "", 36435, 20.5, 14.25))
	figures := reportOf(t, figuresInput(report.Official, designWeight))
	models := reportOf(t, modelsInput(true))
	for _, f := range []struct {
		name string
		got  []byte
	}{
		{"report.json", release.JSON()},
		{"report.html", []byte(pageOf(t, release))},
		{"report.md", page.Markdown(release)},
		{"README.txt", page.Readme(release)},
		{"practice.html", []byte(pageOf(t, practice))},
		{"practice.txt", page.Readme(practice)},
		{"levels.html", []byte(pageOf(t, levels))},
		{"levels.md", page.Markdown(levels)},
		{"levels.txt", page.Readme(levels)},
		{"microdata.json", microdata.JSON()},
		{"microdata.html", []byte(pageOf(t, microdata))},
		{"microdata.md", page.Markdown(microdata)},
		{"microdata.txt", page.Readme(microdata)},
		{"figures.json", figures.JSON()},
		{"figures.html", []byte(pageOf(t, figures))},
		{"figures.md", page.Markdown(figures)},
		{"figures.txt", page.Readme(figures)},
		{"models.json", models.JSON()},
		{"models.html", []byte(pageOf(t, models))},
		{"models.md", page.Markdown(models)},
		{"models.txt", page.Readme(models)},
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
