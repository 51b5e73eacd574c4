package spec

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	loaded, err := Load(writeBase(t), map[string]string{"quarter": "2026q1"})
	if err != nil {
		t.Fatal(err)
	}
	if loaded.Name != "survey-2026q1" || loaded.About.Title != "Survey 2026q1" || loaded.Tables[0].Source.Paths[0] != "data/2026q1-*.csv" {
		t.Errorf("parameters are not filled in: %+v", loaded)
	}
	if len(loaded.Source.Files) != 1 || loaded.Source.Files["regions.csv"] != regions {
		t.Errorf("code books %v", loaded.Source.Files)
	}
	parsed, err := Parse(loaded.Source)
	if err != nil {
		t.Fatal(err)
	}
	assertEqual(t, loaded, parsed)
}

func TestLoadSaysWhatIsMissing(t *testing.T) {
	path := writeBase(t)
	if err := os.Remove(filepath.Join(filepath.Dir(path), "regions.csv")); err != nil {
		t.Fatal(err)
	}
	_, err := Load(path, map[string]string{"quarter": "2026q1"})
	if err == nil || !strings.Contains(err.Error(), `release.yaml:18:39: tables.persons.columns.region.codebook: code book "regions.csv" cannot be read: there is no such file`) {
		t.Errorf("got %v", err)
	}
	if _, err := Load(path+".not", nil); err == nil {
		t.Error("a spec that is not there was loaded")
	}
}

func TestReleaseHoldsWhatTheSpecSays(t *testing.T) {
	r, err := Parse(baseSource())
	if err != nil {
		t.Fatal(err)
	}
	if r.Privacy != (Privacy{Protects: "person", Neighbours: AddRemove, Account: "survey"}) {
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
	if s := persons.Source; s.Format != CSV || s.Delimiter != ';' || strings.Join(s.Nulls, "|") != "|NA" {
		t.Errorf("source %+v", s)
	}
	if persons.Unit != (Unit{ID: "person_id", MaxRows: 3}) {
		t.Errorf("unit %+v", persons.Unit)
	}
	if c := persons.Column("region"); c.From != "place" || persons.Column("sex").From != "sex" || persons.Column("none") != nil {
		t.Errorf("columns %+v", c)
	}
	if m := r.Marginals[0]; m.By == nil || len(m.By) != 0 || m.Leaf != "main" || m.Table != "persons" {
		t.Errorf("total %+v", m)
	}
	if m := r.Marginals[1]; m.Leaf != "more.ages" || m.By[1] != (Attribute{"region", "state"}) || m.Every != nil || m.Line != 26 {
		t.Errorf("ages %+v", m)
	}
}
