package spec

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/spec/files"
)

// writeBase writes the base and its code book into a folder and returns the spec's path.
func writeBase(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range map[string]string{"release.yaml": base, "regions.csv": regions} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(folder, "release.yaml")
}

func TestParseOfALoadedSourceIsTheSameRelease(t *testing.T) {
	loaded, err := Load(t.Context(), writeBase(t), Options{Params: map[string]string{"quarter": "2026q1"}})
	if err != nil {
		t.Fatal(err)
	}
	if loaded.Name != "survey-2026q1" || loaded.About.Title != "Survey 2026q1" ||
		loaded.Tables[0].Source.Paths[0] != "data/2026q1-*.csv" {
		t.Errorf("parameters are not filled in: %+v", loaded)
	}
	if len(loaded.Source.Files) != 1 || loaded.Source.Files["regions.csv"] != "code,state\n01,s1\n02,s1\n1,s2\n" {
		t.Errorf("code books %v", loaded.Source.Files)
	}
	assertReadAgain(t, loaded)
}

func TestLoadSaysWhatIsMissing(t *testing.T) {
	path := writeBase(t)
	if err := os.Remove(filepath.Join(filepath.Dir(path), "regions.csv")); err != nil {
		t.Fatal(err)
	}
	_, err := Load(t.Context(), path, Options{Params: map[string]string{"quarter": "2026q1"}})
	if err == nil || !strings.Contains(err.Error(),
		`release.yaml:18:39: tables.persons.columns.region.codebook: code book "regions.csv" cannot be read: there is no such file`) {
		t.Errorf("got %v", err)
	}
	if _, err := Load(t.Context(), path+".not", Options{}); err == nil {
		t.Error("a spec that is not there was loaded")
	}
}

func TestReleaseHoldsHowItIsGoverned(t *testing.T) {
	r, err := Parse(governedSource())
	if err != nil {
		t.Fatal(err)
	}
	if r.Name != "survey-2026q1" || r.Corrects != "survey-2026q1-v1" {
		t.Errorf("%s corrects %s", r.Name, r.Corrects)
	}
	if p := r.Privacy; p.Account != "survey" || strings.Join(p.FurtherAccounts, " ") != "register" ||
		p.Resume != Never {
		t.Errorf("privacy %+v", p)
	}
	e := r.Tables[0].Expect
	if e == nil || e.Rows == nil || *e.Rows != (RowRange{10, 20}) ||
		fmt.Sprint(e.Every) != "[region.state age age.band]" {
		t.Errorf("expect %+v", e)
	}
	for from, c := range map[string]struct {
		to   string
		want *RowRange
	}{"rows: [10, 20]": {"rows: [0, 0]", &RowRange{}}, "rows: [10, 20], ": {"", nil}} {
		src := governedSource()
		src.Text = strings.Replace(governed, from, c.to, 1)
		r, err := Parse(src)
		if err != nil {
			t.Fatal(err)
		}
		if rows := r.Tables[0].Expect.Rows; !reflect.DeepEqual(rows, c.want) {
			t.Errorf("%q: rows %v", c.to, rows)
		}
	}
	if r, err := Parse(baseSource()); err != nil || r.Corrects != "" || r.Privacy.FurtherAccounts != nil ||
		r.Privacy.Resume != "" ||
		r.Tables[0].Expect != nil {
		t.Errorf("a release that says nothing of it: %+v, %v", r, err)
	}
}

// A list of one account is the same as the account by itself.
func TestOneAccountInAList(t *testing.T) {
	src := baseSource()
	src.Text = strings.Replace(base, "account: survey", "account: [survey]", 1)
	r, err := Parse(src)
	if err != nil || r.Privacy.Account != "survey" || r.Privacy.FurtherAccounts != nil {
		t.Errorf("%+v, %v", r, err)
	}
}

// The cells that the spec declares exclude those that unknown and null add to a range.
func TestDeclaredCells(t *testing.T) {
	r, err := Parse(baseSource())
	if err != nil {
		t.Fatal(err)
	}
	for column, want := range map[string][2]int{"age": {111, 112}, "sex": {2, 2}, "hour": {24, 24}, "region": {3, 3},
		"price": {4, 4}} {
		d := r.Tables[0].Column(column).Domain
		if d.Declared() != want[0] || d.Size() != want[1] {
			t.Errorf("%s: %d cells are declared of %d", column, d.Declared(), d.Size())
		}
	}
	if book := r.Tables[0].Column("region").Codebook; book != "regions.csv" ||
		r.Tables[0].Column("sex").Codebook != "" {
		t.Errorf("code book %q", book)
	}
}

func TestReleaseHoldsWhatTheSpecSays(t *testing.T) {
	r, err := Parse(baseSource())
	if err != nil {
		t.Fatal(err)
	}
	if want := (Privacy{Protects: "person", Neighbours: AddRemove, Account: "survey"}); !reflect.DeepEqual(r.Privacy,
		want) {
		t.Errorf("privacy %+v", r.Privacy)
	}
	var leaves []string
	for _, l := range r.Budget.Leaves {
		leaves = append(leaves, l.Path+"="+l.Share.RatString())
	}
	if got := strings.Join(leaves, " "); got != "main=1/2 more.ages=1/5 more.rest=3/10" {
		t.Errorf("leaves %s", got)
	}
	persons := r.Table("persons")
	if s := persons.Source; s.Format != files.CSV || s.Delimiter != ';' || strings.Join(s.Nulls, "|") != "|NA" {
		t.Errorf("source %+v", s)
	}
	if persons.Unit != (Unit{ID: "person_id", MaxRows: 3}) {
		t.Errorf("unit %+v", persons.Unit)
	}
	if c := persons.Column("region"); c.From != "place" || persons.Column("sex").From != "sex" ||
		persons.Column("none") != nil {
		t.Errorf("columns %+v", c)
	}
	if m := r.Marginals[0]; m.By == nil || len(m.By) != 0 || m.Leaf != "main" || m.Table != "persons" {
		t.Errorf("total %+v", m)
	}
	if m := r.Marginals[1]; m.Leaf != "more.ages" || m.By[1] != (Attribute{"region", "state"}) || m.Every != nil {
		t.Errorf("ages %+v", m)
	}
}

// A row without an id stops the run unless the unit leaves it out, as a total release requires.
func TestRowsWithoutAnIDAreLeftOutWhereTheUnitSaysSo(t *testing.T) {
	for policy, want := range map[string]Action{"": Refuse, "null: error, ": Refuse, "null: drop, ": Drop} {
		text := totalIDs(policy)
		if want == Refuse {
			text = strings.Replace(text, ", total: true", "", 1)
		}
		r, err := Parse(Source{Name: "release.yaml", Text: text})
		if err != nil {
			t.Fatal(err)
		}
		if unit := r.Tables[0].Unit; unit != (Unit{ID: "trip", Null: want, MaxRows: 1}) {
			t.Errorf("%q: %+v", policy, unit)
		}
	}
}
