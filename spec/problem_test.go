package spec

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/dprelease/dprelease/spec/document"
)

func TestAProblemAsJSONSaysAllThatItsTextSays(t *testing.T) {
	_, err := Parse(one("neighbours mistyped", "add-remove", "add-remvoe").source(t))
	var problems *document.Errors
	if !errors.As(err, &problems) {
		t.Fatal(err)
	}
	got, err := json.Marshal(problems.Problems)
	if err != nil {
		t.Fatal(err)
	}
	const line = "privacy: {protects: person, neighbours: add-remvoe, account: survey}"
	want := `[{"file":"release.yaml","line":5,"column":41,"path":"privacy.neighbours","message":"found \"add-remvoe\"",` +
		`"expected":"add-remove or replace","nearest":"add-remove",` +
		`"fix":"privacy: {protects: person, neighbours: add-remove, account: survey}","snippet":"` + line + `"}]`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
