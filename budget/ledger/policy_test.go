package ledger

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/sign"
)

// someKey is an arbitrary public key.
const someKey = "ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo"

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
		if p.Account != "lfs-panel" || p.Terms != (Terms{"person", AddRemove, want.definition}) ||
			!p.Cap.Equal(want.limit) {
			t.Errorf("%q: got %+v", text, p)
		}
		must(t, p.check())
	}
}

// TestParseWholePolicy reads a policy with every key, and public keys as text and from files.
func TestParseWholePolicy(t *testing.T) {
	folder := t.TempDir()
	anna, err := sign.Generate(filepath.Join(folder, "anna"))
	must(t, err)
	bo, carl := newKey(t).Public(), newKey(t).Public()
	text := "account: lfs-2026q1\nprotects: person\nneighbours: replace\ncap: {rho: 1/2, delta: 1e-6}\n" +
		"parent: lfs-register\n" +
		"allowance: {per: quarter, cap: {rho: 1/8, delta: 1e-7}}\napprovals: {methodologist: [anna.pub, " +
		bo.String() +
		"], officer: [" + carl.String() + "]}\nwitness: /mnt/safe/ledger.heads\n"
	path := filepath.Join(folder, "policy.yaml")
	p, err := ParsePolicy(path, []byte(text))
	must(t, err)
	want := Policy{Account: "lfs-2026q1", Terms: Terms{"person", Replace, Rho}, Cap: rhoDelta("1/2", "1e-6"),
		Parent:    "lfs-register",
		Allowance: &Allowance{Quarter, rhoDelta("1/8", "1e-7")},
		Approvals: map[string][]sign.PublicKey{"methodologist": {bo, anna}, "officer": {carl}},
		Witness:   "/mnt/safe/ledger.heads"}
	if !p.equal(want) {
		t.Errorf("read %+v; want %+v", p, want)
	}
	must(t, p.check())
	for name, change := range map[string]func(*Policy){
		"parent": func(p *Policy) { p.Parent = "" }, "allowance": func(p *Policy) { p.Allowance = nil },
		"period":  func(p *Policy) { p.Allowance = &Allowance{Year, p.Allowance.Cap} },
		"allowed": func(p *Policy) { p.Allowance = &Allowance{Quarter, rho("1/8")} },
		"roles":   func(p *Policy) { p.Approvals = nil }, "witness": func(p *Policy) { p.Witness = "" },
		"keys": func(p *Policy) { p.Approvals = map[string][]sign.PublicKey{"methodologist": {bo}, "officer": {carl}} },
		"cap":  func(p *Policy) { p.Cap = rho("1/2") },
	} {
		other := want
		change(&other)
		if p.equal(other) {
			t.Errorf("a policy with another %s is the same", name)
		}
	}
}

// TestPolicyOfTheDocumentation checks that the policy in docs/ledger.md is valid.
func TestPolicyOfTheDocumentation(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "ledger.md"))
	must(t, err)
	_, rest, found := strings.Cut(string(page), "```yaml\n")
	text, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatal("docs/ledger.md shows no policy")
	}
	folder := t.TempDir()
	for _, name := range []string{"anna", "bo", "carl"} {
		_, err := sign.Generate(filepath.Join(folder, name))
		must(t, err)
	}
	p, err := ParsePolicy(filepath.Join(folder, "policy.yaml"), []byte(text))
	must(t, err)
	if must(t, p.check()); p.Allowance == nil || p.Parent == "" || p.Witness == "" ||
		len(p.Approvals["methodologist"]) != 2 {
		t.Errorf("it does not show every key: %+v", p)
	}
}

// TestPolicyErrors shows every complaint as a person reads it.
func TestPolicyErrors(t *testing.T) {
	const head = "account: lfs-panel\nprotects: person\nneighbours: add-remove\n"
	for name, c := range map[string]struct{ text, want string }{
		"unknown key": {head + "capp: {epsilon: 6}\n", `
policy.yaml:4:1: capp: unknown key "capp"
    4 | capp: {epsilon: 6}
      | ^
  expected: one of account, protects, neighbours, cap, parent, allowance, approvals, witness
  did you mean "cap"?
  fix: cap: {epsilon: 6}`},
		"unknown amount": {head + "cap: {epsilonn: 6}\n", `
policy.yaml:4:7: cap.epsilonn: unknown key "epsilonn"
    4 | cap: {epsilonn: 6}
      |       ^
  expected: one of epsilon, rho, delta
  did you mean "epsilon"?
  fix: cap: {epsilon: 6}`},
		"twice": {head + "cap: {epsilon: 6}\nprotects: trip\n", `
policy.yaml:5:1: protects: duplicate key "protects"
    5 | protects: trip
      | ^
  expected: each key once; the first is in line 2`},
		"values": {"account: LFS panel\nprotects: ~\nneighbours: add_remove\ncap: {rho: -1, delta: 1}\n", `
policy.yaml:1:10: account: found "LFS panel"
    1 | account: LFS panel
      |          ^
  expected: the name of an account: at most 100 of a-z, 0-9, '.', '_' and '-', the first a letter or digit
policy.yaml:2:11: protects: found unquoted ~
    2 | protects: ~
      |           ^
  expected: a noun such as person, patient or enterprise, of at most 100 bytes
policy.yaml:3:13: neighbours: found "add_remove"
    3 | neighbours: add_remove
      |             ^
  expected: add-remove or replace
  did you mean "add-remove"?
  fix: neighbours: add-remove
policy.yaml:4:12: cap.rho: "-1" is not a positive number
    4 | cap: {rho: -1, delta: 1}
      |            ^
  expected: a decimal or a fraction such as 6, 0.5, 1/2 or 1e-6
policy.yaml:4:23: cap.delta: δ is a probability
    4 | cap: {rho: -1, delta: 1}
      |                       ^
  expected: a number above 0 and below 1`},
		"two definitions": {head + "cap: {epsilon: 6, delta: 1e-6}\n", `
policy.yaml:4:1: cap: epsilon, delta do not go together: an account adds up ρ, or ε of releases without a δ
    4 | cap: {epsilon: 6, delta: 1e-6}
      | ^
  expected: the ρ that promises ε = 6 at δ = 1e-6, whatever releases add up to it: 0.6385
  fix: cap: {rho: 0.6385}`},
		"two definitions of an allowance": {head + "cap: {rho: 1}\nallowance: {per: year, cap: {epsilon: 1, delta: 1e-6}}\n", `
policy.yaml:5:24: allowance.cap: epsilon, delta do not go together: an account adds up ρ, or ε of releases without a δ
    5 | allowance: {per: year, cap: {epsilon: 1, delta: 1e-6}}
      |                        ^
  expected: the ρ that promises ε = 1 at δ = 1e-6, whatever releases add up to it: 0.02435
  fix: cap: {rho: 0.02435}`},
		"bare cap": {head + "cap: 6\n", `
policy.yaml:4:6: cap: found the number 6
    4 | cap: 6
      |      ^
  expected: {epsilon: …}, {rho: …} or {rho: …, delta: …}`},
		"noun": {"account: a\nprotects: [person]\nneighbours: replace\ncap: {epsilon: 1}\n", `
policy.yaml:2:11: protects: found a list
    2 | protects: [person]
      |           ^
  expected: a noun such as person, patient or enterprise, of at most 100 bytes`},
		"alias": {"account: &a a\nprotects: *a\nneighbours: replace\ncap: {epsilon: 1}\n", `
policy.yaml:1:10: account: an anchor (&a)
    1 | account: &a a
      |          ^
  expected: no anchors: there are no aliases to use them
policy.yaml:2:11: protects: an alias (*a)
    2 | protects: *a
      |           ^
  expected: the value itself, written out again`},
		"tag": {head + "cap: {epsilon: !!str 1}\n", `
policy.yaml:4:16: cap.epsilon: a tag (!!str)
    4 | cap: {epsilon: !!str 1}
      |                ^
  expected: no YAML tags`},
		"second document": {head + "cap: {epsilon: 1}\n---\naccount: b\n", `
policy.yaml:5:1: a second YAML document
    5 | ---
      | ^
  expected: one policy a file: a second account has a file of its own`},
		"empty": {"# nothing yet\n", `
policy.yaml:1:1: the file is empty
    1 | # nothing yet
      | ^
  expected: account, protects, neighbours and cap`},
		"list": {"- account: a\n", `
policy.yaml:1:1: found a list
    1 | - account: a
      | ^
  expected: account, protects, neighbours and cap`},
		"not yaml": {"account: a\ncap: {epsilon: 6\n", `
policy.yaml:2:1: not YAML: did not find expected ',' or '}'
    2 | cap: {epsilon: 6
      | ^
  expected: YAML; the mistake is near this line, often after it`},
		"not yaml either": {"account: a\nprotects: b: c\n", `
policy.yaml:2:1: not YAML: mapping values are not allowed in this context
    2 | protects: b: c
      | ^
  expected: YAML; the mistake is near this line, often after it`},
		"zero": {head + "cap: {epsilon: 0}\n", `
policy.yaml:4:16: cap.epsilon: "0" is not a positive number
    4 | cap: {epsilon: 0}
      |                ^
  expected: a decimal or a fraction such as 6, 0.5, 1/2 or 1e-6`},
		"infinite": {head + "cap: {epsilon: .inf}\n", `
policy.yaml:4:16: cap.epsilon: ".inf" is not a positive number
    4 | cap: {epsilon: .inf}
      |                ^
  expected: a decimal or a fraction such as 6, 0.5, 1/2 or 1e-6`},
		"parent": {head + "cap: {epsilon: 1}\nparent: lfs-panel\n", `
policy.yaml:5:9: parent: an account is not its own parent
    5 | parent: lfs-panel
      |         ^
  expected: another that is open in the same ledger`},
		"allowance": {head + "cap: {epsilon: 1}\nallowance: {per: week, cap: {rho: 1}}\n", `
policy.yaml:5:18: allowance.per: found "week"
    5 | allowance: {per: week, cap: {rho: 1}}
      |                  ^
  expected: year, quarter or month`},
		"allowance without delta": {head + "cap: {rho: 1, delta: 1e-6}\nallowance: {per: month, cap: {rho: 1}}\n", `
policy.yaml:5:30: allowance.cap: one of allowance and cap has a delta and the other none
    5 | allowance: {per: month, cap: {rho: 1}}
      |                              ^
  expected: a delta in both, or in neither`},
		"half an allowance": {head + "cap: {epsilon: 1}\nallowance: {per: month}\n", `
policy.yaml:5:1: allowance: missing key "cap"
    5 | allowance: {per: month}
      | ^
  expected: how much of the account's cap may be used in a period`},
		"approvals": {head + "cap: {epsilon: 1}\napprovals: {}\n", `
policy.yaml:5:12: approvals: is empty
    5 | approvals: {}
      |            ^
  expected: each role with its keys, such as {methodologist: [anna.pub]}`},
		"roles": {head + "cap: {epsilon: 1}\napprovals:\n  Officer: []\n  a: [ed25519:AAAA]\n  b: [nobody.pub]\n  c: carl.pub\n", `
policy.yaml:6:3: approvals.Officer: "Officer" is not a name
    6 |   Officer: []
      |   ^
  expected: a name that matches ^[a-z0-9][a-z0-9._-]{0,99}$
policy.yaml:7:7: approvals.a[0]: no public key: a public key is ed25519: and 43 characters of base64
    7 |   a: [ed25519:AAAA]
      |       ^
  expected: a key as ed25519:…, or the file of one
policy.yaml:8:7: approvals.b[0]: no public key: nobody.pub: there is no such key file: ` + "`dprelease ledger key NAME`" + ` writes the private key to NAME and the public one to NAME.pub
    8 |   b: [nobody.pub]
      |       ^
  expected: a key as ed25519:…, or the file of one
policy.yaml:9:6: approvals.c: found "carl.pub"
    9 |   c: carl.pub
      |      ^
  expected: a list of keys, such as [anna.pub]`},
		"a key twice": {head + "cap: {epsilon: 1}\napprovals:\n  a: [\"" + someKey + "\"]\n  b: [\"" + someKey + "\"]\n", `
policy.yaml:7:7: approvals.b[0]: this key stands in the role a already
    7 |   b: ["` + someKey + `"]
      |       ^
  expected: every key in one role, once`},
		"witness": {head + "cap: {epsilon: 1}\nwitness: heads.txt\n", `
policy.yaml:5:10: witness: found "heads.txt"
    5 | witness: heads.txt
      |          ^
  expected: an absolute path on another volume or host, as /mnt/safe/ledger.heads`},
		"long": {strings.Repeat("#\n", maxPolicyBytes), `
policy.yaml:1:1: a policy of more than 16384 bytes
  expected: a few lines`},
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

// FuzzParsePolicy checks that any text is a valid policy or gives a *PolicyError with a position in the text.
func FuzzParsePolicy(f *testing.F) {
	for _, text := range []string{
		"account: lfs-panel\nprotects: person\nneighbours: add-remove\ncap: {epsilon: 6}\n",
		"account: a\nprotects: trip\nneighbours: replace\ncap: {rho: 1/2, delta: 1e-6}\n",
		"account: &x a\n<<: *x\n? [a]\n: b\n", "\xff\xfe", "a: !!binary x", "--- {}\n--- {}", "cap: {epsilon: 1e400}",
		"%YAML 1.1\n---\n", "cap: {rho: 1/0}",
		"account: a\nprotects: trip\nneighbours: replace\ncap: {epsilon: 1}\n" +
			"approvals: {a: [b.pub, ed25519:x], a: {}}\nallowance: []\nwitness: ~\n",
		"account: a\nprotects: trip\nneighbours: replace\ncap: {epsilon: 1}\nparent: b\n" +
			"allowance: {per: year, cap: {epsilon: 1/2}}\napprovals: {a: [" + someKey + "]}\nwitness: /w\n",
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

// The tutorial's table of ε, δ and ρ has what a policy proposes.
func TestTheTutorialsTableIsComputed(t *testing.T) {
	text, err := os.ReadFile("../../docs/tutorial.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, epsilon := range []string{"0.5", "1", "2", "4"} {
		row := "| " + epsilon
		for _, delta := range []string{"1e-6", "1e-9"} {
			_, err := ParsePolicy("p.yaml",
				[]byte("account: a\nprotects: person\nneighbours: add-remove\ncap: {epsilon: "+epsilon+", delta: "+
					delta+"}\n"))
			var e *PolicyError
			if !errors.As(err, &e) || len(e.Problems) != 1 {
				t.Fatal(err)
			}
			row += " | " + strings.TrimSuffix(strings.TrimPrefix(e.Problems[0].Fix, "cap: {rho: "), "}")
		}
		if !strings.Contains(string(text), "\n"+row+" |\n") {
			t.Errorf("the tutorial lacks %q", row)
		}
	}
}
