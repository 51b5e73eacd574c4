package evaluate

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/publishedtest"
	"github.com/dprelease/dprelease/internal/release"
	"github.com/dprelease/dprelease/internal/releasetest"
)

// Persons are evaluated with the columns of their households, as the data join them.
func TestEvaluateLinkedMicrodata(t *testing.T) {
	o := releasetest.Of(t, releasetest.Homes("mst", "mst"))
	result, err := release.Run(t.Context(), o.Plan, publishedtest.Options(o, "out"))
	if err != nil {
		t.Fatal(err)
	}
	e, err := published.Open(result.Folder)
	if err != nil {
		t.Fatal(err)
	}
	rows, _, err := readMicrodata(e, e.Plan.Synthetic[1])
	if err != nil {
		t.Fatal(err)
	}
	if len(rows.By) != 5 || rows.By[4].String() != "households.members" || len(rows.Codes[4]) != len(rows.Codes[0]) {
		t.Fatalf("%v by %v", len(rows.Codes), rows.By)
	}
	to := filepath.Join(o.Dir, "inside")
	opt := publishedtest.Options(o, "out")
	opt.Out = to
	if err := evaluateTo(t.Context(), o.Plan, result.Folder, opt); err != nil {
		t.Fatal(err)
	}
	var page struct {
		Microdata []struct {
			Table    string `json:"table"`
			TrueRows int64  `json:"true_rows"`
			Pairwise []struct {
				Columns []string `json:"columns"`
				Truth   *float64 `json:"truth"`
				Drawn   *float64 `json:"microdata"`
			} `json:"pairwise"`
		} `json:"microdata"`
	}
	b, err := os.ReadFile(filepath.Join(to, EvaluationJSON))
	if err == nil {
		err = json.Unmarshal(b, &page)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Microdata) != 2 || page.Microdata[1].Table != "persons" || page.Microdata[1].TrueRows != 900 ||
		page.Microdata[0].TrueRows != 600 {
		t.Fatalf("%+v", page.Microdata)
	}
	for _, p := range page.Microdata[1].Pairwise {
		if strings.Join(p.Columns, " ") == "sex households.tenure" {
			if p.Truth == nil || p.Drawn == nil || *p.Truth < 0.999 || *p.Drawn < 0.8 {
				t.Errorf("sex and tenure go together by %v, and in the truth by %v", *p.Drawn, *p.Truth)
			}
			return
		}
	}
	t.Errorf("sex and tenure are not compared: %+v", page.Microdata[1].Pairwise)
}
