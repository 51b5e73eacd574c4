package shape

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"
)

// orderShape returns a shape with every kind of part.
func orderShape() *Shape {
	amount := Object("{gross} or {net}", Field{Key: "gross", Shape: Number("a number")},
		Field{Key: "net", Shape: Number("a number")}).WithForms([]string{"gross"}, []string{"net"})
	names := Dictionary("names", `^[a-z]+$`, &Shape{Says: "anything"})
	names.Least, names.Empty = 1, "at least one name"
	s := Object("an order",
		Field{Key: "id", Shape: Whole("1 to 9", 1, 9), Required: "the number of the order", Fix: "id: 1"},
		Field{Key: "size", Shape: Enum("small or large", "small", "large")},
		Field{Key: "code", Shape: Category("a code")},
		Field{Key: "day", Shape: NumberOr("a number or a date", `^([0-9]+|[0-9]{4}-[0-9]{2}-[0-9]{2})$`)},
		Field{Key: "paid", Shape: Boolean("true or false")},
		Field{Key: "price", Shape: amount},
		Field{Key: "names", Shape: names},
		Field{Key: "pair", Shape: List("two numbers", Number("a number"), 2, 2)},
		Field{Key: "note", Shape: Text("a text").WithParams(), Requires: "id"},
		Field{Key: "by", Shape: Choice("a name or a list of names", OnSequence(List("names", Text("a name"), 1, 0)),
			OnKey(Object("{team}", Field{Key: "team", Shape: Text("a name")}), "team"),
			OnText(`^[a-z]`, Pattern("small letters", `^[a-z]+$`)), OnScalar(Text("a name")))},
		Field{Key: "later", Shape: (&Shape{Says: "anything"}).NotBuilt("later")},
	)
	s.Replacements = map[string]Replacement{"number": {Expected: "id", Meant: "id"}}
	return s
}

// problemLines returns the problems of a document of that shape, each on one line with its position.
func problemLines(t *testing.T, text string) []string {
	t.Helper()
	f := document.NewFindings("order.yaml", text)
	root, ok := f.Read("an order", "one order")
	if !ok {
		t.Fatalf("%s: %v", text, f.Problems())
	}
	Check(f, orderShape(), root, &document.Problem{Message: "a parameter"})
	var lines []string
	for _, p := range f.Problems() {
		line := fmt.Sprintf("%d:%d %s: %s", p.Line, p.Column, p.Path, p.Message)
		if p.Nearest != "" {
			line += " (" + p.Nearest + "?)"
		}
		if p.Fix != "" {
			line += " -> " + p.Fix
		}
		lines = append(lines, line)
	}
	return lines
}

var orders = []struct {
	name, text string
	want       []string
	// onlyHere reports that a schema accepts the document: it knows neither parameters nor features that are not built.
	onlyHere bool
}{
	{name: "all of it", text: "id: 9\nsize: large\ncode: 01\nday: 2024-01-31\npaid: true\n" +
		"price: {net: 3/10}\nnames: {a: {b: 1}}\n" +
		"pair: [1, 2%]\nnote: \"${x}\"\nby: [Ann, Bo]\n"},
	{name: "the least", text: "id: 1"},
	{name: "a branch for each guard", text: "id: 1\nby: {team: a}"},
	{name: "nothing required", text: "size: small", want: []string{`1:1 : missing key "id" -> id: 1`}},
	{name: "beyond a bound", text: "id: 10", want: []string{"1:5 id: 10 is out of range"}},
	{name: "below a bound", text: "id: 0", want: []string{"1:5 id: 0 is out of range"}},
	{name: "a whole number in quotes", text: `id: "1"`,
		want: []string{`1:5 id: found "1" -> 1, without quotes`}},
	{name: "a word that is nearly one", text: "id: 1\nsize: smal",
		want: []string{`2:7 size: found "smal" (small?) -> size: small`}},
	{name: "a key that is nearly one", text: "id: 1\nsizes: small",
		want: []string{`2:1 sizes: unknown key "sizes" (size?) -> size: small`}},
	{name: "a key of another program", text: "number: 1", want: []string{`1:1 number: unknown key "number"`}},
	{name: "no category", text: "id: 1\ncode: ~",
		want: []string{`2:7 code: unquoted ~ is no text: YAML reads it as nothing at all -> "~"`}},
	{name: "a colon without quotes", text: "id: 1\ncode:\n  South: Valley",
		want: []string{`3:3 code: YAML reads a mapping where a text has a colon -> "South: Valley"`}},
	{name: "a mapping", text: "id: 1\ncode: {a: b}", want: []string{"2:7 code: found a mapping"}},
	{name: "a decimal comma", text: "id: 1\npair: ['1,5', 2]",
		want: []string{`2:8 pair[0]: found "1,5" -> 1.5`}},
	{name: "a date the other way round", text: "id: 1\nday: 31.1.2024",
		want: []string{`2:6 day: found "31.1.2024" -> 2024-01-31`}},
	{name: "a text that is no truth", text: "id: 1\npaid: soon", want: []string{`2:7 paid: found "soon"`}},
	{name: "two forms", text: "id: 1\nprice: {gross: 1, net: 1}",
		want: []string{"2:1 price: gross, net do not go together"}},
	{name: "no form", text: "id: 1\nprice: {}", want: []string{"2:1 price: none of gross, net is there"}},
	{name: "too few names", text: "id: 1\nnames: {}", want: []string{"2:8 names: is empty"}},
	{name: "a name that is none", text: "id: 1\nnames: {A: 1}", want: []string{`2:9 names.A: "A" is not a name`}},
	{name: "too many entries", text: "id: 1\npair: [1, 2, 3]", want: []string{"2:7 pair: 3 entries"}},
	{name: "too few entries", text: "id: 1\npair: [1]", want: []string{"2:7 pair: too few entries: 1 of at least 2"}},
	{name: "a text in the place of a list", text: "id: 1\npair: one", want: []string{`2:7 pair: found "one"`}},
	{name: "the branch that a guard chose", text: "id: 1\nby: aB", want: []string{`2:5 by: found "aB"`}},
	{name: "no branch", text: "id: 1\nby: {teams: a}",
		want: []string{`2:5 by: unknown key "teams" (team?) -> by: {team: a}`}},
	{name: "beside nothing that it needs", text: "note: a",
		want: []string{"1:1 note: note means nothing without id", `1:1 : missing key "id" -> id: 1`}},
	{name: "a parameter elsewhere", text: "id: 1\ncode: ${x}", want: []string{"2:7 code: a parameter"}, onlyHere: true},
	{name: "what is not built", text: "id: 1\nlater: {a: [1]}",
		want: []string{"2:1 later: later: not supported by this version"}, onlyHere: true},
}

func TestCheck(t *testing.T) {
	for _, c := range orders {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, problemLines(t, c.text)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestSchemaTakesWhatCheckTakes validates the same documents against the schema of the shape.
func TestSchemaTakesWhatCheckTakes(t *testing.T) {
	read, err := jsonschema.UnmarshalJSON(bytes.NewReader(orderShape().Schema("orders", nil)))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("order.json", read); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("order.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range orders {
		if c.onlyHere || strings.Contains(c.text, "3/10") {
			continue
		}
		var value any
		if err := yaml.Unmarshal([]byte(c.text), &value); err != nil {
			t.Fatal(err)
		}
		encoded, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(encoded))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(instance); (err == nil) != (c.want == nil) {
			t.Errorf("%s: by the schema %v, and by the check %q", c.name, err, c.want)
		}
	}
}

// TestSchemaHasTheWordsOfKeys checks that the meaning of a key is its description, with what applies without it, and an
// example.
func TestSchemaHasTheWordsOfKeys(t *testing.T) {
	s := Object("an order", Field{Key: "id", Shape: Whole("1 to 9", 1, 9)},
		Field{Key: "later", Shape: Text("a text").NotBuilt("later")})
	var got struct {
		Title      string
		Properties map[string]struct {
			Title, Description string
			Examples           []any
		}
	}
	meaning := Meaning{States: "The number.", Default: "it has none", Example: "7", Page: "docs/orders.md"}
	if err := json.Unmarshal(s.Schema("orders", map[string]Meaning{"id": meaning}), &got); err != nil {
		t.Fatal(err)
	}
	id := got.Properties["id"]
	if got.Title != "orders" || id.Title != "1 to 9" ||
		id.Description != "The number. Without it: it has none. (docs/orders.md)" ||
		len(id.Examples) != 1 || id.Examples[0] != 7.0 {
		t.Errorf("got %+v", got)
	}
	if later := got.Properties["later"].Description; later != "a text (later: not supported by this version)" {
		t.Errorf("what is not built is described as %q", later)
	}
}

func TestDatesWithTheirYearLast(t *testing.T) {
	for text, want := range map[string]string{
		"31.1.2024": "2024-01-31", "1/31/2024": "2024-01-31", "7-7-2024": "2024-07-07",
		"3/4/2024": "", "31.2.2024": "", "0.5.2024": "",
	} {
		if got := isoDate(text); got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
}
