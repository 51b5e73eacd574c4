package holder

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestRollsThatAreRefused(t *testing.T) {
	keys, roll := holders(t, 3, "plan")
	changed := func(change func(r *Roll)) Roll {
		r := Roll{PlanHash: roll.PlanHash, Holders: slices.Clone(roll.Holders), Keys: maps.Clone(roll.Keys)}
		change(&r)
		return r
	}
	named := func(name string) Roll {
		return changed(func(r *Roll) {
			r.Keys[name] = r.Keys[r.Holders[0]]
			delete(r.Keys, r.Holders[0])
			r.Holders[0] = name
			slices.Sort(r.Holders)
		})
	}
	name := roll.Holders
	for _, c := range []struct {
		roll Roll
		want string
	}{
		{changed(func(r *Roll) { r.PlanHash = "" }), "plan hash"},
		{changed(func(r *Roll) { r.PlanHash = strings.ToUpper(r.PlanHash) }), "plan hash"},
		{changed(func(r *Roll) { r.Holders = nil }), "at least two"},
		{changed(func(r *Roll) { r.Holders, r.Keys = name[:1], map[string]PublicKey{name[0]: r.Keys[name[0]]} }),
			"at least two"},
		{changed(func(r *Roll) { r.Holders = make([]string, 1001) }), "at most 1000"},
		{changed(func(r *Roll) { r.Holders[0], r.Holders[1] = r.Holders[1], r.Holders[0] }), "sorted and distinct"},
		{changed(func(r *Roll) { r.Holders[1] = r.Holders[0] }), "sorted and distinct"},
		{changed(func(r *Roll) { delete(r.Keys, name[0]) }), "3 holders and 2 keys"},
		{changed(func(r *Roll) { delete(r.Keys, name[0]); r.Keys["x"] = PublicKey{} }), "no key of"},
		{changed(func(r *Roll) { r.Keys[name[0]] = PublicKey{} }), "no key of"},
		{changed(func(r *Roll) { r.Keys[name[0]] = r.Keys[name[1]] }), "have the same key"},
		{changed(func(r *Roll) {
			r.Keys[name[0]] = PublicKey{r.Keys[name[0]].signing, r.Keys[name[1]].agreeing}
		}), "have the same key"},
		{named(""), "a holder's name"}, {named(" a"), "a holder's name"}, {named("a\n"), "a holder's name"},
		{named("a\u202eb"), "a holder's name"}, {named("a\xff"), "a holder's name"},
		{named(strings.Repeat("a", 101)), "a holder's name"},
	} {
		if err := c.roll.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
		if _, err := c.roll.Sign(keys[name[0]], name[0], nil); err == nil {
			t.Errorf("signed: %s", c.want)
		}
	}
	if _, err := NewRoll(roll.PlanHash, nil); err == nil {
		t.Error("a roll of nobody")
	}
}

func TestEverythingInARollCounts(t *testing.T) {
	keys, roll := holders(t, 3, "plan")
	a := roll.Holders[0]
	nonces := map[string][]byte{}
	for i, name := range roll.Holders {
		nonces[name] = bytes.Repeat([]byte{byte(i + 1)}, NonceBytes)
	}
	with, err := roll.WithNonces(nonces)
	if err != nil {
		t.Fatal(err)
	}
	nonces[a] = bytes.Repeat([]byte{9}, NonceBytes)
	again, err := roll.WithNonces(nonces)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, r := range []Roll{roll, with, again, rollOf(t, keys, "another plan")} {
		if seen[r.Hash()] {
			t.Error("two rolls have one hash")
		}
		seen[r.Hash()] = true
	}
	if slices.Equal(maskedBy(t, with, keys[a], a, "m", make([]uint64, 9)),
		maskedBy(t, again, keys[a], a, "m", make([]uint64, 9))) {
		t.Error("masks do not depend on nonces")
	}
	nonces["x"] = nonces[a]
	if _, err := roll.WithNonces(nonces); err == nil {
		t.Error("a stranger has a nonce")
	}
	delete(nonces, "x")
	nonces[a] = nil
	if _, err := roll.WithNonces(nonces); err == nil {
		t.Error("a holder has no nonce")
	}
}

func TestSignaturesAreOfOneRollAndHolder(t *testing.T) {
	keys, roll := holders(t, 3, "plan")
	a, b := roll.Holders[0], roll.Holders[1]
	signature, err := roll.Sign(keys[a], a, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := roll.Verify(a, nil, signature); err != nil {
		t.Error(err)
	}
	if roll.Verify(a, []byte{1}, signature) == nil {
		t.Error("the signature passes for another nonce")
	}
	other := rollOf(t, keys, "another plan")
	fewer := rollOf(t, map[string]Key{a: keys[a], b: keys[b]}, "plan")
	share, err := keys[a].sign("share", roll.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for i, err := range []error{roll.Verify(b, nil, signature), roll.Verify("nobody", nil, signature),
		other.Verify(a, nil, signature),
		fewer.Verify(a, nil, signature), roll.Verify(a, nil, nil), roll.Verify(a, nil, signature[:63]),
		roll.Verify(a, nil, share),
		Roll{}.Verify(a, nil, signature)} {
		if err == nil {
			t.Errorf("case %d is verified", i)
		}
	}
	if _, err := roll.Sign(keys[a], b, nil); err == nil ||
		!strings.Contains(err.Error(), "not the one that the roll has") {
		t.Errorf("the key of another: %v", err)
	}
	if _, err := roll.Sign(keys[a], "nobody", nil); err == nil || !strings.Contains(err.Error(), `no holder "nobody"`) {
		t.Errorf("a stranger: %v", err)
	}
}
