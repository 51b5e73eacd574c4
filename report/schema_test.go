package report_test

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/maker"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/synth"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

func TestReportsFollowTheSchema(t *testing.T) {
	schema := compiledSchema(t)
	for name, r := range reports() {
		t.Run(name, func(t *testing.T) {
			instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(r.JSON()))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(instance); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestSchemaRefusesWhatIsNoReport(t *testing.T) {
	schema := compiledSchema(t)
	valid := string(reportOf(t, input(report.Official, nil)).JSON())
	for _, change := range [][2]string{
		{`"status": "release"`, `"status": "final"`},
		{`"margin": `, `"margin": -`},
		{`"release": "labour-2026q1",`, `"release": "labour-2026q1", "surprise": 1,`},
		{`"weak": false`, `"weak": "no"`},
		{`"neighbours": "add-remove",`, ``},
	} {
		wrong := strings.Replace(valid, change[0], change[1], 1)
		if wrong == valid {
			t.Fatalf("the report does not hold %s", change[0])
		}
		instance, err := jsonschema.UnmarshalJSON(strings.NewReader(wrong))
		if err != nil {
			t.Fatal(err)
		}
		if schema.Validate(instance) == nil {
			t.Errorf("valid with %s", change[1])
		}
	}
}

func TestSchemaRefusesWhatIsNoFigure(t *testing.T) {
	schema := compiledSchema(t)
	valid := string(reports()["figures"].JSON())
	for _, change := range [][2]string{
		{`"kind": "mean"`, `"kind": "mode"`},
		{`"withheld": 1`, `"withheld": -1`},
		{`"unbiased": false,`, ``},
		{`"kind": "design"`, `"kind": "unknown"`},
		{`"low": "-100"`, `"low": "minus"`},
		{`"share": "1/2"`, `"share": 0.5`},
		{`"most": "75"`, `"most": 75`},
		{`"rests_on_count": true,`, `"rests_on_count": true, "surprise": 1,`},
	} {
		wrong := strings.Replace(valid, change[0], change[1], 1)
		if wrong == valid {
			t.Fatalf("the report does not hold %s", change[0])
		}
		instance, err := jsonschema.UnmarshalJSON(strings.NewReader(wrong))
		if err != nil {
			t.Fatal(err)
		}
		if schema.Validate(instance) == nil {
			t.Errorf("valid with %s", change[1])
		}
	}
}

// TestSchemaListsTheStatistics fails if a figure may not be of one of the statistics: then run it with -update.
func TestSchemaListsTheStatistics(t *testing.T) {
	text := report.Schema()
	list := regexp.MustCompile(`("kind": \{\s*"enum": \[)[^\]]*"mean"[^\]]*(\])`)
	if len(list.FindAllIndex(text, -1)) != 1 {
		t.Fatal("the schema has no list of the kinds of figures, or several")
	}
	words := "$1"
	for kind := range spec.StatKind(spec.StatKinds) {
		if kind != spec.Count { // the table's own, and no figure of it
			words += "\n            \"" + kind.String() + "\","
		}
	}
	want := list.ReplaceAll(text, []byte(strings.TrimSuffix(words, ",")+"\n          $2"))
	if bytes.Equal(text, want) {
		return
	}
	if !*update {
		t.Fatal("the schema lists other statistics than there are: run with -update")
	}
	if err := os.WriteFile("schema.json", want, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestSchemaListsTheLawsOfNoise fails if a list of kinds in the schema has other laws of noise than there are: then run
// it with -update.
func TestSchemaListsTheLawsOfNoise(t *testing.T) {
	text := report.Schema()
	list := regexp.MustCompile(`("enum": \[\n *)"discrete-laplace",(?:\s*"(?:discrete-[a-z-]*|skellam)",)*(\s*)`)
	if n := len(list.FindAllIndex(text, -1)); n != 2 {
		t.Fatalf("the schema has %d lists of kinds of noise, want 2", n)
	}
	laws := ""
	for i, kind := range budget.AllLaws() {
		if i > 0 {
			laws += "${2}"
		}
		laws += `"` + string(kind) + `",`
	}
	want := list.ReplaceAll(text, []byte("${1}"+laws+"${2}"))
	if bytes.Equal(text, want) {
		return
	}
	if !*update {
		t.Fatal("the schema lists other laws of noise than there are: run with -update")
	}
	if err := os.WriteFile("schema.json", want, 0o644); err != nil {
		t.Fatal(err)
	}
}

// reports returns the reports of all inputs, which are made once and only read.
var reports = sync.OnceValue(func() map[string]*report.Report {
	all := map[string]*report.Report{}
	for name, in := range inputs() {
		r, err := maker.New(in)
		if err != nil {
			panic(err)
		}
		all[name] = r
	}
	return all
})

func compiledSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(report.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("report.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("report.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// node is a schema as this test walks it.
type node struct {
	Ref                  string           `json:"$ref"`
	Type                 string           `json:"type"`
	Properties           map[string]*node `json:"properties"`
	Required             []string         `json:"required"`
	AdditionalProperties *bool            `json:"additionalProperties"`
	Items                *node            `json:"items"`
	Defs                 map[string]*node `json:"$defs"`
}

func TestSchemaHasTheFieldsOfTheGoTypes(t *testing.T) {
	var root node
	if err := json.Unmarshal(report.Schema(), &root); err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	same(t, root.Defs, used, "report", reflect.TypeFor[report.Report](), &root)
	for name := range root.Defs {
		if !used[name] {
			t.Errorf("definition %s is not used", name)
		}
	}
}

// same fails unless a schema describes a Go type, recursively.
func same(t *testing.T, defs map[string]*node, used map[string]bool, path string, typ reflect.Type, n *node) {
	t.Helper()
	for n.Ref != "" {
		name := strings.TrimPrefix(n.Ref, "#/$defs/")
		used[name] = true
		if n = defs[name]; n == nil {
			t.Fatalf("%s: definition %s is missing", path, name)
		}
	}
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if want := typeName(typ); n.Type != want && !(typ == reflect.TypeFor[json.Number]() && n.Type == "number") {
		t.Errorf("%s: schema has type %q, Go has %s", path, n.Type, want)
		return
	}
	switch typ.Kind() {
	case reflect.Slice:
		same(t, defs, used, path+"[]", typ.Elem(), n.Items)
	case reflect.Struct:
		sameFields(t, defs, used, path, typ, n)
	}
}

func sameFields(t *testing.T, defs map[string]*node, used map[string]bool, path string, typ reflect.Type, n *node) {
	t.Helper()
	if n.AdditionalProperties == nil || *n.AdditionalProperties {
		t.Errorf("%s: the schema allows other fields", path)
	}
	for i := range typ.NumField() {
		name, option, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		property := n.Properties[name]
		if name == "" || property == nil {
			t.Errorf("%s: field %s is not in the schema", path, typ.Field(i).Name)
			continue
		}
		if slices.Contains(n.Required, name) == (option == "omitempty" || option == "omitzero") {
			t.Errorf("%s.%s: the schema and the Go type disagree on whether it is required", path, name)
		}
		same(t, defs, used, path+"."+name, typ.Field(i).Type, property)
	}
	if len(n.Properties) != typ.NumField() {
		t.Errorf("%s: the schema has %d fields, Go has %d", path, len(n.Properties), typ.NumField())
	}
}

func typeName(typ reflect.Type) string {
	if typ == reflect.TypeFor[json.Number]() {
		return "integer"
	}
	switch typ.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int64:
		return "integer"
	case reflect.Float64:
		return "number"
	case reflect.Slice:
		return "array"
	}
	return "object"
}

// inputs are releases of every kind.
func inputs() map[string]maker.Input {
	return map[string]maker.Input{
		"release":     input(report.Official, nil),
		"practice":    input(report.Practice, nil),
		"rehearsal":   input(report.Rehearsal, nil),
		"zcdp":        specInput(report.Official, changed("{epsilon: 2,", "{rho: 1/2,")),
		"approximate": specInput(report.Official, changed("{epsilon: 2,", "{epsilon: 5.3, delta: 1e-6,")),
		"replace": specInput(report.Official, changed("neighbours: add-remove", "neighbours: replace", "max_rows: 1}",
			"max_rows: 5}")),
		"row":       specInput(report.Official, changed("unit: {id: person_id, max_rows: 1}", "unit: row")),
		"one table": specInput(report.Official, oneTable("{epsilon: 1}")),
		"code books": input(report.Official,
			func(p *plan.Plan) { p.Source.Files = map[string]string{"b.csv": "code\n1\n", "a.csv": "code\n2\n"} }),
		"many tables": manyInput(),
		"microdata":   microdataInput(report.Official, "", 36435, 20.5, 14.25),
		"fixed rows":  microdataInput(report.Practice, ", rows: 1000", 1000, 20.5, 14.25),
		"no pair":     microdataInput(report.Rehearsal, "", 36435),
		"tables":      tablesInput(synth.Tree),
		"all zero":    noisyInput([]int64{0, -3, 0, -1, 0, 0}),
		"huge":        noisyInput([]int64{1 << 62, 1 << 62, 1 << 62, -1 << 63, 5, 1}),
		"residuals":   residualsInput(),
		"levels":      levelsInput(),
		"parts":       partsInput(3),
		"alone":       aloneInput(),
		"sums":        sumsInput(),
		"summed":      summedInput("{rho: 1}"),
		"summed pure": summedInput("{epsilon: 1}"),
		"mixed noise": specInput(report.Official, oneTable("{epsilon: 1, delta: 1e-9}")),
		"target":      targetInput(),
		"model table": modelsInput(true),
		"sparse":      sparseInput(sparseText),
		"sparse only": sparseInput(sparseAlone()),
		"figures":     figuresInput(report.Official, designWeight),
		"calibrated":  figuresInput(report.Practice, calibratedWeight),
		"unweighted":  figuresInput(report.Rehearsal, ""),
		"fitted":      fittedInput(),
		"together":    figuresOf(report.Official, togetherText),
		"exchanged": figuresOf(report.Official,
			strings.NewReplacer("{rho: 1/2}", "{epsilon: 4}", "neighbours: add-remove",
				"neighbours: replace").Replace(figuresText(designWeight))),
	}
}
