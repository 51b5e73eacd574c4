package respondent_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/dprelease/dprelease/histogram/respondent"
	"github.com/dprelease/dprelease/histogram/respondent/client"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
)

// Collect the answers of three respondents, and count their reports.
func Example() {
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: `version: 1
release: students
privacy: {protects: respondent, neighbours: replace}
collect: {answers: {protocol: local, epsilon: 2, expect: 1000}}
tables:
  answers:
    source: {parquet: "*.parquet"}
    collected: answers
    columns: {used: {values: ["no", "yes"]}}
marginals: {used: {by: [used]}}
`})
	must(err)
	p, err := planner.New(r)
	must(err)

	text, err := respondent.Collector(p.Plan()) // to be published
	must(err)
	c, err := client.Read(text)
	must(err)

	dir, err := os.MkdirTemp("", "reports")
	must(err)
	defer os.RemoveAll(dir)
	f, err := os.Create(filepath.Join(dir, "reports.parquet"))
	must(err)
	w := respondent.NewWriter(f)
	answers := strings.NewReader("used\nyes\nno\nno\n")
	n, err := respondent.Randomise(context.Background(), c, answers, "", nil, w, nil) // on devices
	must(err)
	must(w.Close())
	must(f.Close())

	counted, err := respondent.Count(context.Background(), p.Plan(), dir, 0)
	must(err)
	held := counted[0].Values
	fmt.Println(c.Epsilon, c.Questions[0].Columns[0].Categories)
	fmt.Println(n, counted[0].Reports.Kept, held.Value(0)+held.Value(1))
	// Output:
	// 2 [no yes]
	// 3 3 3
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
