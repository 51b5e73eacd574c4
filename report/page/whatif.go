package page

// This file renders the what-if page: how good the tables of a plan would be with another budget, as sliders move.

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"math/big"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec"
)

//go:embed whatif.html.tmpl
var whatIfText string

//go:embed whatif.css
var whatIfStyle string

//go:embed whatif.js
var whatIfScript string

var whatIfTemplate = template.Must(template.New("what-if").Funcs(template.FuncMap{
	"steps": func(path string) []string { return strings.Split(path, "/") },
}).Parse(whatIfText))

// whatIf is the data of the page.
type whatIf struct {
	Policy               string
	Style                template.CSS
	Script, Data         template.JS
	Title, Release, Hash string
	Budget, Name, Asked  string
	Levers, Fixed        []lever
	Lines                int
	Banded, Aimed        bool
	Rows                 []whatIfRow
	Notes                []string
}

// lever is a part of the budget's split, as the page moves it.
type lever struct {
	Path   string       `json:"path"`
	Key    string       `json:"key"`
	Share  *exactNumber `json:"share,omitempty"`
	Amount *exactNumber `json:"amount,omitempty"`
	Needed float64      `json:"needed,omitempty"`
	Leaf   int          `json:"leaf"`            // its index, for a leaf
	Fixed  bool         `json:"fixed,omitempty"` // an extra outside the split
	Parts  []lever      `json:"parts,omitempty"`
	Alone  bool         `json:"-"` // it has the only share
	Within string       `json:"-"` // the part that it belongs to
}

// exactNumber is a number and its exact text.
type exactNumber struct {
	Text  string  `json:"text"`
	Value float64 `json:"value"`
}

// whatIfRow is a table, or a figure of one, as planned.
type whatIfRow struct {
	Path, Name, Of                     string
	Error, Margin, Tenth, Band, Target string
	Missed                             bool
	Figures                            []whatIfRow
}

// WhatIf renders the page from the error forecasts alone. The page loads nothing: its content security policy allows
// its only script and its style, by their hashes, and no connection.
func WhatIf(p *compiled.Forecast) ([]byte, error) {
	style := styleText + whatIfStyle
	page := whatIf{
		Policy: fmt.Sprintf("default-src 'none'; style-src %s; script-src %s; base-uri 'none'; form-action 'none'",
			sourceHash(style), sourceHash(whatIfScript)),
		Style: template.CSS(style), Script: template.JS(whatIfScript),
		Title: p.Plan.Release().About.Title, Release: p.Plan.Name, Hash: p.Plan.Hash(), Budget: describe.Budget(p.Plan.Guarantee), Name: "ε",
	}
	asked := p.Plan.Release().Budget
	amount := asked.Epsilon
	if p.Key == "rho" {
		page.Name, amount = "ρ", asked.Rho
	}
	leaf := 0
	tree := newLevers(p, p.Split, "", &leaf)
	for i := range tree {
		tree[i].Fixed = i > 0 && tree[0].Path == ""
	}
	page.Levers = tree
	if tree[0].Path == "" {
		page.Levers, page.Fixed = tree[0].Parts, tree[1:]
	}
	page.Asked, page.Lines = exactText(amount), 4+lineCount(page.Levers)
	var data bytes.Buffer
	err := json.NewEncoder(&data).Encode(struct {
		Asked    *exactNumber       `json:"asked"`
		Delta    string             `json:"delta,omitempty"`
		Minimise spec.Objective     `json:"minimise,omitempty"`
		Noise    spec.Noise         `json:"noise,omitempty"`
		Split    []lever            `json:"split"`
		Forecast *compiled.Forecast `json:"prospects"`
	}{exactOf(amount), deltaText(asked.Delta), statedObjective(asked.Minimise), asked.Noise, tree, p})
	if err != nil {
		return nil, fmt.Errorf("rendering the what-if page: %w", err)
	}
	page.Data = template.JS(data.String()) // the encoder escapes <, > and &
	for i, t := range p.Plan.Tables {
		page.Rows = append(page.Rows, rowOf(t, p.Tables[i]))
		page.Banded = page.Banded || t.Usefulness != nil && t.Usefulness.Band != ""
		page.Aimed = page.Aimed || t.Target != nil
	}
	page.Notes = whatIfNotes(p, page)
	var b bytes.Buffer
	if err := whatIfTemplate.Execute(&b, page); err != nil {
		return nil, fmt.Errorf("rendering the what-if page: %w", err)
	}
	return makeVisible(b.Bytes()), nil
}

// sourceHash names an inline script or style in a content security policy.
func sourceHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// newLevers returns the parts of a split. leaf is the index of its first leaf, and is advanced past its last.
func newLevers(p *compiled.Forecast, parts []spec.Part, within string, leaf *int) []lever {
	shares := 0
	for _, part := range parts {
		if part.Share != nil {
			shares++
		}
	}
	var all []lever
	for _, part := range parts {
		l := lever{Path: part.Path, Key: part.Path[strings.LastIndex(part.Path, ".")+1:], Share: exactOf(part.Share),
			Amount: exactOf(part.Amount), Within: within}
		if within == "" {
			l.Key = part.Path
		}
		if part.Share != nil {
			l.Share.Text, l.Alone = shareText(part.Share), shares == 1
		}
		if part.Parts == nil {
			l.Leaf = *leaf
			if part.Share == nil && part.Amount == nil {
				l.Needed = p.Amounts[*leaf]
			}
			*leaf++
		} else {
			l.Parts = newLevers(p, part.Parts, part.Path, leaf)
		}
		all = append(all, l)
	}
	return all
}

// lineCount returns how many lines the parts of a split take.
func lineCount(parts []lever) int {
	n := 0
	for _, part := range parts {
		if n++; part.Parts != nil {
			n += 2 + lineCount(part.Parts)
		}
	}
	return n
}

// exactOf returns an exact number, nil for none.
func exactOf(x *big.Rat) *exactNumber {
	if x == nil {
		return nil
	}
	v, _ := x.Float64()
	return &exactNumber{exactText(x), v}
}

// exactText writes a number as a decimal if that takes few digits, and otherwise as a fraction.
func exactText(x *big.Rat) string {
	const most = 12
	if places, exact := x.FloatPrec(); exact && places <= most {
		return x.FloatString(places)
	}
	return x.RatString()
}

// shareText writes a share in percent if that takes few digits, and otherwise as a fraction.
func shareText(x *big.Rat) string {
	percent := new(big.Rat).Mul(x, big.NewRat(100, 1))
	if places, exact := percent.FloatPrec(); exact && places <= 4 {
		return percent.FloatString(places) + "%"
	}
	return x.RatString()
}

// deltaText writes a δ as a power of ten if it is one.
func deltaText(delta *big.Rat) string {
	if delta == nil {
		return ""
	}
	if tens := delta.Denom().String(); delta.IsInt() || delta.Num().String() != "1" || strings.Trim(tens, "0") != "1" {
		return exactText(delta)
	} else {
		return fmt.Sprintf("1e-%d", len(tens)-1)
	}
}

// statedObjective returns the objective of a budget if its spec has to state it.
func statedObjective(objective spec.Objective) spec.Objective {
	if objective == spec.Guarded {
		return ""
	}
	return objective
}

// rowOf returns a table as it is planned.
func rowOf(t plan.Table, known compiled.TableForecast) whatIfRow {
	s := t.Statistics[0]
	row := whatIfRow{Path: t.Path, Error: words.Decimal(s.StandardError), Margin: words.Margin(s.Margin),
		Tenth: words.Margin(10 * s.Margin)}
	row.Band = describe.Label(t.Usefulness)
	if t.Target != nil {
		row.Target = fmt.Sprintf("met: ±%s of ±%s", words.Decimal(t.Target.Reached), words.Decimal(known.Target))
	}
	for _, said := range known.Figures {
		for _, f := range t.Figures {
			if f.Name != said.Name {
				continue
			}
			one := whatIfRow{Name: f.Name, Error: "–", Margin: words.Decimal(f.Quality.Margin)}
			if !said.Wide {
				one.Error = words.Decimal(f.Quality.StandardError)
			}
			if f.Quality.Rows > 0 {
				one.Of = "of " + budget.Plural(f.Quality.Rows, "row")
			}
			row.Figures = append(row.Figures, one)
		}
	}
	return row
}

// whatIfNotes says what the figures mean and what they keep fixed.
func whatIfNotes(p *compiled.Forecast, page whatIf) []string {
	published := words.Either(p.Plan.Consistent != nil, "the count, before it is made to add up,", "the published count")
	roots := slices.ContainsFunc(p.Roots, func(root float64) bool { return root > 0 })
	notes := words.NonEmpty(
		"A margin is half the width of the interval of the widest cell: 19 times in 20 "+published+
			" lies that near to the exact one. Counts from “good to 10%” on have a margin of at most a tenth of themselves.",
		"What the plan chose is held: which measurements there are, their parts of their leaves, the kind of noise, and the way to quantiles. With another budget the planner may choose otherwise, which is better for all tables together and can be worse for one of them.",
		"With these choices standard errors are at most 1% too small here. They are too large where the noise on what is measured is of few units, as it is taken to be continuous in tables that are put together: by 8% where its standard error is 1, by 1% where it is 3.",
		words.When(p.Plan.Guarantee.Delta != "",
			"Which ρ this δ allows was worked out by the planner for amounts up to ten times as large and as small, and is read off between them. The kind of noise is held: in a release of few tables the planner may change from Gaussian to Laplace noise or back, and with it which measurements there are. Errors are then smaller on the whole, often less than half of what is said here, but single tables can come out several times worse: three times was seen, where one part had nearly all of the budget. Plan such a setting before it is decided on."+
				words.When(roots, " Laplace noise in other shares is taken to gain nothing by them.")),
		words.When(keepsLaplace(p),
			"Tables that are put together from Laplace noise keep the law of their noise as planned: with other shares their margins can be up to 8% larger."),
		words.When(page.Banded, bands+" "+describe.SpreadText),
	)
	var chosen, drawn bool
	for _, t := range p.Plan.Tables {
		for _, f := range t.Figures {
			drawn = drawn || statistic.OfFigure(f).Ranked()
		}
		chosen = chosen || t.SomeCells()
	}
	return slices.Concat(notes, words.NonEmpty(
		words.When(chosen,
			"Of tables that show some of their cells this is the error of what they show. Which cells these are also depends on the budget: the plan tells how."),
		words.When(drawn,
			"Which way to quantiles is taken, and with it which part of its leaf they have, changes with the budget: everything else in a leaf that pays for quantiles can come out a quarter worse or more (28% was seen), or better, than it says here."),
		words.When(slices.ContainsFunc(p.Plan.Leaves, func(l plan.Leaf) bool { return l.Needed }),
			"A leaf that gets what its targets need keeps that amount, and the others share the rest."),
	), sampleNotes(p.Plan.Sample),
		words.NonEmpty(words.When(len(p.Plan.Synthetic) > 0, "Of microdata no error can be predicted.")))
}

// keepsLaplace reports whether a table is reconstructed from noise of several leaves that is not all Gaussian.
func keepsLaplace(p *compiled.Forecast) bool {
	for _, t := range p.Tables {
		for _, shared := range t.Shared {
			for _, of := range p.Shared[shared.Of] {
				if p.Roots[of.Of] > 0 {
					return true
				}
			}
		}
	}
	return false
}
