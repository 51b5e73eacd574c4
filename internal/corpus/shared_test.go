package corpus

import (
	"os"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
)

// codebooks are small public files for the specs from outside the project.
var codebooks = map[string]string{
	"geo/regions.csv": "district,label,state,state_label\nn1,Upper,n,North\nn2,Lower,n,North\ns1,Hill,s,South\ns2,Coast,s,South\n",
	"hospitals.csv":   "code,label,region\nh1,Central,east\nh2,Lakeside,west\nh3,Valley,west\n",
	"icd10.csv":       "code,label,block,chapter\nR69,Unknown,R50-R69,XVIII\nA00,Cholera,A00-A09,I\nA01,Typhoid,A00-A09,I\n",
	"nace2.csv":       "division,label,section\n01,Crops,A\n02,Forestry,A\n05,Coal,B\n",
	"register.csv":    "ent_id,name,size\n1,One,micro\n2,Two,large\n3,Three,small\n",
}

// The specs that show the language from outside the project are planned, or refused, as they were. (Labour has a target
// that no budget of its size can meet, so that it is planned with a wider one too.)
func TestSharedSpecsAreTheSame(t *testing.T) {
	for _, c := range []struct {
		name, instead, with string
		long                bool
		want                string
	}{
		{name: "admissions", want: "plan 9d891d4b9a67e9210b5681aaf92157fe75777f45c81b50502af10d9625093ec3"},
		{name: "business", want: "plan 74a16b72a96f6c826b4eb7d3eab4349c4a6e8e1c9041573bbc54cd972d793dcb"},
		{name: "labour", want: "refused 19bb45a8aa90bef2d3d6afb0f6dd3f6b071031b018a7c014d5e8f273cce170f7", long: true},
		{name: "labour", instead: "margin: 500", with: "margin: 10000",
			want: "plan 1e8d4e1a34f9d17feaace6c955759a3f823b107d166e072a3d0fa772f63a0d6b"},
		{name: "taxi", want: "plan e56e9c5a65c4c1bd68f1c3c300ab58ae1fa9b11fa1058a63a8ed8e71ab40735a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.long && os.Getenv("DPRELEASE_LONG") == "" {
				t.Skip("for the long run: DPRELEASE_LONG=1")
			}
			b, err := os.ReadFile(testkit.Shared(t, "specs/"+c.name+".yaml"))
			if err != nil {
				t.Fatal(err)
			}
			text := string(b)
			if c.instead != "" {
				text = strings.Replace(text, c.instead, c.with, 1)
			}
			is, _ := entry{c.name, func() (*compiled.Compiled, error) {
				r, err := spec.Parse(spec.Source{Name: c.name + ".yaml", Text: text, Params: paramsOf(text), Files: codebooks})
				if err != nil {
					return nil, err
				}
				return planner.New(r)
			}}.line(t)
			if is != c.name+" "+c.want {
				t.Errorf("not as it was: %s", is)
			}
		})
	}
}
