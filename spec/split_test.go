package spec

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/spec/document"
	"pgregory.net/rapid"
)

// divided is a release with the given budget, with a marginal with a target for each of some leaves.
func divided(budget string, leaves ...string) Source {
	var marginals strings.Builder
	for i, path := range leaves {
		fmt.Fprintf(&marginals, "  m%d: {by: [], budget: %s, target: {margin: 10}}\n", i, path)
	}
	return Source{Text: "version: 1\nrelease: x\nprivacy: {protects: trip, neighbours: replace}\nbudget: " + budget +
		"\ntables: {t: {source: {arrow: t.arrow}, unit: row, columns: {x: {values: [a]}}}}\nmarginals:\n" +
		marginals.String()}
}

// The amounts were computed by hand, for splits of each kind.
func TestBudgetIsDivided(t *testing.T) {
	for _, c := range []struct {
		budget, leaves, total, needed, want, shares string
	}{
		{"{epsilon: 1}", "", "1", "", "1", "1"},
		{"{epsilon: 1, delta: 1e-9}", "", "1/7", "", "1/7", "1"},
		{"{epsilon: 2, split: {a: 1/3, b: 2/3}}", "a b", "2", "", "2/3 4/3", "1/3 2/3"},
		{"{rho: 1, split: {a: {rho: 1/4}, b: 1/3, c: {share: 2/3, split: {d: 50%, e: {rho: 1/10}, f: 0.5}}}}",
			"a b c.d c.e c.f", "1", "", "1/4 1/4 1/5 1/10 1/5", "1/4 1/4 1/5 1/10 1/5"},
		{"{rho: 1, split: {a: needed, b: 1/3, c: 2/3}}", "a b c", "1", "a=1/10", "1/10 3/10 3/5", "- - -"},
		{"{rho: 1, split: {a: needed, b: {rho: 1/2}}}", "a b", "1", "a=1/10", "1/10 1/2", "- 1/2"},
		{"{rho: 1, split: {a: 1/2, b: {share: 1/2, split: {n: needed, r: 100%}}}}", "a b.n b.r", "1", "b.n=1/8",
			"1/2 1/8 3/8", "1/2 - -"},
		{"{rho: 1, split: {a: needed, b: {rho: 1/2, split: {c: 1/4, d: 3/4}}}}", "a b.c b.d", "1", "a=0", "0 1/8 3/8",
			"- 1/8 3/8"},
		{"{epsilon: 1, delta: 1e-9, split: {a: {rho: 1/100}, b: 100%}}", "a b", "1/25", "", "1/100 3/100", "- -"},
		{"{epsilon: 1, delta: 1e-9, split: {a: 1/4, b: {share: 3/4, split: {c: {rho: 1/100}, d: 100%}}}}", "a b.c b.d",
			"1/25", "", "1/100 1/100 1/50", "1/4 - -"},
		{"{epsilon: 1, delta: 1e-9, split: {n: needed}}", "n", "1/25", "n=1/50", "1/50", "-"},
	} {
		r, err := Parse(divided(c.budget, strings.Fields(c.leaves)...))
		if c.leaves == "" {
			r, err = Parse(Source{Text: strings.Replace(divided(c.budget, "-").Text, "budget: -, ", "", 1)})
		}
		if err != nil {
			t.Errorf("%s: %v", c.budget, err)
			continue
		}
		needed := map[string]*big.Rat{}
		for _, one := range strings.Fields(c.needed) {
			path, amount, _ := strings.Cut(one, "=")
			needed[path], _ = new(big.Rat).SetString(amount)
		}
		total, _ := new(big.Rat).SetString(c.total)
		amounts, err := r.Budget.Divide(total, needed)
		if err != nil {
			t.Errorf("%s: %v", c.budget, err)
			continue
		}
		var got, shares []string
		for i, l := range r.Budget.Leaves {
			got = append(got, amounts[i].RatString())
			share := "-"
			if l.Share != nil {
				share = l.Share.RatString()
			}
			shares = append(shares, share)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: amounts %s, want %s", c.budget, s, c.want)
		}
		if s := strings.Join(shares, " "); s != c.shares {
			t.Errorf("%s: shares %s, want %s", c.budget, s, c.shares)
		}
	}
}

func TestWhatCannotBeDividedIsRefused(t *testing.T) {
	for _, c := range []struct{ budget, leaves, total, needed, want string }{
		{"{rho: 1, split: {a: needed, b: 100%}}", "a b", "1", "",
			`budget leaf "a" gets what its targets need, and that is not said`},
		{"{rho: 1, split: {a: needed, b: 100%}}", "a b", "1", "-1", `budget leaf "a" needs -1: less than nothing`},
		{"{rho: 1, split: {a: needed, b: 100%}}", "a b", "1", "1",
			"budget.split: nothing is left for shares: its absolute and needed parts take 1 of 1"},
		{"{rho: 1, split: {a: needed, b: {rho: 1/2}}}", "a b", "1", "3/4",
			"budget.split: its absolute and needed parts take 1.25 of 1"},
		{"{rho: 1, split: {b: 1/2, c: {share: 1/2, split: {a: needed}}}}", "b c.a", "1/3", "1/2",
			"budget.split.c.split: its absolute and needed parts take 0.5 of 1/6"},
		{"{epsilon: 1, delta: 1e-9, split: {a: {rho: 1/3}, b: 100%}}", "a b", "1/7000000000001", "",
			"budget.split: nothing is left for shares: its absolute and needed parts take 1/3 of about 1.42857e-13"},
	} {
		r, err := Parse(divided(c.budget, strings.Fields(c.leaves)...))
		if err != nil {
			t.Errorf("%s: %v", c.budget, err)
			continue
		}
		needed := map[string]*big.Rat{}
		if c.needed != "" {
			amount, _ := new(big.Rat).SetString(c.needed)
			needed["a"], needed["c.a"] = amount, amount
		}
		total, _ := new(big.Rat).SetString(c.total)
		if amounts, err := r.Budget.Divide(total, needed); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, %v, want %s", c.budget, amounts, err, c.want)
		}
	}
	if _, err := new(Budget).Divide(big.NewRat(1, 1), nil); err == nil {
		t.Error("a budget that was not read is divided")
	}
}

// drawnSplit is a random split: its text, its leaves, and its properties.
type drawnSplit struct {
	text     strings.Builder
	leaves   []string
	absolute map[string]*big.Rat
	needed   map[string]*big.Rat
	spends   bool // shares in every split
}

func (d *drawnSplit) draw(t *rapid.T, prefix string, depth int) {
	d.text.WriteString("{")
	n := rapid.IntRange(1, 4).Draw(t, "parts")
	var weights []int64
	sum, fixed := int64(0), false
	for range n {
		w := rapid.Int64Range(-2, 9).Draw(t, "weight")
		weights, sum = append(weights, w), sum+max(w, 0)
		fixed = fixed || w == -1
	}
	if sum == 0 {
		d.spends = false
	}
	for i, w := range weights {
		if i > 0 {
			d.text.WriteString(", ")
		}
		path := fmt.Sprintf("%sp%d", prefix, i)
		d.text.WriteString(fmt.Sprintf("p%d: ", i))
		if w == -2 || w == 0 {
			d.needed[path] = big.NewRat(rapid.Int64Range(0, 50).Draw(t, "needed"), 997)
			d.leaves = append(d.leaves, path)
			d.text.WriteString("needed")
			continue
		}
		form := "share: " + big.NewRat(w, max(sum, 1)).RatString()
		if w == -1 {
			amount := big.NewRat(rapid.Int64Range(1, 50).Draw(t, "amount"), 1009)
			form, d.absolute[path] = "rho: "+amount.RatString(), amount
		}
		d.text.WriteString("{" + form)
		if depth > 0 && rapid.Bool().Draw(t, "split again") {
			d.text.WriteString(", split: ")
			d.draw(t, path+".", depth-1)
		} else {
			d.leaves = append(d.leaves, path)
		}
		d.text.WriteString("}")
	}
	d.text.WriteString("}")
}

// For every split: the amounts sum to at most the total, and to the total if every split has a share; needed and
// absolute leaves get their amounts; shares that are known beforehand are shares of the total.
func TestAmountsKeepWithinTheTotal(t *testing.T) {
	refused, spent := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		d := &drawnSplit{absolute: map[string]*big.Rat{}, needed: map[string]*big.Rat{}, spends: true}
		d.draw(t, "", 2)
		total := big.NewRat(rapid.Int64Range(1, 2000).Draw(t, "total"), 1000)
		budget, known := "epsilon: 1, delta: 1e-9", false
		if rapid.Bool().Draw(t, "in rho") {
			budget, known = "rho: "+total.RatString(), true
		}
		r, err := Parse(divided("{"+budget+", split: "+d.text.String()+"}", d.leaves...))
		var problems *document.Errors
		if errors.As(err, &problems) {
			refused++
			for _, p := range problems.Problems {
				if !strings.Contains(p.Message, "amounts") {
					t.Fatalf("%s: %s", d.text.String(), p)
				}
			}
			return
		}
		amounts, err := r.Budget.Divide(total, d.needed)
		if err != nil {
			refused++
			return
		}
		spent++
		assertDivided(t, d, r.Budget, total, amounts, known)
	})
	if spent < 10 {
		t.Errorf("%d divided, %d refused: the test has lost its force", spent, refused)
	}
}

func assertDivided(t *rapid.T, d *drawnSplit, b Budget, total *big.Rat, amounts []*big.Rat, known bool) {
	sum := new(big.Rat)
	for i, l := range b.Leaves {
		sum.Add(sum, amounts[i])
		if l.Path != d.leaves[i] || l.Needed != (d.needed[l.Path] != nil) {
			t.Fatalf("leaf %d is %+v, want %s", i, l, d.leaves[i])
		}
		if l.Needed && (l.Share != nil || amounts[i].Cmp(d.needed[l.Path]) != 0) {
			t.Fatalf("leaf %s needs %s and gets %s", l.Path, d.needed[l.Path], amounts[i])
		}
		if absolute := d.absolute[l.Path]; absolute != nil && amounts[i].Cmp(absolute) != 0 {
			t.Fatalf("leaf %s is %s and gets %s", l.Path, absolute, amounts[i])
		}
		if l.Share == nil {
			if known && len(d.needed) == 0 {
				t.Fatalf("the share of leaf %s is not known", l.Path)
			}
			continue
		}
		if new(big.Rat).Mul(l.Share, total).Cmp(amounts[i]) != 0 {
			t.Fatalf("leaf %s: share %s of %s is %s", l.Path, l.Share, total, amounts[i])
		}
	}
	if order := sum.Cmp(total); order > 0 || order < 0 && d.spends {
		t.Fatalf("%s: %v take %s of %s", d.text.String(), amounts, sum, total)
	}
}

// Every total above the least can be divided, and none below it; if there is no least, no total can be divided.
func TestLeastIsEnoughAndNoMore(t *testing.T) {
	found, without := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		d := &drawnSplit{absolute: map[string]*big.Rat{}, needed: map[string]*big.Rat{}}
		d.draw(t, "", 2)
		r, err := Parse(divided("{epsilon: 1, delta: 1e-9, split: "+d.text.String()+"}", d.leaves...))
		if err != nil {
			return
		}
		least, err := r.Budget.LeastTotal(d.needed)
		if err != nil {
			without++
			if amounts, err := r.Budget.Divide(big.NewRat(1_000_000, 1), d.needed); err == nil {
				t.Fatalf("%s is divided without a least: %v", d.text.String(), amounts)
			}
			return
		}
		found++
		bit := big.NewRat(1, 1_000_000_000_000)
		_, below := r.Budget.Divide(new(big.Rat).Sub(least, bit), d.needed)
		_, above := r.Budget.Divide(new(big.Rat).Add(least, bit), d.needed)
		if below == nil || above != nil {
			t.Fatalf("%s needs %s: below %v, above %v", d.text.String(), least, below, above)
		}
	})
	if found < 10 {
		t.Errorf("%d with a least, %d without: the test has lost its force", found, without)
	}
	if _, err := new(Budget).LeastTotal(nil); err == nil {
		t.Error("a budget that was not read has a least")
	}
}
