package ledger

import (
	"errors"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
)

func TestParsePolicy(t *testing.T) {
	const head = "account: lfs-panel\nprotects: person\nneighbours: add-remove\n"
	for text, want := range map[string]struct {
		limit      budget.Cost
		definition string
	}{
		head + "cap: {epsilon: 6}":                                   {epsilon("6"), Epsilon},
		head + "cap: {epsilon: 0.1}\n":                               {epsilon("1/10"), Epsilon},
		head + "cap: {rho: 1/2}":                                     {rho("1/2"), Rho},
		head + "cap: {rho: '1/3', delta: 1e-6} # yearly\n":           {rhoDelta("1/3", "1e-6"), Rho},
		"cap:\n  delta: 0.5\n  rho: 2E1\n" + head:                    {rhoDelta("20", "1/2"), Rho},
		"---\n" + head + "cap: {epsilon: 6}\r\n...\n":                {epsilon("6"), Epsilon},
		strings.ReplaceAll(head, "\n", "\r\n") + "cap: {epsilon: 6}": {epsilon("6"), Epsilon},
	} {
		p, err := ParsePolicy("policy.yaml", []byte(text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if p.Account != "lfs-panel" || p.Terms != (Terms{"person", AddRemove, want.definition}) || !p.Cap.Equal(want.limit) {
			t.Errorf("%q: got %+v", text, p)
		}
		must(t, p.check())
	}
}

// TestPolicyErrors shows every complaint as a person reads it.
func TestPolicyErrors(t *testing.T) {
	const head = "account: lfs-panel\nprotects: person\nneighbours: add-remove\n"
	for name, c := range map[string]struct{ text, want string }{
		"unknown key": {head + "capp: {epsilon: 6}\n", `
policy.yaml:1:1: the key cap is missing
  1 | account: lfs-panel
    | ^
policy.yaml:4:1: capp: unknown key; expected account, protects, neighbours, cap, parent, allowance, approvals or witness; did you mean "cap"?
  4 | capp: {epsilon: 6}
    | ^`},
		"unknown amount": {head + "cap: {epsilonn: 6}\n", `
policy.yaml:4:6: cap: the cap has no amount; expected {epsilon: …}, {rho: …} or {rho: …, delta: …}
  4 | cap: {epsilonn: 6}
    |      ^
policy.yaml:4:7: cap.epsilonn: unknown key; expected epsilon, rho or delta; did you mean "epsilon"?
  4 | cap: {epsilonn: 6}
    |       ^`},
		"twice": {head + "cap: {epsilon: 6}\nprotects: trip\n", `
policy.yaml:5:1: protects: the key comes twice; the first is on line 2
  5 | protects: trip
    | ^`},
		"values": {"account: LFS panel\nprotects: ~\nneighbours: add_remove\ncap: {rho: -1, delta: 1}\n", `
policy.yaml:1:10: account: "LFS panel" is not an account name; expected at most 100 of a-z, 0-9, '.', '_' and '-', the first a letter or digit
  1 | account: LFS panel
    |          ^
policy.yaml:2:11: protects: the value is missing
  2 | protects: ~
    |           ^
policy.yaml:3:13: neighbours: "add_remove" is not known; expected add-remove or replace; did you mean "add-remove"?
  3 | neighbours: add_remove
    |             ^
policy.yaml:4:12: cap.rho: "-1" is not a positive number; expected a decimal or a fraction such as 6, 0.5, 1/2 or 1e-6
  4 | cap: {rho: -1, delta: 1}
    |            ^
policy.yaml:4:23: cap.delta: δ is a probability; expected a number above 0 and below 1
  4 | cap: {rho: -1, delta: 1}
    |                       ^`},
		"two definitions": {head + "cap: {epsilon: 6, delta: 1e-6}\n", `
policy.yaml:4:6: cap: a cap is in one definition; expected {epsilon: …}, {rho: …} or {rho: …, delta: …}
  4 | cap: {epsilon: 6, delta: 1e-6}
    |      ^`},
		"bare cap": {head + "cap: 6\n", `
policy.yaml:4:6: cap: expected a mapping with the keys epsilon, rho and delta
  4 | cap: 6
    |      ^`},
		"noun": {"account: a\nprotects: [person]\nneighbours: replace\ncap: {epsilon: 1}\n", `
policy.yaml:2:11: protects: expected one value
  2 | protects: [person]
    |           ^`},
		"alias": {"account: &a a\nprotects: *a\nneighbours: replace\ncap: {epsilon: 1}\n", `
policy.yaml:1:10: account: expected one value; anchors are not allowed
  1 | account: &a a
    |          ^
policy.yaml:2:11: protects: expected one value; aliases and merge keys are not allowed, write the value out
  2 | protects: *a
    |           ^`},
		"tag": {head + "cap: {epsilon: !!str 1}\n", `
policy.yaml:4:16: cap.epsilon: expected one value; tags are not allowed
  4 | cap: {epsilon: !!str 1}
    |                ^`},
		"second document": {head + "cap: {epsilon: 1}\n---\naccount: b\n", `
policy.yaml:5:1: a policy is one document; write a second account in a file of its own
  5 | ---
    | ^`},
		"empty": {"# nothing yet\n", `
policy.yaml:1:1: the file is empty; expected account, protects, neighbours and cap
  1 | # nothing yet
    | ^`},
		"list": {"- account: a\n", `
policy.yaml:1:1: expected a mapping with the keys account, protects, neighbours, cap, parent, allowance, approvals and witness
  1 | - account: a
    | ^`},
		"not yaml": {"account: a\ncap: {epsilon: 6\n", `
policy.yaml:2:1: this is not YAML: did not find expected ',' or '}'
  2 | cap: {epsilon: 6
    | ^`},
		"not yaml either": {"account: a\nprotects: b: c\n", `
policy.yaml:2:1: this is not YAML: mapping values are not allowed in this context
  2 | protects: b: c
    | ^`},
		"zero": {head + "cap: {epsilon: 0}\n", `
policy.yaml:4:16: cap.epsilon: "0" is not a positive number; expected a decimal or a fraction such as 6, 0.5, 1/2 or 1e-6
  4 | cap: {epsilon: 0}
    |                ^`},
		"infinite": {head + "cap: {epsilon: .inf}\n", `
policy.yaml:4:16: cap.epsilon: ".inf" is not a positive number; expected a decimal or a fraction such as 6, 0.5, 1/2 or 1e-6
  4 | cap: {epsilon: .inf}
    |                ^`},
		"long": {strings.Repeat("#\n", maxPolicyBytes), `
policy.yaml:1:1: a policy has at most 16384 bytes`},
	} {
		_, err := ParsePolicy("policy.yaml", []byte(c.text))
		var problems *PolicyError
		if !errors.As(err, &problems) {
			t.Errorf("%s: got %v; want *PolicyError", name, err)
			continue
		}
		if got := "\n" + err.Error(); got != c.want {
			t.Errorf("%s: got%s\nwant%s", name, got, c.want)
		}
	}
}

func TestPolicyErrorsAreFew(t *testing.T) {
	_, err := ParsePolicy("p.yaml", []byte("{"+strings.Repeat("a, ", 5000)+"}"))
	var problems *PolicyError
	if !errors.As(err, &problems) || len(problems.Problems) != maxProblems || len(err.Error()) > 5000 {
		t.Errorf("%d bytes of complaints", len(err.Error()))
	}
}

// FuzzParsePolicy: any text is a policy that an account can have, or a *PolicyError with a place in the text.
func FuzzParsePolicy(f *testing.F) {
	for _, text := range []string{
		"account: lfs-panel\nprotects: person\nneighbours: add-remove\ncap: {epsilon: 6}\n",
		"account: a\nprotects: trip\nneighbours: replace\ncap: {rho: 1/2, delta: 1e-6}\n",
		"account: &x a\n<<: *x\n? [a]\n: b\n", "\xff\xfe", "a: !!binary x", "--- {}\n--- {}", "cap: {epsilon: 1e400}", "%YAML 1.1\n---\n", "cap: {rho: 1/0}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := ParsePolicy("p.yaml", text)
		if err == nil {
			must(t, p.check())
			return
		}
		var problems *PolicyError
		if !errors.As(err, &problems) || len(problems.Problems) == 0 {
			t.Fatalf("got %v; want *PolicyError with problems", err)
		}
		for _, problem := range problems.Problems {
			if problem.Line < 1 || problem.Column < 1 || problem.Message == "" {
				t.Errorf("problem without a place: %+v", problem)
			}
		}
	})
}
