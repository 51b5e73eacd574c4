package spec

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files of rendered problems anew")

// base is a valid release that uses every kind of domain. Each error case changes one thing in it.
const base = `version: 1
params: {quarter: {pattern: '20\d\dq[1-4]'}}
release: survey-${quarter}
about: {title: "Survey ${quarter}", population: adults, contact: office}
privacy: {protects: person, neighbours: add-remove, account: survey}
budget:
  epsilon: 2
  delta: 1e-9
  split: {main: 1/2, more: {share: 50%, split: {ages: 0.4, rest: 60%}}}
tables:
  persons:
    source: {csv: ["data/${quarter}-*.csv", old.csv], delimiter: ";", nulls: ["", NA]}
    unit: {id: person_id, max_rows: 3}
    columns:
      age:    {type: integer, range: [0, 110], levels: {band: {edges: [0, 16, 65]}, ten: {width: 10}}, null: {as: unknown}, unknown: {as: unknown}}
      sex:    {values: [female, male], unknown: drop}
      hour:   {values: {integers: [0, 23]}}
      region: {from: place, codebook: regions.csv, levels: [state, district]}
      size:   {values: ["01", "1", NO], levels: {half: {a: ["01"], b: ["1", NO]}}}
      fare:   {type: decimal, range: [0, 200], levels: {coarse: {edges: [0, 2.5, 65]}}}
      price:  {type: decimal, range: [0, 1], step: 0.25, levels: {half: {width: 0.5}}}
      day:    {type: date, range: [2024-01-03, 2024-12-31], levels: {week: {width: week}, seven: {width: 7}, quarter: {width: quarter}}}
      at:     {type: timestamp, range: [2026-01-01T00:00:00, 2026-01-02T23:59:59], levels: {hour: {width: hour}, bit: {width: 15 minutes}}}
marginals:
  total: {by: [], budget: main}
  ages:  {by: [age, region.state]}
  pairs: {every: [1, 2], by: [age.band, sex, region, fare.coarse], budget: more.rest, stats: [count]}
`

const regions = "code,label,state,state_label\n01,One,s1,North\n02,Two,s1,North\n1,Three,s2,South\n"

// governed is the base with all keys of governance: further accounts, the release that it corrects, no resuming, and
// conditions on its files.
var governed = strings.NewReplacer(
	"params:", "corrects: survey-${quarter}-v1\nfit: {precise: 5%, use with caution: 1/3, unreliable: rest}\nparams:",
	"account: survey", "account: [survey, register], resume: never",
	"    unit: {id", "    expect: {rows: [10, 20], every: [region.state, age, age.band]}\n    unit: {id",
).Replace(base)

// withMicrodata is the base with microdata that set every key.
var withMicrodata = strings.Replace(base, "main: 1/2", "main: 1/4, micro: 1/4", 1) +
	"synthetic:\n  persons: {budget: micro, rows: noisy, method: auto, by: [age, sex, region.state, fare.coarse]}\n"

// withModel is the base with a model.
var withModel = strings.Replace(base, "main: 1/2", "main: 1/4, micro: 1/4", 1) +
	"models:\n  risk: {budget: micro, predict: {sex: female}, by: [age.band, hour], test: 10%}\n"

// ofFiles is the source of the base.
const ofFiles = `{csv: ["data/${quarter}-*.csv", old.csv], delimiter: ";", nulls: ["", NA]}`

// risk changes the model.
func risk(name, old, new string) errorCase {
	return errorCase{name: name, text: withModel, edits: []edit{{old, new}}}
}

// fares changes the model of a release whose prices are integers.
func fares(name, old, new string) errorCase {
	return risk(name, "price:  {type: decimal, range: [0, 1], step: 0.25, levels: {half: {width: 0.5}}}",
		"price:  {type: integer, range: [0, 9]}").with(old, new)
}

// withChildren is a release of microdata of households and of their members.
const withChildren = `version: 1
release: homes
privacy: {protects: household, neighbours: add-remove, account: census}
budget: {rho: 1, split: {homes: 1/4, people: 1/4, cars: 1/4, tables: 1/4}}
tables:
  households:
    source: {csv: households.csv}
    unit: {id: household_id, max_rows: 1}
    columns:
      tenure: {values: [owned, rented]}
      area: {values: [a, b, c], levels: {half: {ab: [a, b], c: [c]}}}
      own: {derived_from: tenure}
  persons:
    source: {csv: persons.csv}
    unit: {id: household_id, max_rows: 3}
    columns:
      sex: {values: [female, male]}
      age: {type: integer, range: [0, 110], levels: {band: {edges: [0, 16, 65]}}}
  cars:
    source: {csv: cars.csv}
    unit: {id: household_id, max_rows: 2}
    columns:
      fuel: {values: [petrol, other]}
      kind: {values: [small, large]}
marginals: {tenure: {table: households, by: [tenure], budget: tables}}
synthetic:
  persons: {budget: people, by: [sex, age.band], parent: households}
  households: {budget: homes, by: [tenure, own, area.half]}
  cars: {budget: cars, parent: households, size: n_cars, method: auto}
`

// targeted is the base with all keys of accuracy: targets, leaves that get what these need, absolute amounts, an
// objective, cumulative tables and ranges.
var targeted = strings.NewReplacer(
	"  delta: 1e-9\n", "  delta: 1e-9\n  minimise: largest\n  noise: laplace\n",
	"main: 1/2, more: {share: 50%, split: {ages: 0.4, rest: 60%}}",
	"main: {rho: 1/1000}, more: {share: 100%, split: {ages: needed, rest: 100%}}",
	"{by: [age, region.state]}",
	"{by: [age, region.state], ranges: [age], target: {margin: 5%, at: 10000, confidence: 99%, of: all-cells}}",
	"stats: [count]", "cumulative: [age.band, fare.coarse], ranges: [region], target: {margin: 1/2}",
).Replace(base)

// derived is the base with a derived column in its tables, and with impossible combinations.
var derived = strings.NewReplacer(
	"      hour:   {", "      stage:  {derived_from: age.band}\n      hour:   {",
	"{by: [age, region.state]}", "{by: [sex, stage, region.state]}",
	"by: [age.band, sex,", "by: [age.band, stage, sex,",
	"marginals:", "impossible:\n  - {table: persons, where: {stage: 0–15, size: [NO, \"01\"]}}\n"+
		"  - {where: {region.state: s1, hour: 7, sex: female}, rows: drop}\nmarginals:",
).Replace(base)

// numbers is a release of everything other than plain counts: statistics, weights, ranges by category, bounds per unit,
// suggested bounds and diagnostics.
const numbers = `version: 1
release: payroll
privacy: {protects: person, neighbours: replace, account: payroll}
budget: {rho: 1, split: {pay: 1/2, more: {share: 50%, split: {gaps: 1/4, counts: 75%}}}}
tables:
  jobs:
    source: {parquet: jobs.parquet}
    unit: {id: person_id, max_rows: 3}
    weight: {from: w, range: [0, 40], step: 0.5, kind: calibrated, null: drop}
    columns:
      sex:    {values: [female, male]}
      region: {codebook: regions.csv, levels: [state, district]}
      size:   {values: [small, large], levels: {any: {all: [small, large]}}}
      pay:    {type: decimal, range: {by: size, small: [0, 1000], large: [100, 9000]}, step: 0.5, null: {as: 10.2}, bounds: {suggest: 1%}}
      hours:  {type: integer, range: [0, 80], levels: {part: {edges: [0, 35]}}, null: drop}
      profit: {type: integer, range: [-100, 100], unknown: drop}
      rank:   {values: {integers: [1, 9]}, null: {as: 5}}
      share:  {type: decimal, range: [0, 1], levels: {half: {edges: [0, 0.5]}}}
      odd:    {type: integer, range: [3, 95], step: 10}
      grade:  {type: integer, range: [0, 9], null: {as: none}}
      sales:  {type: integer, range: [0, 1e9], null: {as: 0}}
      day:    {type: date, range: [2024-01-01, 2024-12-31]}
      area:   {derived_from: region.state}
marginals:
  pay:
    by: [region.state, size]
    stats: [count, units, {sum: pay}, {mean: pay, as: average}, {variance: hours}, {deviation: hours}, {median: pay}, {quantiles: pay, at: [2.5%, 1/4, 50%]}, {distinct: rank, per_unit: 2}]
    show: {when_count_at_least: 30}
    per_unit: {groups: 2, rows_per_group: 1, total: 3}
  gaps:
    by: [area]
    stats:
      - {ratio: {mean: pay, where: {sex: female}, over: {mean: pay, where: {sex: male, region.state: [s1, s2]}}}, as: gap}
      - {ratio: {of: {sum: profit}, over: {sum: hours}}, as: profit_per_hour}
      - {ratio: {of: {hours.part: 0–34}, over: count}, as: part_time}
      - {ratio: {where: {area: s1}, over: {where: {sex: [male, female]}}}, as: in_s1}
      - {ratio: {sum: pay, over: {size: large}}, as: pay_by_large}
      - {median: sales, as: sales}
  counts: {by: [sex]}
diagnostics: {share: 2%}
`

// steady is a release of a mean that no value can stop.
const steady = `version: 1
release: x
privacy: {protects: trip, neighbours: replace, total: true}
budget: {rho: 1}
tables:
  trips:
    source: {csv: t.csv}
    unit: row
    weight: {from: w, range: [0, 9], step: 1, kind: design, null: drop}
    columns: {fare: {type: decimal, range: [0, 99], step: 0.5, unknown: drop, null: {as: 0}}}
marginals: {m: {by: [], stats: [{mean: fare}]}}
`

// drawn is a release that is measured on a sample of the units.
const drawn = `version: 1
release: trips
privacy: {protects: trip, neighbours: add-remove, account: trips}
budget: {epsilon: 1, delta: 1e-9}
tables:
  trips:
    source: {csv: t.csv}
    unit: row
    sample: {poisson: 10%}
    columns:
      mode: {values: [walk, ride]}
      fare: {type: decimal, range: [0, 99], step: 0.5, levels: {ten: {width: 10}}}
marginals:
  modes: {by: [mode]}
  fares: {by: [fare.ten], cumulative: [fare.ten], stats: [count]}
`

// ofSample is a case of drawn with one change.
func ofSample(name, old, new string) errorCase {
	c := one(name, old, new)
	c.text, c.params = drawn, map[string]string{}
	return c
}

func numbersSource() Source {
	return Source{Name: "release.yaml", Text: numbers, Files: map[string]string{"regions.csv": regions}}
}

// fitted is a case of the base with classes of precision.
func fitted(name, classes string) errorCase {
	return one(name, "privacy:", "fit: "+classes+"\nprivacy:")
}

// figure is a case of numbers with one change.
func figure(name, old, new string) errorCase {
	c := one(name, old, new)
	c.text, c.params = numbers, map[string]string{}
	return c
}

// after is a case of derived with one change.
func after(name, old, new string) errorCase {
	c := one(name, old, new)
	c.text = derived
	return c
}

// beside is a case of derived with microdata and without impossible combinations.
func beside(name, microdata string) errorCase {
	c := after(name, "  split: {main: 1/2", "  split: {main: 1/4, persons: 1/4")
	from, to := strings.Index(derived, "impossible:"), strings.Index(derived, "marginals:")
	c.text = derived[:from] + "synthetic: {persons: " + microdata + "}\n" + derived[to:]
	return c
}

func governedSource() Source {
	src := baseSource()
	src.Text = governed
	return src
}

func baseSource() Source {
	return Source{
		Name: "release.yaml", Text: base,
		Params: map[string]string{"quarter": "2026q1"},
		Files:  map[string]string{"regions.csv": regions},
	}
}

func TestBaseIsWellFormed(t *testing.T) {
	for name, src := range map[string]Source{"base": baseSource(), "numbers": numbersSource(), "steady": {Text: steady},
		"drawn": {Text: drawn}} {
		r, err := Parse(src)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(r.Warnings)+len(r.Unbuilt) != 0 {
			t.Errorf("%s: warnings %v, unbuilt %v", name, r.Warnings, r.Unbuilt)
		}
	}
}

// edit replaces old, which occurs once in the base, by new. In a file it changes a code book.
type edit struct{ old, new string }

type errorCase struct {
	name  string
	edits []edit
	// text, params and files replace those of the base where they are given.
	text   string
	params map[string]string
	files  map[string]string
}

func (c errorCase) source(t *testing.T) Source {
	t.Helper()
	src := baseSource()
	if c.text != "" {
		src.Text = c.text
	}
	for _, e := range c.edits {
		if strings.Count(src.Text, e.old) != 1 {
			t.Fatalf("case %q: %q is not there once", c.name, e.old)
		}
		src.Text = strings.Replace(src.Text, e.old, e.new, 1)
	}
	if c.params != nil {
		src.Params = c.params
	}
	if c.files != nil {
		src.Files = c.files
	}
	return src
}

// one is a case with one change.
func one(name, old, new string) errorCase { return errorCase{name: name, edits: []edit{{old, new}}} }

// micro is a case of withMicrodata with one change.
func micro(name, old, new string) errorCase {
	c := one(name, old, new)
	c.text = withMicrodata
	return c
}

// child is a case of withChildren with one change.
func child(name, old, new string) errorCase {
	c := one(name, old, new)
	c.text, c.params = withChildren, map[string]string{}
	return c
}

func book(name, text string) errorCase {
	return errorCase{name: name, files: map[string]string{"regions.csv": text}}
}

// TestProblemsAreRendered compares the rendered problems of every case with testdata/TOPIC.txt.
func TestProblemsAreRendered(t *testing.T) {
	for topic, cases := range errorCases {
		t.Run(topic, func(t *testing.T) {
			var b strings.Builder
			for _, c := range cases {
				r, err := Parse(c.source(t))
				var problems *document.Errors
				if !errors.As(err, &problems) {
					t.Errorf("%s: no problem found", c.name)
					continue
				}
				if (r != nil) != problems.Unbuilt() {
					t.Errorf("%s: a release exactly where all problems are unbuilt parts: %v", c.name, err)
				}
				b.WriteString("# " + c.name + "\n" + err.Error() + "\n\n")
			}
			compareGolden(t, filepath.Join("testdata", topic+".txt"), b.String())
		})
	}
}

func compareGolden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func TestRowUnitsOfPersonsWarn(t *testing.T) {
	for protects, want := range map[string]int{"person": 1, "people": 1, "patients": 1, "Employee": 1, "trip": 0,
		"personnel record": 0} {
		c := errorCase{name: protects, edits: []edit{
			{"protects: person", "protects: " + protects}, {"unit: {id: person_id, max_rows: 3}", "unit: row"},
		}}
		r, err := Parse(c.source(t))
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Warnings) != want {
			t.Errorf("protects %s: warnings %v", protects, r.Warnings)
		}
	}
}

// totalIDs is a total release whose unit has an id, with a policy for null ids.
func totalIDs(policy string) string {
	return "version: 1\nrelease: x\nprivacy: {protects: trip, neighbours: replace, total: true}\nbudget: {rho: 1}\n" +
		"tables:\n  t:\n    source: {csv: t.csv}\n" +
		"    unit: {id: trip, " + policy +
		"max_rows: 1}\n    columns: {mode: {values: [walk], unknown: drop, null: drop}}\nmarginals: {m: {by: [mode]}}\n"
}
