package releasetest

import (
	"fmt"
	"math"
	"strings"
)

// PayBudget leaves little noise: of counts a tenth of a row, of sums a few steps.
const PayBudget = "{rho: 1000, minimise: sum}"

const paySpec = `version: 1
release: pays
privacy: {protects: person, neighbours: add-remove, account: trips}
budget: BUDGET
tables:
  jobs:
    source: {csv: t.csv}
    unit: {id: person, max_rows: 2}
    expect: {rows: [0, 10000]}
    WEIGHT
    columns:
      region: {values: [n, s]}
      sex: {values: [f, m]}
      pay: {type: decimal, step: 0.5, range: [0, 100]}
      code: {type: integer, range: [1, 50]}
      wage: {type: decimal, step: 0.01, range: [0, 9999999]}
marginals:
  all:
    by: [region]
    SHOW
    stats:
      - count
      - units
      - {sum: pay}
      - {mean: pay}
      - {variance: pay}
      - {deviation: pay}
      - {median: pay}
      - {quantiles: pay, at: [10%, 90%], as: share}
      - {distinct: code, per_unit: 2}
      - {ratio: {of: {sum: pay}, over: {sum: code}}, as: rate}
      - {ratio: {of: {sex: f}, over: {sex: [f, m]}}, as: women}
      - {ratio: {of: {mean: pay, where: {sex: f}}, over: {mean: pay, where: {sex: m}}}, as: gap}
  persons: {by: [sex], stats: [units], per_unit: {groups: 2}}
  all_jobs: {by: [], stats: [count, {mean: pay}]}
  few: {by: [code], stats: [count, {mean: wage}], per_unit: {total: 1}}
`

const PayPolicy = "account: trips\nprotects: person\nneighbours: add-remove\ncap: {rho: 1000000000}\n"

// PayRow is a row of the jobs.
type PayRow struct {
	Person      int
	Region, Sex string
	Pay         float64 // as it is written; some lie beyond the range, or between its steps
	Code        int
	Weight      float64
}

// Clamped returns the pay as it is counted.
func (r PayRow) Clamped() float64 { return math.Min(100, math.Max(0, math.Floor(2*r.Pay+0.5)/2)) }

// PayRows returns 600 jobs of 400 persons: every second person has two.
func PayRows() []PayRow {
	var rows []PayRow
	for i := range 600 {
		rows = append(rows, PayRow{
			Person: i % 400, Region: []string{"n", "s"}[i%400/2%2], Sex: []string{"f", "m"}[i%400/4%2],
			Pay: float64(i*i%997)/8 - 3, Code: 1 + i*7%37, Weight: 1 + float64(i%5)/2,
		})
	}
	return rows
}

// PayData returns rows as CSV.
func PayData(rows []PayRow) string {
	var b strings.Builder
	b.WriteString("wage,person,region,sex,pay,code,weight\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "%d,%d,%s,%s,%g,%d,%g\n", 1000*r.Code, r.Person, r.Region, r.Sex, r.Pay, r.Code, r.Weight)
	}
	return b.String()
}

// PayText returns the spec with or without weights.
func PayText(budget string, weighted bool, show string) string {
	weight := ""
	if weighted {
		weight = "weight: {from: weight, range: [0, 4], step: 0.5, kind: design}"
	}
	return strings.NewReplacer("BUDGET", budget, "WEIGHT", weight, "SHOW", show).Replace(paySpec)
}
