package spec

// This file reads the holders of a release that several make together.

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/files"
	"github.com/dprelease/dprelease/spec/shape"
)

// The limits of holders.
const (
	leastHolders = 2
	mostHolders  = 1000
)

const (
	// holderSyntax is the syntax of a holder's name, which is used in names of files.
	holderSyntax = `[a-z0-9][a-z0-9_-]{0,39}`
	// disjoint says that every unit's rows are with one holder.
	disjoint = "disjoint"
	// holderKeyStart begins the line of a holder's public key, and holderKeyBytes is the length of what follows, which
	// is in base64.
	holderKeyStart = "dprelease-holder-1 "
	holderKeyBytes = 64
)

func holdersShape() *shape.Shape {
	overlap := shape.Object("{overlap: 2}",
		shape.Field{Key: "overlap", Shape: shape.Whole("how many holders can have rows of one unit, from 2 to 1000",
			2, mostHolders),
			Required: "how many holders can have rows of one unit", Fix: "overlap: 2"})
	units := "disjoint, or {overlap: 2}"
	return shape.Object("{keys, units, trusted}",
		shape.Field{Key: "keys", Shape: shape.Dictionary(
			"each holder by a name of a–z, 0–9, _ and -, with the file of its public key, such as {north: "+
				"keys/north.pub}",
			`^`+holderSyntax+`$`, shape.Text("the file of a public key").WithParams()).
			Nonempty("two holders or more, such as {north: keys/north.pub, south: keys/south.pub}"),
			Required: "the holders by name, each with the file of its public key"},
		shape.Field{Key: "units", Shape: shape.Choice(units, shape.OnMapping(overlap),
			shape.OnScalar(shape.Enum(units, disjoint))),
			Required: "whether several holders can have rows of one unit", Fix: "units: disjoint"},
		shape.Field{Key: "trusted",
			Shape:    shape.Whole("a whole number of holders, from 1 to all of them", 1, mostHolders),
			Required: "how many holders' noise, by itself, meets the guarantee"})
}

// readHolders reads those who make the release together.
func (r *reader) readHolders(root document.Node) {
	n := root.Get("holders")
	if !n.Present() || !r.IsSound(n) {
		return
	}
	h := &Holders{Overlap: max(1, n.Get("units").Get("overlap").WholeNumber()),
		Trusted: int(n.Get("trusted").WholeNumber())}
	for _, one := range r.Entries(n.Get("keys")) {
		if !r.IsSound(one) {
			continue
		}
		h.All = append(h.All, Holder{Name: one.Key.Value, Key: r.readHolderKey(one, h.All)})
	}
	slices.SortFunc(h.All, func(a, b Holder) int { return strings.Compare(a.Name, b.Name) })
	switch all := len(h.All); {
	case all < leastHolders || all > mostHolders:
		r.AddProblem(n.Get("keys"), document.Problem{Message: budget.Plural(int64(all), "holder"),
			Expected: "2 to 1000 holders: a release of one holder has none"})
	case h.Trusted > all:
		r.AddProblem(n.Get("trusted"), document.Problem{Message: "more trusted holders than there are",
			Expected: fmt.Sprintf("a number from 1 to %d", all)})
	case h.Overlap > int64(all):
		r.AddProblem(n.Get("units"), document.Problem{Message: "a unit's rows with more holders than there are",
			Expected: fmt.Sprintf("an overlap from 2 to %d, or disjoint", all)})
	}
	r.release.Holders = h
	for _, t := range r.release.Tables {
		t.Unit.Holders = h.Overlap
	}
	r.checkHoldersBudget(root.Get("budget"))
	r.refuseForHolders(root, "collect")
	if of := root.Get("synthetic"); slices.ContainsFunc(r.Entries(of), isMeasured) {
		r.refuseForHolders(root, "synthetic")
	}
	for _, t := range r.Entries(root.Get("tables")) {
		r.refuseForHolders(t, "expect", "sample")
		for _, c := range r.Entries(t.Get("columns")) {
			r.refuseForHolders(c, "bounds")
			r.refuseForHolders(c.Get("values"), "discover")
		}
	}
}

// isMeasured reports whether microdata may be made from measurements of their own, which are chosen one by one.
func isMeasured(microdata document.Node) bool {
	return !microdata.Get("method").Is(string(TablesMethod))
}

// readHolderKey reads the file of a holder's public key. It returns "" if there is a problem.
func (r *reader) readHolderKey(n document.Node, before []Holder) string {
	path, ok := r.params.Fill(n)
	if !ok {
		return ""
	}
	text, ok := r.files.ReadText(n, files.HolderKey, path)
	if !ok {
		return ""
	}
	key := strings.TrimSpace(text)
	bytes, err := base64.RawStdEncoding.Strict().DecodeString(strings.TrimPrefix(key, holderKeyStart))
	switch same := slices.IndexFunc(before, func(h Holder) bool { return h.Key == key }); {
	case !strings.HasPrefix(key, holderKeyStart) || err != nil || len(bytes) != holderKeyBytes:
		r.AddProblem(n, document.Problem{
			Message:  fmt.Sprintf("%s is not the public key of a holder", document.Clip(path)),
			Expected: "the file NAME.pub that `dprelease holder key` has written for this holder"})
		return ""
	case same >= 0:
		r.AddProblem(n, document.Problem{Message: fmt.Sprintf("the key of %s again", before[same].Name),
			Expected: "a key of each holder's own, which nobody else has"})
		return ""
	}
	r.files.KeepText(path, text)
	return key
}

// checkHoldersBudget reports a budget that holders cannot spend, and sets the law of their noise.
func (r *reader) checkHoldersBudget(n document.Node) {
	if !r.IsSound(n) {
		return
	}
	laplace, skellam := NoiseOf(budget.DefaultLaw(true)), NoiseOf(budget.Skellam)
	b := &r.release.Budget
	noise := n.Get("noise")
	if noise.Present() && b.Noise != laplace && b.Noise != skellam {
		r.AddProblem(noise, document.Problem{
			Message:  fmt.Sprintf("%s noise, which holders cannot add up from shares exactly", b.Noise.Law()),
			Expected: fmt.Sprintf("noise: %s, or leave it out", skellam), Fix: "noise: " + string(skellam)})
		return
	}
	switch {
	case noise.Present():
	case b.Rho != nil:
		b.Noise = skellam
	case b.Delta != nil:
		b.Noise = laplace
	}
}

// refuseForHolders reports keys for what is not a sum over the holders of parts that each can count by itself.
func (r *reader) refuseForHolders(at document.Node, keys ...string) {
	for _, key := range keys {
		if n := at.Get(key); n.Present() {
			r.WrongKey(n, document.Problem{
				Message:  fmt.Sprintf("%s in a release of several holders: %s", key, holdersCannot[key]),
				Expected: "no " + key})
		}
	}
}

// holdersCannot says, by key, why a release of several holders cannot have it.
var holdersCannot = map[string]string{
	"collect": "reports of respondents are with the collector, and no holder has them",
	"synthetic": "each step of a method that measures microdata depends on answers to the steps before, which no " +
		"holder sees; microdata of method tables are made from the published tables",
	"expect":   "it is about all rows, of which each holder has a part",
	"sample":   "units are drawn from all rows, of which each holder has a part",
	"bounds":   "bounds are suggested from all values, of which each holder has a part",
	"discover": "the values that many units have are found among all rows, of which each holder has a part",
	"cells":    "no holder can see which cells have a count above the threshold",
	"top":      "no holder can see which cells have the largest counts",
}

// checkHeldMarginal reports what cannot be added up over holders.
func (r *reader) checkHeldMarginal(m *Marginal, n document.Node) {
	if r.release.Holders == nil {
		return
	}
	r.refuseForHolders(n, "cells", "top")
	for i, item := range n.Get("stats").Items() {
		switch s := m.Stats[i]; {
		case statKinds[s.Kind].ofValues:
			r.AddProblem(item, document.Problem{
				Message:  "different values do not add up over holders: the same value can occur with several",
				Expected: "count, units, sum, mean, ratio, variance, quantiles or median"})
		case s.Kind.countsUnits() && r.release.Holders.Overlap > 1:
			r.AddProblem(item, document.Problem{
				Message:  "units do not add up over holders, of which several can have rows of one unit",
				Expected: "count, which counts rows, or units: disjoint"})
		}
	}
}
