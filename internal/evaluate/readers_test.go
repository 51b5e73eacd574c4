package evaluate

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/diff"
	"github.com/dprelease/dprelease/internal/ending"
	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/publishedtest"
	"github.com/dprelease/dprelease/internal/query"
	"github.com/dprelease/dprelease/internal/release"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/internal/show"
	"github.com/dprelease/dprelease/internal/trace"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/internal/verify"
	"github.com/parquet-go/parquet-go"
)

// readers are all that read a published folder and are no verification.
func readers(t *testing.T, other string) map[string]func(place string) error {
	return map[string]func(string) error{
		"show":       func(place string) error { _, err := published.ReadReport(place); return err },
		"show table": func(place string) error { _, err := show.Open(place, "modes"); return err },
		"show cell": func(place string) error {
			_, err := trace.Cell(t.Context(), place, "modes", []string{"mode=walk"})
			return err
		},
		"query": func(place string) error {
			_, err := query.Query(t.Context(), place, query.Question{By: []string{"mode"}})
			return err
		},
		"diff": func(place string) error {
			_, err := diff.Of(t.Context(), place, other,
				planfile.Read)
			return err
		},
		"diff after": func(place string) error {
			_, err := diff.Of(t.Context(), other, place,
				planfile.Read)
			return err
		},
		"evaluate": func(place string) error {
			e, err := published.Open(place)
			if err == nil {
				_, _, err = publishedResults(e)
			}
			if err == nil {
				table, _, _ := e.Table("modes")
				_, err = countsOf(table)
			}
			return err
		},
	}
}

// refusedBy asserts that a reader refuses a folder for a file, with exit code 5 and in a message that commands no
// terminal.
func refusedBy(t *testing.T, err error, file, says string) {
	t.Helper()
	var altered *published.Altered
	switch {
	case ending.Of(err).Exit != verdict.ExitVerify || !errors.As(err, &altered) || altered.File != file:
		t.Errorf("exit %d, %v; want exit 5 for %q", ending.Of(err).Exit, err, file)
	case !strings.Contains(err.Error(), says) || strings.ContainsFunc(err.Error(), unicode.IsControl):
		t.Errorf("%q, want %q and no control character", err, says)
	}
}

// TestReadersRefuseAnAlteredFolder changes a count behind a manifest that lists what is there, with a signature and
// without, and puts into the folder what the manifest does not list.
func TestReadersRefuseAnAlteredFolder(t *testing.T) {
	o := publishedtest.SignTrips(t)
	all := readers(t, o.Folder)
	for name, read := range all {
		if err := read(o.CopiedFolder(t)); err != nil {
			t.Fatalf("%s of a whole folder: %v", name, err)
		}
	}
	forged := o.CopiedFolder(t)
	const table = "tables/modes.parquet"
	b := withCount(t, o, 123456)
	if err := os.WriteFile(filepath.Join(forged, filepath.FromSlash(table)), b, 0o644); err != nil {
		t.Fatal(err)
	}
	signature, err := os.ReadFile(filepath.Join(forged, published.SignatureFile))
	if err != nil {
		t.Fatal(err)
	}
	for name, read := range all {
		t.Run("not listed/"+name, func(t *testing.T) { refusedBy(t, read(forged), table, "its SHA-256 differs") })
	}
	releasetest.Relist(t, forged, table, b)
	for _, name := range []string{"show table", "show cell", "diff", "diff after", "evaluate"} {
		t.Run("listed and unsigned/"+name, func(t *testing.T) {
			refusedBy(t, all[name](forged), table, "row 1: count is published as 123456, and its unbiased estimate is")
		})
	}
	if err := os.WriteFile(filepath.Join(forged, published.SignatureFile), signature, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, read := range all {
		t.Run("listed and signed/"+name,
			func(t *testing.T) { refusedBy(t, read(forged), published.SignatureFile, "does not fit manifest.json") })
	}
	for what, add := range map[string]func(dir string) (file string, err error){
		"an empty folder": func(dir string) (string, error) {
			const name = "WITHDRAWN - see evil.example"
			return name, os.Mkdir(filepath.Join(dir, name), 0o755)
		},
		"folders in folders": func(dir string) (string, error) {
			return "tables/a", os.MkdirAll(filepath.Join(dir, "tables", "a", "b"), 0o755)
		},
		"a name that commands a terminal": func(dir string) (string, error) {
			const name = "x\x1b[2J\nr verifies."
			return name, os.Mkdir(filepath.Join(dir, name), 0o755)
		},
		"a file": func(dir string) (string, error) {
			return "tables/more.parquet", os.WriteFile(filepath.Join(dir, "tables", "more.parquet"), nil, 0o644)
		},
		"a link to a folder": func(dir string) (string, error) {
			return "latest", os.Symlink(o.Dir, filepath.Join(dir, "latest"))
		},
		"a link to nothing": func(dir string) (string, error) {
			return "latest", os.Symlink("nowhere", filepath.Join(dir, "latest"))
		},
	} {
		t.Run(what, func(t *testing.T) {
			dir := o.CopiedFolder(t)
			file, err := add(dir)
			if errors.Is(err, fs.ErrPermission) || errors.Is(err, errors.ErrUnsupported) ||
				errors.Is(err, fs.ErrInvalid) {
				t.Skipf("not possible here: %v", err)
			} else if err != nil {
				t.Fatal(err)
			}
			for name, read := range all {
				t.Run(name, func(t *testing.T) { refusedBy(t, read(dir), file, "it was added") })
			}
			var found *verify.Unverified
			_, err = verify.Folder(t.Context(), dir, verify.Options{Trust: o.Public})
			if !errors.As(err, &found) || ending.Of(err).Exit != verdict.ExitVerify ||
				found.File != screen.Visible(file, "") || !strings.Contains(found.Says, "it was added") {
				t.Errorf("%v, want %s refused", err, file)
			}
			t.Run("publish again", func(t *testing.T) {
				again := filepath.Join(publishedtest.SignedOptions(o).Out, "trips", file)
				if _, err := add(filepath.Dir(filepath.Join(publishedtest.SignedOptions(o).Out, "trips",
					"x"))); err != nil {
					t.Fatal(err)
				}
				defer os.RemoveAll(again)
				_, err := release.Publish(t.Context(), release.MeasuredFolder(publishedtest.SignedOptions(o).Out,
					"trips"),
					publishedtest.SignedOptions(o))
				refusedBy(t, err, file, "")
			})
		})
	}
}

// TestAFileIsHashedWhenItIsRead changes a file between the opening of a folder and the reading, as in a folder that is
// too large to be hashed whole.
func TestAFileIsHashedWhenItIsRead(t *testing.T) {
	o := publishedtest.SignTrips(t)
	dir := o.CopiedFolder(t)
	e, err := published.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tables/modes.parquet", published.ReportFile} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		b, err := e.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		b[len(b)/2] ^= 1
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err = e.Read(name)
		refusedBy(t, err, name, "its SHA-256 differs")
	}
	_, err = e.Read("tables/none.parquet")
	refusedBy(t, err, "tables/none.parquet", "is not listed")
}

// TestAFolderOfAnotherStatusIsRefused calls practice a release, in a manifest that fits all files.
func TestAFolderOfAnotherStatusIsRefused(t *testing.T) {
	o := releasetest.Trips(t)
	practice := publishedtest.Options(o, "practice")
	practice.Ledger = ""
	result, err := release.Run(t.Context(), o.Plan, practice)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(result.Folder, published.ManifestFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	official := strings.Replace(string(text), published.PracticeStatus, "RELEASE", 1)
	if err := os.WriteFile(path, []byte(official), 0o644); err != nil {
		t.Fatal(err)
	}
	const otherDebit = "is of another release, plan, status or entry of the ledger than manifest.json"
	for name, c := range map[string]struct{ file, says string }{
		"show":       {published.ReportFile, "is of another release, plan or status than manifest.json"},
		"show table": {published.ProofFile, otherDebit},
		"query":      {published.ProofFile, otherDebit},
	} {
		t.Run(name, func(t *testing.T) { refusedBy(t, readers(t, result.Folder)[name](result.Folder), c.file, c.says) })
	}

	// With an unsigned record of an official debit, each file that is read is compared with the manifest.
	r := releasetest.Record(t, result.Folder)
	r.Status = ledger.Official
	r.Proof.Body = strings.Replace(r.Proof.Body, `"status":"practice"`, `"status":"release"`, 1)
	releasetest.Rehashed(t, &r)
	record, err := published.EncodeRecord(r)
	if err == nil {
		err = os.WriteFile(filepath.Join(result.Folder, published.ProofFile), record, 0o644)
	}
	if err == nil {
		text, err = os.ReadFile(path)
	}
	if err == nil {
		head := regexp.MustCompile(`"ledger_head": "[0-9a-f]*"`)
		err = os.WriteFile(path, head.ReplaceAll(text, []byte(`"ledger_head": "`+r.Proof.Hash+`"`)), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	releasetest.Relist(t, result.Folder, published.ProofFile, record)
	for name, file := range map[string]string{"show table": "tables/modes.parquet",
		"query": "measurements/modes.parquet"} {
		t.Run(name+", debited", func(t *testing.T) {
			refusedBy(t, readers(t, result.Folder)[name](result.Folder), file,
				`is marked "PRACTICE, NOT A RELEASE", and manifest.json "RELEASE"`)
		})
	}
}

// TestADamagedTableIsRefused changes single bytes of a table, behind a manifest that lists what is there: every reader
// returns, and none with a panic.
func TestADamagedTableIsRefused(t *testing.T) {
	o := publishedtest.SignTrips(t)
	dir := o.CopiedFolder(t)
	const table = "tables/modes.parquet"
	whole, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(table)))
	if err != nil {
		t.Fatal(err)
	}
	draw := rand.New(rand.NewPCG(5, 27))
	refusals := 0
	for range 200 {
		b := slices.Clone(whole)
		at := draw.IntN(len(b))
		b[at] ^= byte(1 + draw.IntN(255))
		releasetest.Relist(t, dir, table, b)
		sheet, err := show.Open(dir, "modes")
		if err == nil {
			err = errors.Join(sheet.CSV(io.Discard, ""), sheet.JSON(io.Discard),
				sheet.Write(io.Discard, screen.Look{}, true))
		}
		_, traced := trace.Cell(t.Context(), dir, "modes", []string{"mode=walk"})
		if errors.Join(err, traced) != nil {
			refusals++
		}
	}
	if refusals < 100 {
		t.Errorf("%d of 200 damaged tables are refused", refusals)
	}
}

// withCount is the table modes of the release with another first count.
func withCount(t *testing.T, o releasetest.Signed, count int64) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(o.Folder, "tables", "modes.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	return releasetest.Altered(t, b, func(row int, r parquet.Row) {
		if row == 0 {
			r[1] = parquet.Int64Value(count).Level(0, 0, 1)
		}
	})
}
