package spec

import (
	"maps"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
)

// hospitals is a release of three holders.
const hospitals = `version: 1
release: sepsis
privacy: {protects: patient, neighbours: add-remove, account: sepsis}
holders:
  keys: {north: keys/north.pub, east: keys/east.pub, south: keys/south.pub}
  units: disjoint
  trusted: 2
budget: {epsilon: 2, delta: 1e-7}
tables:
  stays:
    source: {csv: "stays-*.csv"}
    unit: {id: patient, max_rows: 3}
    columns:
      ward: {values: [a, b]}
      days: {type: integer, range: [0, 90]}
marginals:
  wards: {by: [ward], stats: [count, {mean: days}, {median: days}]}
`

// holderKeys are the files of the public keys of the holders of hospitals.
func holderKeys() map[string]string {
	return map[string]string{
		"keys/north.pub": "dprelease-holder-1 " +
			"AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQ\n",
		"keys/east.pub": "dprelease-holder-1 " +
			"AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAg\n",
		"keys/south.pub": "dprelease-holder-1 " +
			"AwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAw\n",
	}
}

// ofHolders is a case of hospitals with one change.
func ofHolders(name, old, new string) errorCase {
	c := one(name, old, new)
	c.text, c.params, c.files = hospitals, map[string]string{}, holderKeys()
	return c
}

// withKey is a case of hospitals with another file of the key of north.
func withKey(name, text string) errorCase {
	c := errorCase{name: name, text: hospitals, params: map[string]string{}, files: holderKeys()}
	c.files["keys/north.pub"] = text
	return c
}

// holderCases are changes that make hospitals invalid.
var holderCases = []errorCase{
	ofHolders("without keys", "  keys: {north: keys/north.pub, east: keys/east.pub, south: keys/south.pub}\n", ""),
	ofHolders("of one", "{north: keys/north.pub, east: keys/east.pub, south: keys/south.pub}",
		"{north: keys/north.pub}"),
	ofHolders("by a name with a capital letter", "{north:", "{North:"),
	ofHolders("without units", "  units: disjoint\n", ""),
	ofHolders("with other units", "units: disjoint", "units: mixed"),
	ofHolders("with an overlap of one", "units: disjoint", "units: {overlap: 1}"),
	ofHolders("with an overlap of more than there are", "units: disjoint", "units: {overlap: 4}"),
	ofHolders("without trust", "  trusted: 2\n", ""),
	ofHolders("with no trust", "trusted: 2", "trusted: 0"),
	ofHolders("with more trusted than there are", "trusted: 2", "trusted: 4"),
	ofHolders("with Gaussian noise of rho", "{epsilon: 2, delta: 1e-7}", "{rho: 1, noise: gaussian}"),
	ofHolders("with Skellam noise of epsilon", "{epsilon: 2, delta: 1e-7}", "{epsilon: 1, noise: skellam}"),
	one("of one place with Skellam noise", "  delta: 1e-9", "  delta: 1e-9\n  noise: skellam"),
	ofHolders("with Gaussian noise", "delta: 1e-7}", "delta: 1e-7, noise: gaussian}"),
	ofHolders("with a key that is missing", "north: keys/north.pub", "north: keys/nroth.pub"),
	ofHolders("with one key twice", "east: keys/east.pub", "east: keys/north.pub"),
	withKey("with a key that is none", "ssh-ed25519 AAAA\n"),
	withKey("with a short key", "dprelease-holder-1 AAAA\n"),
	ofHolders("with expected rows", "    columns:\n", "    expect: {rows: [1, 9]}\n    columns:\n"),
	ofHolders("on a sample", "    columns:\n", "    sample: {poisson: 10%}\n    columns:\n"),
	ofHolders("with suggested bounds", "range: [0, 90]", "range: [0, 90], bounds: {suggest: 1%}"),
	ofHolders("with values that nobody lists", "{values: [a, b]}", "{values: {discover: {max_length: 9}}}"),
	ofHolders("above a threshold", "{by: [ward], stats: [count, {mean: days}, {median: days}]}",
		"{by: [ward], cells: {above: 9}}"),
	ofHolders("of the largest", "{by: [ward], stats: [count, {mean: days}, {median: days}]}",
		"{by: [ward], top: 1}"),
	ofHolders("of different values", "{mean: days}", "{distinct: days, per_unit: 1}"),
	ofHolders("of units that overlap", "units: disjoint", "units: {overlap: 2}").with("{mean: days}", "units"),
	ofHolders("with microdata that are measured", "marginals:", "synthetic: {stays: {method: mst}}\nmarginals:"),
	ofHolders("with a collection", "budget: {epsilon: 2, delta: 1e-7}", "collect: {answers: {protocol: local, "+
		"epsilon: 2, expect: 100}}"),
}

// TestHolders reads the holders of a release.
func TestHolders(t *testing.T) {
	r, err := Parse(Source{Text: hospitals, Files: holderKeys()})
	if err != nil {
		t.Fatal(err)
	}
	h := r.Holders
	if len(h.All) != 3 || h.All[0].Name != "east" ||
		h.All[2].Key != strings.TrimSpace(holderKeys()["keys/south.pub"]) ||
		h.Overlap != 1 || h.Trusted != 2 || h.Index("north") != 1 || h.Index("west") != -1 {
		t.Errorf("holders %+v", h)
	}
	if h.Shares() != (budget.Shares{Needed: 2, Added: 3}) || r.Budget.Noise != "laplace" {
		t.Errorf("shares %v, noise %q", h.Shares(), r.Budget.Noise)
	}
	if u := r.Tables[0].Unit; u.AllRows() != 3 {
		t.Errorf("%d rows of a unit", u.AllRows())
	}
	if !maps.Equal(r.Source.Files, holderKeys()) {
		t.Errorf("the plan keeps %v", r.Source.Files)
	}
	r, err = Parse(Source{Text: strings.Replace(hospitals, "disjoint", "{overlap: 2}", 1), Files: holderKeys()})
	if err != nil {
		t.Fatal(err)
	}
	if u := r.Tables[0].Unit; r.Holders.Overlap != 2 || u.AllRows() != 6 {
		t.Errorf("overlap %d, %d rows of a unit", r.Holders.Overlap, u.AllRows())
	}
}
