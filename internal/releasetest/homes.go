package releasetest

import (
	"fmt"
	"strings"
)

const homesSpec = `version: 1
release: trips
privacy: {protects: household, neighbours: add-remove, account: trips}
budget: {rho: 40, split: {tables: 1/10, homes: 4/10, people: 5/10}}
tables:
  persons: {source: {csv: p.csv}, unit: {id: hh, max_rows: 3}, columns: {age: {type: integer, range: [0, 3]}, sex: {values: [f, m]}}}
  households: {source: {csv: h.csv}, unit: {id: hh, max_rows: 1}, columns: {area: {values: [x, y]}, tenure: {codebook: tenures.csv}, half: {derived_from: area}}}
marginals: {sexes: {table: persons, by: [sex], budget: tables}}
synthetic: {persons: {budget: people, parent: households, size: members, method: CHILD}, households: {budget: homes, method: PARENT}}
`

const homesPolicy = "account: trips\nprotects: household\nneighbours: add-remove\ncap: {rho: 400}\n"

// Homes returns the files of 600 households, in which tenants are two women of an age of 0 or 1 and owners a man of 2
// or 3, and of one person without a household.
func Homes(parent, child string) map[string]string {
	h, p := "hh,area,tenure\n", "hh,age,sex\nh999,0,m\n"
	for i := range 600 {
		h += fmt.Sprintf("h%d,%s,%s\n", i, []string{"x", "y"}[i%2], []string{"r", "o"}[i/2%2])
		for j := range []int{2, 1}[i/2%2] {
			p += fmt.Sprintf("h%d,%d,%s\n", i, 2*(i/2%2)+(i+j)/4%2, []string{"f", "m"}[i/2%2])
		}
	}
	return map[string]string{
		"release.yaml": strings.NewReplacer("PARENT", parent, "CHILD", child).Replace(homesSpec),
		"policy.yaml":  homesPolicy,
		"h.csv":        h, "p.csv": p, "tenures.csv": "code,label\nr,Rented\no,Owned\n",
	}
}
