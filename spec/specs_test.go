package spec

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/spec/document"
	"github.com/google/go-cmp/cmp"
)

// books are small code books for the five shared specs.
var books = map[string]string{
	"geo/regions.csv": "district,label,state,state_label\nd1,One,s1,North\nd2,Two,s1,North\nd3,Three,s2,South\n",
	"hospitals.csv":   "code,label,region\nh1,General,east\nh2,St Mary,west\n",
	"icd10.csv": "code,label,block,chapter\nR69,Illness,R50-R69,XVIII\nA00,Cholera,A00-A09,I\n" +
		"A01,Typhoid,A00-A09,I\n",
	"nace2.csv": "division,label,section\n01,Crops,A\n02,Forestry,A\n05,Coal,B\n",
	"geo/blocks.csv": "block,us,state,county,tract,bg\nb1,us,01,01001,t1,g1\nb2,us,01,01001,t1,g2\n" +
		"b3,us,02,02001,t2,g3\n",
	"race63.csv":           "code,label\n01,White\n02,Black\n",
	"gq.csv":               "code,label\n0,Household\n1,Prison\n",
	"register.csv":         "ent_id,name,size\n1,One,micro\n2,Two,large\n",
	"geo/state-totals.csv": "state,count\n01,2\n02,1\n",
}

var sharedParams = map[string]map[string]string{
	"labour.yaml":     {"quarter": "2026q1"},
	"admissions.yaml": {"year": "2025"},
}

// sharedSpecs are the five releases that define the language.
var sharedSpecs = []string{"admissions.yaml", "business.yaml", "census.yaml", "labour.yaml", "taxi.yaml"}

func sharedSource(t testing.TB, name string) Source {
	t.Helper()
	text, err := os.ReadFile(testkit.Shared(t, "specs/"+name))
	if err != nil {
		t.Fatal(err)
	}
	return Source{Name: name, Text: string(text), Params: sharedParams[name], Files: books}
}

func TestSharedSpecsAreParsedAndTheirUnbuiltPartsNamed(t *testing.T) {
	want := map[string][]string{
		"census-pl94.yaml": {
			"privacy.within: within", "tables.units.unit: unit: public",
			"invariants.facilities: invariants of a public table",
			"publish.partition_by: partition_by", "publish.tables: tables",
		},
	}
	for name, unbuilt := range want {
		t.Run(name, func(t *testing.T) {
			release, err := Parse(sharedSource(t, name))
			var problems *document.Errors
			if !errors.As(err, &problems) || !problems.Unbuilt() || release == nil {
				t.Fatalf("want a release and only unbuilt problems, got %v", err)
			}
			var got []string
			for _, u := range release.Unbuilt {
				got = append(got, u.Path+": "+u.Feature)
			}
			if diff := cmp.Diff(unbuilt, got); diff != "" {
				t.Errorf("unbuilt parts (-want +got):\n%s", diff)
			}
			for _, p := range problems.Problems {
				if !strings.HasSuffix(p.Message, ": not supported by this version") {
					t.Errorf("message %q", p.Message)
				}
			}
		})
	}
}

// A census whose budget has no share for four of its levels is refused, with their names.
func TestLevelsWithoutAShareAreNamed(t *testing.T) {
	_, err := Parse(sharedSource(t, "census.yaml"))
	if err == nil || !strings.Contains(err.Error(), "no share is for county, tract, bg, block") {
		t.Errorf("got %v", err)
	}
}

func TestSharedSpecWithoutItsCodeBooksIsAProblem(t *testing.T) {
	src := sharedSource(t, "labour.yaml")
	src.Files = nil
	release, err := Parse(src)
	if release != nil || !strings.Contains(err.Error(),
		`code book "geo/regions.csv" cannot be read: there is no such file`) {
		t.Errorf("got release %v and %v", release, err)
	}
}
