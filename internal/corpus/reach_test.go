package corpus

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan"
)

// planReach is what plans hold: the paths of their entries and, of those that name a kind of thing, the paths with the
// names.
type planReach map[string]bool

// kindKeys are the keys whose texts name a kind of thing.
var kindKeys = []string{"basis", "band", "definition", "diagnostic", "kind", "method", "neighbours", "noise", "sums",
	"verdict", "way", "within"}

// reachOf returns what one plan contains.
func reachOf(t *testing.T, p *plan.Plan) planReach {
	var document map[string]any
	if err := json.Unmarshal(p.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	delete(document, "source")
	r := planReach{}
	r.walk("", "", document)
	return r
}

func (r planReach) walk(path, key string, value any) {
	r[path] = true
	switch value := value.(type) {
	case map[string]any:
		for k, v := range value {
			r.walk(strings.TrimPrefix(path+"."+k, "."), k, v)
		}
	case []any:
		for _, v := range value {
			r.walk(path, key, v)
		}
	case string:
		if slices.Contains(kindKeys, key) && value != "" {
			r[path+" "+value] = true
		}
	}
}

func (r planReach) add(other planReach) {
	for path := range other {
		r[path] = true
	}
}

// reachKinds are the paths and names by which the covered part of the language is counted.
var reachKinds = []struct {
	of      string
	matches *regexp.Regexp
}{
	{"questions", regexp.MustCompile(
		`^measurements\.(above|top|discovery|impossible|query\.(diagnostic .*|distinct|distribution|per_unit|quantile|value|value\.(by|minus|per|weight)|factors\.(basis|sums|method) .*))$`)},
	{"statistics", regexp.MustCompile(
		`^tables\.(counts|discovered|invariant|per_unit|show|sparse|target|top|weighted|figures\.kind .*|figures\.(of|over)\.kind .*)$`)},
	{"budgets", regexp.MustCompile(
		`^(guarantee\.definition .*|guarantee\.sample|guarantee\.account|leaves\.(leaf|microdata|needed|share)|cost\..*|strategies\.kind .*)$`)},
	{"relations", regexp.MustCompile(`^guarantee\.(neighbours .*|rows_in_tables|rows_without_id)$`)},
	{"mechanisms", regexp.MustCompile(`^(measurements\..*|synthetic\.(block|noise|select))\.?kind .*$`)},
	{"methods of microdata", regexp.MustCompile(`^synthetic\.(method .*|files|parent|rows|rows_of|given|ways)$`)},
}

// String returns how many entries of plans are reached, and how many kinds of each sort.
func (r planReach) String() string {
	text := fmt.Sprintf("%d entries of plans are reached", len(r))
	for _, k := range reachKinds {
		n := 0
		for path := range r {
			if k.matches.MatchString(path) {
				n++
			}
		}
		text += fmt.Sprintf(", %d %s", n, k.of)
	}
	return text
}
