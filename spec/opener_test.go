package spec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/spec/files"
)

// openedSpec joins a table to a public table, whose path is %s.
const openedSpec = `version: 1
release: opened
privacy: {protects: person, neighbours: add-remove}
budget: {epsilon: 1}
params: {year: {pattern: '[0-9]{4}'}}
tables:
  persons:
    source: {csv: ["data/persons-${year}-*.csv"]}
    unit: {id: id, max_rows: 1}
    join: {areas: {csv: "%s", on: area, public: true}}
    columns: {size: {from: areas.size, values: [small, large]}}
  trips:
    source: {csv: trips.csv}
    unit: {id: id, max_rows: 1}
    columns: {mode: {values: [walk, ride]}}
marginals: {sizes: {table: persons, by: [size]}, modes: {table: trips, by: [mode]}}
`

const openedAreas = "area,size\n1,small\n2,large\n"

// opened returns the folder of a spec that names a public file, with confidential files in it and a folder next to it.
func opened(t *testing.T) (folder string, load func(public string, o Options) error) {
	t.Helper()
	root := t.TempDir()
	folder = filepath.Join(root, "office", "spec")
	for name, text := range map[string]string{
		"office/spec/areas.csv": openedAreas, "office/spec/codes/areas.csv": openedAreas,
		"office/spec/data/persons-2026-1.csv": "id,area\n1,1\n",
		"office/spec/data/persons-2026-2.csv": "id,area\n2,2\n",
		"office/spec/trips.csv":               "id,mode\n1,walk\n", "office/areas.csv": openedAreas,
		"shared/areas.csv":                       openedAreas,
		"office/spec/.dprelease/diagnostics.txt": openedAreas,
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755),
			os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return folder, func(public string, o Options) error {
		path := filepath.Join(folder, "release.yaml")
		if err := os.WriteFile(path, fmt.Appendf(nil, openedSpec, public), 0o600); err != nil {
			t.Fatal(err)
		}
		o.Params = map[string]string{"year": "2026"}
		_, err := Load(t.Context(), path, o)
		return err
	}
}

// A public file is in the spec's folder or in a folder named as public, whatever links lead to it, and is never a
// source.
func TestPublicFilesAreConfined(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links and permissions are others on Windows")
	}
	folder, load := opened(t)
	in := func(name string) string { return filepath.Join(folder, filepath.FromSlash(name)) }
	shared := filepath.Join(folder, "..", "..", "shared")
	for link, target := range map[string]string{
		"within.csv": "codes/areas.csv", "outside.csv": "../areas.csv", "person.csv": "data/persons-2026-2.csv",
		"again.csv": "person.csv",
		"codes/up":  "../..", "round": shared,
	} {
		if err := os.Symlink(target, in(link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(in("trips.csv"), in("hard.csv")); err != nil {
		t.Fatal(err)
	}
	private := filepath.Join(shared, "private.csv")
	if err := os.WriteFile(private, []byte(openedAreas), 0o600); err != nil {
		t.Fatal(err)
	}
	holes, err := os.Create(in("huge.csv"))
	if err == nil {
		err = errors.Join(os.MkdirAll(in("work"), 0o700), os.WriteFile(in("work/practice.db"), nil, 0o600),
			os.WriteFile(in("work/areas.csv"), []byte(openedAreas), 0o600))
	}
	if err == nil {
		err = errors.Join(holes.Truncate(1<<30+1), holes.Close(),
			os.WriteFile(in("key.csv"), []byte("area,size\n1,-----BEGIN PRIVATE KEY-----\n"), 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
	public := Options{Public: []string{shared}}
	var said strings.Builder
	for _, c := range []struct {
		public  string
		options Options
		want    string // "" if it is read
	}{
		{"areas.csv", Options{}, ""},
		{"codes/areas.csv", Options{}, ""},
		{"within.csv", Options{}, ""},
		{in("areas.csv"), Options{}, ""},
		{"../spec/areas.csv", Options{}, ""},
		{"../../shared/areas.csv", public, ""},
		{"round/areas.csv", public, ""},
		{"../areas.csv", Options{}, "lies outside the folder of the spec"},
		{"../areas.csv", public, "lies outside the folder of the spec"},
		{filepath.Join(shared, "areas.csv"), Options{}, "lies outside the folder of the spec"},
		{"outside.csv", Options{}, "is a link that leads out of the folder of the spec"},
		{"codes/up/areas.csv", Options{}, "is a link that leads out of the folder of the spec"},
		{"round/areas.csv", Options{}, "is a link that leads out of the folder of the spec"},
		{"../../shared/private.csv", public, "may be read by its owner alone, and lies outside the folder of the spec"},
		{"data/persons-2026-1.csv", Options{}, "is a confidential source: table persons is read from it"},
		{"data/persons-${year}-2.csv", Options{}, "is a confidential source: table persons is read from it"},
		{"./data/../data/persons-2026-2.csv", Options{}, "is a confidential source: table persons is read from it"},
		{"person.csv", Options{}, "is a confidential source: table persons is read from it"},
		{"again.csv", Options{}, "is a confidential source: table persons is read from it"},
		{"hard.csv", Options{}, "is a confidential source: table trips is read from it"},
		{"hard.csv", Options{Data: in("data")}, "no column \"area\""}, // sources start from another folder
		{"persons-2026-1.csv", Options{Data: in("data")}, "there is no such file"},
		{".dprelease/diagnostics.txt", Options{}, "is hidden, as confidential state and keys are"},
		{"work/areas.csv", Options{}, "lies in a state directory"},
		{"/dev/zero", Options{}, "is not a regular file"},
		{"codes", Options{}, "is not a regular file"},
		{"huge.csv", Options{}, "holds more than 1 GiB"},
		{"key.csv", Options{}, "holds a private key"},
	} {
		err := load(c.public, c.options)
		if err != nil && c.options.Data == "" && !strings.Contains(c.public, folder) &&
			!strings.Contains(c.public, shared) {
			said.WriteString("# " + c.public + "\n" + err.Error() + "\n\n")
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s with %+v: got %v, want %q", c.public, c.options, err, c.want)
		}
	}
	unclosed := strings.Replace(openedSpec, "csv: trips.csv", "csv: 'trips[.csv'", 1)
	if err := os.WriteFile(in("release.yaml"), fmt.Appendf(nil, unclosed, "areas.csv"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Load(t.Context(), in("release.yaml"), Options{Params: map[string]string{"year": "2026"}})
	if err == nil {
		t.Fatal("a source whose files cannot be known is passed over")
	}
	compareGolden(t, filepath.Join("testdata", "opened.txt"), said.String()+"# trips[.csv\n"+err.Error()+"\n")
}

// Paths from a working directory that was reached by a link mean the files that the system means.
func TestPublicFilesFromAFolderBehindALink(t *testing.T) {
	folder, load := opened(t)
	if err := load("../../shared/areas.csv",
		Options{Public: []string{filepath.Join(folder, "..", "..", "shared")}}); err != nil {
		t.Fatal(err)
	}
	elsewhere := t.TempDir()
	if err := os.Symlink(folder, filepath.Join(elsewhere, "link")); err != nil {
		t.Skip("no links: ", err)
	}
	t.Chdir(filepath.Join(elsewhere, "link"))
	o := Options{Params: map[string]string{"year": "2026"}, Public: []string{"../../shared"}}
	if _, err := Load(t.Context(), "release.yaml", o); err != nil {
		t.Errorf("a folder named from there: %v", err)
	}
	o.Public = []string{filepath.Join(elsewhere, "link")}
	if _, err := Load(t.Context(), "release.yaml", o); err == nil || !strings.Contains(err.Error(), "lies outside") {
		t.Errorf("a folder that the file is not in: %v", err)
	}
}

// If a spec has a mistake in its sources, no public file is opened: the file could be a source, and no line of it may
// be shown.
func TestNoPublicFileIsOpenedBeforeTheSourcesAreKnown(t *testing.T) {
	folder, _ := opened(t)
	const secret = "KANARIE"
	if err := os.WriteFile(filepath.Join(folder, "trips.csv"), []byte("id,mode\n1,walk\n1,"+secret+"\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(fmt.Sprintf(openedSpec, "trips.csv"), "on: area", "on: id")
	for _, c := range []struct{ old, new string }{
		{"source: {csv: trips.csv}", "source: {csv: trips.csv, delimeter: ';'}"},
		{"source: {csv: trips.csv}", "source: {csv: '${table}'}"},
		{"source: {csv: trips.csv}", "source: {csv: '${other}.csv'}"},
		{"params: {year:", "params: {other: {pattern: '.*'}, year:"},
		{"  trips:\n", "  trips of a day!:\n"},
		{"source: {csv: trips.csv}\n    unit: {id: id, max_rows: 1}", "source: {csv: trips.csv}\n    unit: public"},
		{"source: {csv: trips.csv}", "source: trips.csv"},
		{"source: {csv: trips.csv}", "source: {csv: 'trips[.csv'}"},
	} {
		path := filepath.Join(folder, "release.yaml")
		if err := os.WriteFile(path, []byte(strings.Replace(text, c.old, c.new, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Load(t.Context(), path, Options{Params: map[string]string{"year": "2026"}})
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", c.new, err)
		}
	}
}

// A plan records the digest of the content of a file that it contains whole, and one or two digests for an extract. The
// planner writes nothing else.
func TestDigestsThatWereEditedAreNotThePlanners(t *testing.T) {
	src := Source{
		Text: `version: 1
release: noted
privacy: {protects: person, neighbours: add-remove}
budget: {epsilon: 1}
tables:
  persons: {source: {csv: c.csv}, unit: row, join: {p: {csv: p.csv, on: area, public: true}}, columns: {a: {codebook: b.csv}, s: {from: p.size, values: [small, large]}}}
marginals: {m: {by: [a, s]}}
`,
		Files: map[string]string{"p.csv": openedAreas, "b.csv": "code\n1\n2\n"},
	}
	honest, err := Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	zeros := files.Digest{SHA256: strings.Repeat("0", 64)}
	for file, edits := range map[string][][]files.Digest{
		"b.csv": {nil, {}, {zeros}, {files.DigestText("code\n1\n2\n"), zeros}},
		"p.csv": {nil, {}, {zeros, zeros, zeros}, {{SHA256: "no"}}, {{Size: -1, SHA256: zeros.SHA256}}},
	} {
		for _, edit := range edits {
			src.Digests = map[string][]files.Digest{"p.csv": honest.Source.Digests["p.csv"],
				"b.csv": honest.Source.Digests["b.csv"]}
			src.Digests[file] = edit
			r, err := Parse(src)
			if err != nil {
				t.Fatal(err)
			}
			assertEqual(t, honest, r)
		}
	}
	src.Files["b.csv"] = "code\n-----BEGIN PRIVATE KEY-----\n"
	if _, err := Parse(src); err == nil || !strings.Contains(err.Error(), "holds a private key") {
		t.Errorf("a plan that holds a key: %v", err)
	}
}

// Private keys are refused in every kind of file, and no line of them is shown.
func TestPrivateKeysAreRefused(t *testing.T) {
	folder, load := opened(t)
	const secret = "c2VjcmV0IG9mIHRoZSBvZmZpY2U"
	for _, text := range []string{
		"-----BEGIN PRIVATE KEY-----\n" + secret + "\n-----END PRIVATE KEY-----\n",
		"area,size\n1,small\n-----BEGIN ENCRYPTED PRIVATE KEY-----\n" + secret,
		"-----BEGIN RSA PRIVATE KEY-----\n" + secret, "-----BEGIN EC PRIVATE KEY-----\n" + secret,
		"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n" + secret, "area,size\n1,b3BlbnNzaC1rZXktdjE" + secret,
		"-----BEGIN OPENSSH PRIVATE KEY-----\n" + secret, "-----BEGIN PGP PRIVATE KEY BLOCK-----\n" + secret,
		"AGE-SECRET-KEY-1" + secret, "PuTTY-User-Key-File-3: ssh-ed25519\n" + secret,
		"untrusted comment: minisign encrypted secret key\n" + secret,
		"area,size\n1,MC4CAQAwBQYDK2VwBCIE" + secret,
		`{"private_key": "-----BEGIN PRIVATE KEY-----\n` + secret + `"}`,
	} {
		if err := os.WriteFile(filepath.Join(folder, "areas.csv"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := load("areas.csv", Options{}); err == nil || !strings.Contains(err.Error(), "holds a private key") ||
			strings.Contains(err.Error(), secret) {
			t.Errorf("%.40q: got %v", text, err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "areas.csv"), []byte("area,size\n1,small\nPRIVATE KEY,large\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	if err := load("areas.csv", Options{}); err != nil {
		t.Errorf("words about keys: %v", err)
	}
}

// A spec that is too large, or that is not a regular file, is not read.
func TestSpecsAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "huge.yaml")
	f, err := os.Create(path)
	if err == nil {
		err = errors.Join(f.Truncate(mostSpec+1), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Load(t.Context(), path, Options{}); err == nil ||
		!strings.Contains(err.Error(), "holds more than 8 MiB") {
		t.Errorf("got %v", err)
	}
	if _, err := Load(t.Context(), os.DevNull, Options{}); err == nil ||
		!strings.Contains(err.Error(), "is not a regular file") {
		t.Errorf("a device: %v", err)
	}
}

// Reading stops with the error of a context that has ended, whatever other problems there are.
func TestReadingEndsWithItsContext(t *testing.T) {
	folder, load := opened(t)
	if err := load("areas.csv", Options{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Load(ctx, filepath.Join(folder, "release.yaml"), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	d := files.OnDisk(ctx, folder, nil, folder, nil)
	if _, err := d.Text("areas.csv", 100); !errors.Is(err, context.Canceled) {
		t.Errorf("a public file: %v", err)
	}
}

// A public file whose rows are units gives a warning: its rows are published with the plan.
func TestPublicFilesOfUnitsAreWarnedOf(t *testing.T) {
	for columns, want := range map[string]bool{
		"join: {p: {csv: p.csv, on: id, public: true}}, columns: {a: {from: p.size, values: [small, large]}}":   true,
		"columns: {a: {from: id, codebook: p.csv}}":                                                             true,
		"join: {p: {csv: p.csv, on: area, public: true}}, columns: {a: {from: p.size, values: [small, large]}}": false,
		"columns: {a: {from: area, codebook: p.csv}}":                                                           false,
	} {
		r, err := Parse(Source{
			Text: `version: 1
release: warned
privacy: {protects: person, neighbours: add-remove}
budget: {epsilon: 1}
tables: {persons: {source: {csv: c.csv}, unit: {id: id, max_rows: 1}, ` + columns + `}}
marginals: {m: {by: [a]}}
`,
			Files: map[string]string{"p.csv": map[bool]string{true: "id,size\n1,small\n2,large\n",
				false: openedAreas}[want]},
		})
		if err != nil {
			t.Errorf("%s: %v", columns, err)
			continue
		}
		if warned := len(r.Warnings) == 1 &&
			strings.Contains(r.Warnings[0].Message,
				"has a row for each person, by id: these rows are published with the plan"); warned != want || !want &&
			len(r.Warnings) > 0 {
			t.Errorf("%s: warnings %+v", columns, r.Warnings)
		}
	}
}
