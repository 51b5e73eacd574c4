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

	"github.com/dprelease/dprelease/internal/derive"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/publishedtest"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/plan/adaptive"
)

// A release of AIM is forged in every way that leaves each of its files in its form: verify names what does not fit.
func TestTamperRoundsOfAIM(t *testing.T) {
	o := publishedtest.Sign(t, releasetest.AIMSpec, releasetest.WalkPolicy, releasetest.WalkRows())
	assertVerifies(t, o.Folder, Options{Trust: o.Public, Export: o.Export})
	const name = "rounds/t.json"
	v := readSealed(t, o)
	genuine := v.sealed.Rounds[0]
	last := len(genuine.All) - 1
	if last < 3 || len(genuine.Classes) != 4 {
		t.Fatalf("%d rounds by classes %v", last+1, genuine.Classes)
	}
	other := func(r measured.Rounds, i, choice int) string { // what a forged round asks for
		m, err := adaptive.Answer(o.Plan.Plan(), o.Plan.Synthetic[0], i, choice, r.Classes, r.All[i].Mechanisms.Noise)
		if err != nil {
			t.Fatal(err)
		}
		return measured.Path(m.ID)
	}
	coarser := slices.Clone(genuine.Classes)
	coarser[1] = make([]int, len(coarser[1]))
	first := genuine.All[0].Choice
	for what, c := range map[string]struct {
		forge      func(r *measured.Rounds)
		file, says string
	}{
		"more spent": {func(r *measured.Rounds) {
			r.All[last].Mechanisms.Select.Parameter = new(big.Rat).Add(r.All[last].Mechanisms.Select.Parameter,
				big.NewRat(1, 64))
		}, name, "more than the block"},
		"a choice sharper": {func(r *measured.Rounds) {
			r.All[0].Mechanisms.Select.Parameter = new(big.Rat).Sub(r.All[0].Mechanisms.Select.Parameter,
				big.NewRat(1, 1<<24))
		}, name, "do not follow"},
		"more noise": {func(r *measured.Rounds) {
			r.All[0].Mechanisms.Noise.Parameter = new(big.Rat).Add(r.All[0].Mechanisms.Noise.Parameter,
				big.NewRat(1, 1<<20))
		}, name, "do not follow"},
		"no candidate": {func(r *measured.Rounds) { r.All[1].Choice = 99 }, name, "no round 2 with a choice 99"},
		"another choice": {func(r *measured.Rounds) { r.All[0].Choice = (first + 1) % 14 },
			other(genuine, 0, (first+1)%14), "missing"},
		"a round less":     {func(r *measured.Rounds) { r.All = r.All[:last] }, name, "rounds are missing"},
		"a round more":     {func(r *measured.Rounds) { r.All = append(r.All, r.All[last]) }, name, ""},
		"no rounds":        {func(r *measured.Rounds) { r.All = nil }, name, "rounds are missing"},
		"no classes":       {func(r *measured.Rounds) { r.Classes = nil }, "", ""},
		"coarser classes":  {func(r *measured.Rounds) { r.Classes = coarser }, "", ""},
		"half the classes": {func(r *measured.Rounds) { r.Classes = r.Classes[:2] }, name, "no classes of 2 columns"},
	} {
		forged := measured.Rounds{Classes: genuine.Classes, All: slices.Clone(genuine.All)}
		c.forge(&forged)
		b, err := measured.EncodeRounds(forged)
		if err != nil {
			t.Fatal(err)
		}
		dir := relisted(t, o, name, b)
		_, err = Folder(t.Context(), dir, Options{})
		var u *Unverified
		if !errors.As(err, &u) || c.file != "" && u.File != c.file || !strings.Contains(u.Says, c.says) {
			t.Errorf("%s: %v, want %s named, and %q", what, err, c.file, c.says)
		}
	}
	// Two rounds exchange places: the answer to each is under the name of its round.
	for i := range last {
		a, b := genuine.All[i], genuine.All[i+1]
		if a.Choice == b.Choice || !a.Mechanisms.Equal(b.Mechanisms) {
			continue
		}
		swapped := measured.Rounds{Classes: genuine.Classes, All: slices.Clone(genuine.All)}
		swapped.All[i], swapped.All[i+1] = b, a
		text, err := measured.EncodeRounds(swapped)
		if err != nil {
			t.Fatal(err)
		}
		assertRefused(t, relisted(t, o, name, text), Options{}, other(genuine, i, b.Choice), "missing")
		if err := v.sealed.Drawn(func(string, []byte) error { return nil }); err != nil {
			t.Fatal(err)
		}
		v.sealed.Rounds[0] = swapped
		if err := v.sealed.Drawn(func(string, []byte) error { return nil }); err == nil ||
			!strings.Contains(err.Error(), "asks for") {
			t.Errorf("rounds that exchange places are sealed: %v", err)
		}
		break
	}
}

// A folder that was changed, whose manifest asks for more rows than a machine can draw so that nothing can be compared,
// is not verified.
func TestTamperByMoreRowsThanFit(t *testing.T) {
	o := publishedtest.Sign(t, releasetest.AIMSpec, releasetest.WalkPolicy, releasetest.WalkRows())
	dir := o.CopiedFolder(t)
	record := releasetest.Record(t, dir)
	releasetest.Remanifest(t, dir, o.Plan, record,
		published.Manifest{Rows: published.RequestedRows{"t": published.MostRows}},
		map[string][]byte{"tables/modes.parquet": []byte("anything")})
	v, err := Folder(t.Context(), dir, Options{Export: o.Export})
	var unverified *Unverified
	if !errors.As(err, &unverified) || unverified.Check != "republished" {
		t.Fatalf("%v\n%+v", err, v.Checks)
	}
}

// TestTamperMicrodataWithSelectedCells: a chosen cell, a selected group, a row of microdata or a round that is not what
// the measurements lead to is found, with the manifest mended to fit.
func TestTamperMicrodataWithSelectedCells(t *testing.T) {
	text, policy := releasetest.ShopText("add-remove", "mst")
	o := publishedtest.Sign(t, text, policy, releasetest.ShopRows())
	assertVerifies(t, o.Folder, Options{Trust: o.Public, Export: o.Export})
	swapped := map[string]bool{}
	// A file with one count has the same noise, by chance, in a third of the other releases: all of ten miss it with
	// probability below 1e-4, and two files with probability below 1e-9.
	for range 10 {
		_, place := publishedtest.Run(t, releasetest.With(t, text, policy, releasetest.ShopRows()))
		for _, name := range []string{"tables/words.parquet", "tables/busy.parquet", "tables/large.parquet",
			"microdata/t.parquet"} {
			b, err := os.ReadFile(filepath.Join(place, filepath.FromSlash(name))) // of the same data, with other noise
			if err != nil {
				t.Fatal(err)
			}
			own, err := os.ReadFile(filepath.Join(o.Folder, filepath.FromSlash(name)))
			if swapped[name] || err == nil && bytes.Equal(own, b) {
				continue
			}
			assertRefused(t, relisted(t, o, name, b), Options{}, name, "")
			swapped[name] = true
		}
		if len(swapped) == 4 {
			break
		}
	}
	if len(swapped) < 3 {
		t.Errorf("%d files were swapped", len(swapped))
	}
}

// Only rounds that the method could have made verify, in the form in which they are
// written. Four columns have the pairs 01 02 03 12 13 23.
func TestTamperRounds(t *testing.T) {
	o := publishedtest.Sign(t, releasetest.WalkSpec, releasetest.WalkPolicy, releasetest.WalkRows())
	const name = "rounds/t.json"
	genuine, err := os.ReadFile(filepath.Join(o.Folder, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	v := readSealed(t, o)
	turn := string(genuine[bytes.Index(genuine, []byte(`,"select"`)):bytes.Index(genuine, []byte(`,{"choice"`))])
	if !strings.HasSuffix(turn, "}}") {
		t.Fatalf("rounds are written as %s", genuine)
	}
	choices := func(all ...int) string {
		var lines []string
		for _, c := range all {
			lines = append(lines, fmt.Sprintf(`{"choice":%d%s`, c, turn))
		}
		return `{"rounds":[` + strings.Join(lines, ",") + `]}`
	}
	form := "form in which rounds are written"
	for forged, says := range map[string]string{
		choices(0, 0, 5):    "had joined",
		choices(0, 1, 3):    "had joined", // a cycle of three columns
		choices(0, 1, 6):    "no round 3 with a choice 6",
		choices(-1, 0, 1):   "no round 1 with a choice -1",
		choices(0, 1, 2, 5): "no round 4",
		choices(0, 1):       "holds 2 rounds, where the plan has 3",
		strings.Replace(choices(0, 1, 2), `"parameter":"`, `"parameter":"9`,
			1): "more than the block",
		strings.Replace(choices(0, 1, 2), `gaussian","parameter":"`, `gaussian","parameter":"9`,
			1): "not made by the mechanisms",
		strings.Replace(choices(0, 1, 2), `"l1":"1"`, `"l1":"2"`,
			1): "for these neighbours",
		strings.Replace(choices(0, 1, 2), `{"rounds"`, `{"classes":[null,null,null,[0,0]],"rounds"`,
			1): "have no classes",
		strings.Replace(choices(0, 1, 2), `},{"choice"`, `}, {"choice"`, 1): form,
		strings.Replace(choices(0, 1, 2), `]}`, `],"note":"x"}`, 1):         form,
		`{"rounds":null}`: form,
		`[0,1,2]`:         form,
		``:                form,
	} {
		dir := relisted(t, o, name, []byte(forged+"\n"))
		assertRefused(t, dir, Options{}, name, says)
	}
	same := relisted(t, o, name, genuine)
	assertListed(t, assertVerifies(t, same, Options{}).Unchecked, "were truly chosen as the plan says")

	// A choice without its answer.
	answer := measured.Path(v.sealed.Rounds[0].All[1].Measured.Measurement.ID)
	dir := o.CopiedFolder(t)
	if err := os.Remove(filepath.Join(dir, filepath.FromSlash(answer))); err != nil {
		t.Fatal(err)
	}
	assertRefused(t, dir, Options{}, answer, "is missing")
}

// relisted is the release, unsigned, with another file in a place, which the manifest lists.
func relisted(t *testing.T, o releasetest.Signed, name string, b []byte) string {
	t.Helper()
	dir := o.CopiedFolder(t)
	releasetest.Remanifest(t, dir, o.Plan, releasetest.Record(t, dir), published.Manifest{}, map[string][]byte{name: b})
	return dir
}

// Rounds that are rewritten consistently are found as measurements are: by the office's
// signature, or by the seal in its ledger.
func TestTamperRoundsNeedTheKey(t *testing.T) {
	o := publishedtest.Sign(t, releasetest.WalkSpec, releasetest.WalkPolicy, releasetest.WalkRows())
	assertVerifies(t, o.Folder, Options{Trust: o.Public, Export: o.Export})
	for name, change := range map[string]func(rounds []measured.Round){
		"an answer": func(rounds []measured.Round) {
			values := slices.Clone(rounds[0].Measured.Values.Int64Values())
			values[0] += 100
			rounds[0].Measured.Values = releasetest.Integers(values)
		},
		"their order": func(rounds []measured.Round) { rounds[0], rounds[2] = rounds[2], rounds[0] },
	} {
		v := readSealed(t, o)
		change(v.sealed.Rounds[0].All)
		dir := filepath.Join(t.TempDir(), "trips")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := derive.Release(t.Context(), derive.NewFolder(dir), v.sealed, *v.record, published.Manifest{},
			derive.Modules()); err != nil {
			t.Fatal(err)
		}
		assertVerifies(t, dir, Options{})
		assertRefused(t, dir, Options{Trust: o.Public}, published.SignatureFile, "missing")
		_, err := Folder(t.Context(), dir, Options{Export: o.Export})
		var u *Unverified
		if !errors.As(err, &u) || !strings.Contains(u.Says, "other measurements") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
