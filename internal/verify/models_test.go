package verify

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/publishedtest"
	"github.com/dprelease/dprelease/plan"
)

// modelSpec is a release of a table and a model.
const modelSpec = `version: 1
release: trips
privacy: {protects: person, neighbours: add-remove, account: trips}
budget: {rho: 1, split: {tables: 1/4, model: 3/4}}
tables: {stays: {source: {csv: t.csv}, unit: row, expect: {rows: [1, 400]}, columns: {sex: {values: [f, m]}, age: {type: integer, range: [0, 19]}, back: {values: [no, yes]}}}}
marginals: {m: {by: [sex, back], budget: tables}}
models:
  risk: {predict: {back: "yes"}, by: [sex, age], test: 20%, budget: model}
  effect: {predict: {back: "yes"}, by: [sex], method: linear, from: tables}
`

// TestTamperModels: a model that is not the one that the answers lead to, answers to other rounds, and a plan with
// other rounds or less noise do not verify, although the manifest lists what is there.
func TestTamperModels(t *testing.T) {
	rows := &strings.Builder{}
	rows.WriteString("sex,age,back\n")
	for i := range 200 {
		fmt.Fprintf(rows, "%c,%d,%s\n", "fm"[i%2], i%20, []string{"no", "yes"}[min(i%3, 1)])
	}
	o := publishedtest.Sign(t, modelSpec, "account: trips\nprotects: person\nneighbours: add-remove\ncap: {rho: 3}\n",
		rows.String())
	assertVerifies(t, o.Folder, Options{Trust: o.Public, Export: o.Export})
	const fitted, rounds = "models/risk.json", "rounds/models/risk.json"
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(o.Folder, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, of := range o.Plan.Models[0].Rounds { // the certificate lists all noise
		if line := fmt.Sprintf("models/risk/%s × %d", of.Asks, of.Times); !bytes.Contains(read("report.json"),
			[]byte(line)) {
			t.Errorf("report.json does not name %s", line)
		}
	}
	answers := read(rounds)
	replaced := func(old, by string) []byte {
		b := bytes.Replace(answers, []byte(old), []byte(by), 1)
		if bytes.Equal(b, answers) {
			t.Fatalf("%s has no %s", rounds, old)
		}
		return b
	}
	for what, c := range map[string]struct {
		name       string
		content    []byte
		file, says string
	}{
		"another model": {fitted, bytes.Replace(read(fitted), []byte(`"intercept": `), []byte(`"intercept": 1`), 1),
			fitted, "is not what"},
		"another regression": {"models/effect.json",
			bytes.Replace(read("models/effect.json"), []byte(`"coefficient": `),
				[]byte(`"coefficient": 1`), 1), "models/effect.json", "is not what"},
		"another answer": {rounds, replaced(`"rounds":[[`, `"rounds":[[1`), fitted, "is not what"},
		"a round more":   {rounds, replaced(`"rounds":[`, `"rounds":[[1,2],`), rounds, "other rounds"},
		"no held-out rows": {rounds, slices.Concat(answers[:bytes.Index(answers, []byte(`,"held_out"`))],
			[]byte("}\n")),
			rounds, "other rounds"},
		"a model of spaces": {rounds, replaced(`"rounds":`, `"rounds": `), rounds, "not in the form"},
	} {
		t.Run(what,
			func(t *testing.T) { assertRefused(t, relisted(t, o, c.name, c.content), Options{}, c.file, c.says) })
	}

	for what, forge := range map[string]func(m *plan.Model){
		"half the noise": func(m *plan.Model) {
			noise := &m.Rounds[1].Noise
			noise.Parameter = new(big.Rat).Quo(noise.Parameter, big.NewRat(2, 1))
		},
		"a round more": func(m *plan.Model) { m.Rounds[1].Times++ },
	} {
		v := &verifier{plan: readSealed(t, o).plan}
		forge(&v.plan.Plan().Models[0])
		_, err := v.checkLoss(t.Context())
		var fault *published.Fault
		if !errors.As(err, &fault) || !strings.Contains(fault.Says, "more than the ρ") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
