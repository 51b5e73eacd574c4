package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/dprelease/dprelease/internal/keyfile"
)

// stepsRelease is a release with all that can last: microdata chosen in rounds, and tables that add up.
const stepsRelease = `version: 1
release: persons
privacy: {protects: person, neighbours: add-remove}
budget: {rho: 1, split: {tables: 1/2, microdata: 1/2}}
publish: {integers: consistent}
tables:
  persons:
    source: {csv: persons.csv}
    unit: {id: person_id, max_rows: 1}
    columns:
      age:    {type: integer, range: [0, 90], levels: {band: {edges: [0, 15, 30, 65]}}}
      sex:    {values: [f, m]}
      region: {values: [R0, R1, R2]}
      status: {values: [employed, unemployed, inactive]}
marginals:
  status: {by: [region, status], budget: tables}
  ages:   {by: [age.band, sex], budget: tables}
synthetic:
  persons: {by: [age.band, sex, status], method: aim, budget: microdata}
`

// heldSteps is a release of two holders.
const heldSteps = `version: 1
release: held
privacy: {protects: person, neighbours: add-remove}
holders: {keys: {a: a.pub, b: b.pub}, units: disjoint, trusted: 1}
budget: {epsilon: 1}
tables: {persons: {source: {csv: persons.csv}, unit: {id: person_id, max_rows: 1}, columns: {sex: {values: [f, m]}}}}
marginals: {sex: {by: [sex]}}
`

// publishedSteps are the steps from sealed measurements to files.
var publishedSteps = []string{"estimating 2 tables", "fitting a model of the microdata of persons",
	"drawing the microdata of persons", "writing the microdata of persons", "making the counts of persons add up",
	"writing 2 tables", "writing the report"}

// drawnSteps are the steps after counting.
var drawnSteps = []string{"drawing the noise of 5 measurements", "microdata of persons"}

// verifySteps are the steps of checking a published folder.
var verifySteps = slices.Concat([]string{"checking manifest", "checking signature", "checking files", "checking plan",
	"checking measurements", "checking privacy loss", "checking debit", "checking approvals", "checking report",
	"checking republished"}, publishedSteps, []string{"comparing what was made again", "checking ledger"})

// commandSteps lists every command: a command line, and the steps that it reports. A command without steps is done at
// once, or reads its input as fast as it prints it; a new one that may last gets steps.
var commandSteps = []struct {
	command, args string
	steps         []string
}{
	{"init", "init persons.csv", nil},
	{"check", "check release.yaml", []string{"planning"}},
	{"schema", "schema", nil},
	{"explain", "explain", nil},
	{"plan", "plan release.yaml", []string{"planning"}},
	{"plan", "plan release.yaml --what-if rho=1,2", []string{"planning with other budgets"}},
	{"plan", "plan targets.yaml --solve", []string{"looking for the smallest budget"}},
	{"plan", "plan targets.yaml --html", []string{"planning with other budgets"}},
	{"plan", "plan release.yaml --trace", []string{"planning"}},
	{"loss", "loss persons.plan.json", []string{"checking the plan persons.plan.json"}},
	{"rehearse", "rehearse release.yaml --rows 100",
		slices.Concat([]string{"planning", "counting made-up rows of persons"},
			drawnSteps, publishedSteps)},
	{"run", "run release.yaml --out run", slices.Concat([]string{"planning", "counting persons"}, drawnSteps,
		publishedSteps)},
	{"machine-key", "machine-key machine", nil},
	{"prepare", "prepare persons.plan.json --shards 1 --for machine.pub",
		[]string{"checking the plan persons.plan.json"}},
	{"count", "count persons.plan.json --shard 1/1 --row-key persons.rowkey --machine-key machine --fingerprint " +
		"FINGERPRINT",
		[]string{"checking the plan persons.plan.json", "counting persons"}},
	{"prepare", "prepare persons.plan.json --cancel", []string{"checking the plan persons.plan.json"}},
	{"measure", "measure persons.plan.json", slices.Concat([]string{"checking the plan persons.plan.json",
		"counting persons"}, drawnSteps)},
	{"holder key", "holder key a", nil},
	{"holder key", "holder key b", nil},
	{"plan", "plan held.yaml", []string{"planning"}},
	{"holder sign", "holder sign held.plan.json --holder-key a", []string{"checking the plan held.plan.json"}},
	{"holder sign", "holder sign held.plan.json --holder-key b", []string{"checking the plan held.plan.json"}},
	{"measure", "measure held.plan.json --holder a --holder-key a", []string{"checking the plan held.plan.json",
		"counting persons", "drawing the noise of 1 measurement"}},
	{"measure", "measure held.plan.json --holder b --holder-key b --out other",
		[]string{"checking the plan held.plan.json",
			"counting persons", "drawing the noise of 1 measurement"}},
	{"combine", "combine held.a.share other/held.b.share", []string{"adding 2 shares"}},
	{"plan", "plan left.yaml", []string{"planning"}},
	{"holder withdraw", "holder withdraw left.plan.json --holder-key a", []string{"checking the plan left.plan.json"}},
	{"publish", "publish persons.measured", publishedSteps},
	{"verify", "verify persons", verifySteps},
	{"evaluate", "evaluate release.yaml persons --out evaluation", []string{"planning",
		"comparing the release with the confidential data"}},
	{"approve", "approve persons.plan.json --role officer --key key", []string{"checking the plan persons.plan.json"}},
	{"diff", "diff persons.plan.json persons.plan.json", []string{"checking the plan persons.plan.json",
		"checking the plan persons.plan.json"}},
	{"show", "show persons", nil},
	{"query", "query persons --by region", nil},
	{"predict", "predict model.json answers.csv", nil},
	{"state clean", "state clean", nil},
	{"local collector", "local collector local.yaml", []string{"planning"}},
	{"local randomise", "local randomise commuting.collector.json answers.csv --to reports.parquet", nil},
	{"local gather", "local gather commuting.collector.json reports.parquet --to gathered.parquet", nil},
	{"local shuffle", "local shuffle commuting.collector.json reports.parquet --to shuffled.parquet", nil},
	{"ledger key", "ledger key another", nil},
	{"ledger init", "ledger init policy.yaml --ledger l.db", nil},
	{"ledger show", "ledger show --ledger l.db", nil},
	{"ledger grant", "ledger grant survey --rho 1 --reason more --ledger l.db", nil},
	{"ledger history", "ledger history --ledger l.db", nil},
	{"ledger verify", "ledger verify --ledger l.db", nil},
	{"ledger upgrade", "ledger upgrade --ledger l.db", nil},
	{"ledger export", "ledger export --ledger l.db", nil},
	{"ledger abandon", "ledger abandon survey persons --reason none --ledger l.db", nil},
	{"ledger withdraw", "ledger withdraw survey persons --reason none --ledger l.db", nil},
}

// Every command is listed with the steps that it reports, and reports these; and what it prints on standard output has
// nothing of them.
func TestEveryCommandReportsItsSteps(t *testing.T) {
	start, err := filepath.Abs(filepath.Join("..", "..", "docs", "howto", "start", "persons.csv"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	data, err := os.ReadFile(start)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"release.yaml": stepsRelease, "persons.csv": string(data),
		"targets.yaml": strings.NewReplacer("[age.band, sex],", "[age.band, sex], target: {margin: 50},",
			"release: persons", "release: targets").Replace(stepsRelease),
		"local.yaml": "version: 1\nrelease: commuting\nprivacy: {protects: respondent, neighbours: replace}\n" +
			"collect: {answers: {protocol: local, epsilon: 2, expect: 100}}\n" +
			"tables: {t: {source: {parquet: reports.parquet}, collected: answers, columns: {way: {values: [bike, car]}}}}\n" +
			"marginals: {way: {by: [way]}}\n",
		"answers.csv": "way\nbike\ncar\n",
		"model.json": `{"target": "late", "link": "logit", "classes": ["no", "yes"], "least": 0, "most": 1, "intercept": 0,
			"columns": [{"name": "way", "categories": ["bike", "car"], "scores": [0, 1], "errors": [0, 0], "importance": 1}]}`,
		"held.yaml": heldSteps, "left.yaml": strings.Replace(heldSteps, "held", "left", 1),
		"policy.yaml": "{account: survey, protects: person, neighbours: add-remove, cap: {rho: 2}}\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if code := runCommandLine([]string{"ledger", "key", "key"}, &bytes.Buffer{}, os.Stderr); code != 0 {
		t.Fatal("no key")
	}
	listed := map[string]bool{}
	for _, c := range commandSteps {
		listed[c.command] = true
		var stdout, stderr bytes.Buffer
		rowKey, _ := os.ReadFile("persons.rowkey") // is there once a plan was prepared
		args := strings.Fields(c.args)
		for i := range args {
			if args[i] == "FINGERPRINT" {
				args[i] = keyfile.Fingerprint(rowKey)
			}
		}
		code := runCommandLine(append(args, "--verbose"), &stdout, &stderr)
		if ended := c.command == "ledger abandon" || c.command == "ledger withdraw"; (code != 0) != ended {
			t.Errorf("%s: exit %d: %s", c.args, code, &stderr)
		}
		var steps []string
		for line := range strings.Lines(stderr.String()) {
			if !strings.HasPrefix(line, "time=") && !strings.HasPrefix(line, "dprelease: ") &&
				!strings.HasPrefix(line, "in other words: ") {
				steps = append(steps, strings.TrimSuffix(line, "\n"))
			}
		}
		if !slices.Equal(steps, c.steps) {
			t.Errorf("%s reports\n%q, want\n%q", c.args, steps, c.steps)
		}
		for _, step := range steps {
			if strings.Contains("\n"+stdout.String(), "\n"+step+"\n") {
				t.Errorf("%s prints %q among its output", c.args, step)
			}
		}
	}
	for _, c := range leafCommands((&app{}).rootCommand()) {
		if name := strings.TrimPrefix(c.CommandPath(), "dprelease "); !listed[name] {
			t.Errorf("say in commandSteps which steps dprelease %s reports", name)
		}
	}
}

// leafCommands returns the visible commands below one that do something themselves.
func leafCommands(c *cobra.Command) (all []*cobra.Command) {
	for _, child := range c.Commands() {
		switch {
		case child.Hidden:
		case child.HasSubCommands():
			all = append(all, leafCommands(child)...)
		default:
			all = append(all, child)
		}
	}
	return all
}
