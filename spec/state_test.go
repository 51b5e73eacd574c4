package spec

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/spec/files"
)

// No file of a state directory is public, whatever the directory is called. A folder that only resembles one may
// contain public files.
func TestStateDirectoriesHoldNoPublicFiles(t *testing.T) {
	folder, load := opened(t)
	shared := filepath.Join(folder, "..", "..", "shared")
	write := func(path, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700),
			os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(folder, filepath.FromSlash(name)) }
	const plan, payer = "-0123456789abcdef", "-fedcba9876543210"
	const record = `{"key":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=","releases":null}` + "\n"
	for _, c := range []struct {
		marker, text string
		refused      []string
		read         []string
	}{
		{"work/" + files.StateSources, record, []string{"work/areas.csv", "work/deep/areas.csv"}, nil},
		{"drill/" + files.StatePractice, "SQLite format 3\x00", []string{"drill/areas.csv"}, nil},
		{"failed/labour" + plan + payer + "/diagnostics.txt", "",
			[]string{"failed/labour" + plan + payer + "/areas.csv",
				"failed/labour" + plan + payer + "/more/areas.csv"}, nil},
		{"lists/" + files.StateSources, `{"key":"areas","releases":[]}`, nil, []string{"lists/areas.csv"}},
		{"named/labour" + plan + "/x", "", nil, []string{"named/labour" + plan + "/areas.csv"}},
	} {
		write(in(c.marker), c.text)
		for _, path := range c.refused {
			write(in(path), openedAreas)
			if err := load(path, Options{}); err == nil ||
				!strings.Contains(err.Error(),
					"lies in a state directory, in which releases keep what is confidential") {
				t.Errorf("%s beside %s: %v", path, c.marker, err)
			}
		}
		for _, path := range c.read {
			write(in(path), openedAreas)
			if err := load(path, Options{}); err != nil {
				t.Errorf("%s beside %s: %v", path, c.marker, err)
			}
		}
	}
	// Through a link, and in a folder that is named as public, too.
	if err := os.Symlink("work/areas.csv", in("link.csv")); err != nil {
		t.Skip(err)
	}
	write(filepath.Join(shared, files.StateSources), record)
	for _, path := range []string{"link.csv", filepath.Join(shared, "areas.csv")} {
		if err := load(path, Options{Public: []string{shared}}); err == nil ||
			!strings.Contains(err.Error(), "lies in a state directory") {
			t.Errorf("%s: %v", path, err)
		}
	}
}
