package page

// This file renders the what-if page: how accurate the tables of a plan would be with another budget, as sliders move,
// and the spec with that budget.

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

//go:embed whatif.html.tmpl
var whatIfText string

//go:embed whatif.css
var whatIfStyle string

//go:embed whatif.js
var whatIfScript string

var whatIfTemplate = template.Must(template.New("what-if").Funcs(template.FuncMap{
	"steps": stepsOf,
}).Parse(whatIfText))

// whatIf is the data of the page.
type whatIf struct {
	Policy               string
	Style                template.CSS
	Script, Data         template.JS
	Title, Release, Hash string
	Budget, File         string
	Command              string
	Place                string   // what follows --html in the command that makes the page
	Amounts              []number // of the whole budget
	FixedDelta           string   // a δ that the page keeps
	Levers, Fixed        []lever
	Targets              []number
	Banded, Aimed        bool
	Open                 bool // the planner chooses the kind of noise
	Rows                 []whatIfRow
	Notes                []string
}

// number is a number of the spec: what it is of, its path of keys, and how it is written.
type number struct {
	Of    string `json:"of"`
	Path  string `json:"path"`
	Text  string `json:"text"`
	Label string `json:"-"`
	Note  string `json:"-"`
}

// The kinds of lever.
const (
	shareLever  = "share"
	amountLever = "amount"
	neededLever = "needed"
)

// lever is a part of the budget's split, as the page moves it.
type lever struct {
	Path   string  `json:"path"`
	Kind   string  `json:"kind"`
	Stated bool    `json:"stated,omitempty"` // it is a number of the budget in the spec
	Value  float64 `json:"value"`            // a share, or an amount
	Leaf   int     `json:"leaf"`             // its index, for a leaf
	Parts  []lever `json:"parts,omitempty"`
	Number number  `json:"-"`
	Key    string  `json:"-"`
	Share  string  `json:"-"`
	Within string  `json:"-"` // the part that it belongs to
}

// goal is the target of a marginal, as the page moves it.
type goal struct {
	Marginal string  `json:"marginal"`
	Value    float64 `json:"value"`        // as the spec has it: rows, or a part of At
	At       float64 `json:"at,omitempty"` // rows
	Needed   bool    `json:"needed,omitempty"`
	Tables   []int   `json:"tables"`
}

// whatIfData is what the script reads. The text of the spec is Source, with one of Numbers between every two parts.
type whatIfData struct {
	Asked    float64            `json:"asked"`
	Delta    float64            `json:"delta,omitempty"`
	Command  string             `json:"command"`
	Source   []string           `json:"source"`
	Numbers  []number           `json:"numbers"`
	Split    []lever            `json:"split"`
	Targets  []goal             `json:"targets"`
	Forecast *compiled.Forecast `json:"forecast"`
}

// whatIfRow is a table, or a figure of one, as planned.
type whatIfRow struct {
	Path, Name, Of                     string
	Error, Margin, Tenth, Band, Target string
	Figures                            []whatIfRow
}

// WhatIf renders the page from the error forecasts alone. The page loads nothing: its content security policy allows
// its only script and its style, by their hashes, and no connection. It names the command that makes it anew, in which
// place follows --html: a file, or options; none for the usual file.
func WhatIf(p *compiled.Forecast, place ...string) ([]byte, error) {
	r := p.Plan.Release()
	data := whatIfData{Asked: floatOf(r.Budget.Epsilon), Delta: floatOf(r.Budget.Delta), Command: planCommand(r),
		Targets: newGoals(p), Forecast: p}
	if p.Key == "rho" {
		data.Asked = floatOf(r.Budget.Rho)
	}
	var err error
	if data.Source, data.Numbers, err = cutSource(r); err != nil {
		return nil, fmt.Errorf("rendering the what-if page: %w", err)
	}
	numbers := map[string]number{}
	for _, n := range data.Numbers {
		numbers[n.Of] = n
	}
	leaf := 0
	data.Split = newLevers(p, numbers, p.Split, "", &leaf)
	style := styleText + whatIfStyle
	page := whatIf{
		Policy: fmt.Sprintf("default-src 'none'; style-src %s; script-src %s; base-uri 'none'; form-action 'none'",
			sourceHash(style), sourceHash(whatIfScript)),
		Style: template.CSS(style), Script: template.JS(whatIfScript),
		Title: r.About.Title, Release: p.Plan.Name, Hash: p.Plan.Hash(), Budget: describe.Budget(p.Plan.Guarantee),
		File: r.Source.Name, Command: data.Command, Levers: data.Split,
		Open: r.Budget.Delta != nil && r.Budget.Noise == "",
	}
	if page.Levers[0].Path == "" {
		page.Levers, page.Fixed = data.Split[0].Parts, data.Split[1:]
	}
	for _, word := range place {
		page.Place += " " + shellWord(word)
	}
	page.setNumbers(p, numbers, data.Targets)
	text, err := asciiJSON(data)
	if err != nil {
		return nil, fmt.Errorf("rendering the what-if page: %w", err)
	}
	page.Data = template.JS(text)
	errors := columnOf(language.English, p.Plan.Tables, words.FormOfColumn,
		func(t plan.Table) []float64 { return []float64{t.Statistics[0].StandardError} })
	for i, t := range p.Plan.Tables {
		page.Rows = append(page.Rows, rowOf(t, p.Tables[i], errors))
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

// setNumbers sets the amounts and the targets that the page changes.
func (page *whatIf) setNumbers(p *compiled.Forecast, numbers map[string]number, goals []goal) {
	labelled := func(of, label string) number {
		n := numbers[of]
		n.Label = label
		return n
	}
	page.Amounts = []number{labelled(p.Key, words.Either(p.Key == "rho", "ρ", "ε")+" of the whole release")}
	if delta, ok := numbers["delta"]; ok && len(p.Deltas) == 0 {
		page.FixedDelta = delta.Text
	} else if ok {
		page.Amounts = append(page.Amounts, labelled("delta", "δ of the whole release"))
	}
	for _, g := range goals {
		n := labelled("target."+g.Marginal, "Margin of "+g.Marginal)
		n.Note = words.When(g.Needed, "It decides what its part of the budget gets: plan again to see what follows.")
		page.Targets = append(page.Targets, n)
	}
}

// cutSource cuts the text of a spec at the numbers that the page changes.
func cutSource(r *spec.Release) (texts []string, numbers []number, err error) {
	all, err := r.Numbers()
	if err != nil {
		return nil, nil, err
	}
	text, from := r.Written(), 0
	for _, n := range all {
		texts, from = append(texts, text[from:n.From]), n.To
		numbers = append(numbers, number{Of: n.Of, Path: pathOf(n.Of), Text: text[n.From:n.To]})
	}
	return append(texts, text[from:]), numbers, nil
}

// pathOf returns the path of a number in the spec.
func pathOf(of string) string {
	if leaf, ok := strings.CutPrefix(of, "leaf."); ok {
		return "budget.split." + leaf
	}
	if marginal, ok := strings.CutPrefix(of, "target."); ok {
		return "marginals." + marginal + ".target.margin"
	}
	return "budget." + of
}

// planCommand returns the command that plans a spec with the values of its parameters.
func planCommand(r *spec.Release) string {
	command := "dprelease plan " + shellWord(r.Source.Name)
	for _, name := range slices.Sorted(maps.Keys(r.Source.Params)) {
		command += " --set " + shellWord(name+"="+r.Source.Params[name])
	}
	return command
}

// shellWord returns a text as one word for a shell.
func shellWord(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// plainWord is a word that a shell takes as it is.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./=:,@%+-]+$`)

// newGoals returns the targets of a release that tables of its plan have.
func newGoals(p *compiled.Forecast) []goal {
	all := []goal{}
	for _, m := range p.Plan.Release().Marginals {
		if m.Target == nil {
			continue
		}
		g := goal{Marginal: m.Name, Value: floatOf(m.Target.Margin)}
		if m.Target.At != nil {
			g.Value, g.At = floatOf(m.Target.Share), floatOf(m.Target.At)
		}
		for i, t := range p.Plan.Tables {
			if t.Marginal == m.Name {
				g.Tables = append(g.Tables, i)
			}
		}
		for _, l := range p.Plan.Leaves {
			g.Needed = g.Needed || slices.Contains(m.PaidBy(), l.Path) && l.Needed
		}
		all = append(all, g)
	}
	return all
}

// asciiJSON returns a value as JSON in ASCII, so that nothing on the way to the script changes a character of the spec:
// the encoder escapes <, > and &, and what is beyond ASCII is escaped here.
func asciiJSON(value any) (string, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, r := range string(text) {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		}
	}
	return b.String(), nil
}

// floatOf returns the nearest floating-point number, 0 for none.
func floatOf(x *big.Rat) float64 {
	if x == nil {
		return 0
	}
	v, _ := x.Float64()
	return v
}

// sourceHash names an inline script or style in a content security policy.
func sourceHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// newLevers returns the parts of a split. leaf is the index of its first leaf, and is advanced past its last.
func newLevers(p *compiled.Forecast, numbers map[string]number, parts []spec.Part, within string, leaf *int) []lever {
	var all []lever
	for _, part := range parts {
		l := lever{Path: part.Path, Key: part.Path[strings.LastIndex(part.Path, ".")+1:], Within: within}
		n, stated := numbers["leaf."+part.Path]
		l.Stated, l.Number, l.Number.Label = stated, n, l.Key
		switch {
		case part.Share != nil:
			l.Kind, l.Value, l.Share = shareLever, floatOf(part.Share), shareText(part.Share)
		case part.Amount != nil:
			l.Kind, l.Value, l.Number.Label = amountLever, floatOf(part.Amount), l.Key+", an amount"
		default:
			l.Kind, l.Value = neededLever, p.Amounts[*leaf]
		}
		if part.Parts == nil {
			l.Leaf = *leaf
			*leaf++
		} else {
			l.Parts = newLevers(p, numbers, part.Parts, part.Path, leaf)
		}
		all = append(all, l)
	}
	return all
}

// shareText writes a share in percent if that takes few digits, and otherwise as a fraction.
func shareText(x *big.Rat) string {
	percent := new(big.Rat).Mul(x, big.NewRat(100, 1))
	if places, exact := percent.FloatPrec(); exact && places <= 4 {
		return percent.FloatString(places) + "%"
	}
	return x.RatString()
}

// rowOf returns a table as it is planned, with its error in the form of all errors.
func rowOf(t plan.Table, known compiled.TableForecast, errors aligned) whatIfRow {
	s := t.Statistics[0]
	row := whatIfRow{Path: t.Path, Error: errors.Text(s.StandardError), Margin: words.Margin(s.Margin),
		Tenth: budget.Group(10 * describe.WholeMargin(s.Margin))}
	row.Band = describe.Label(language.English, t.Usefulness)
	if t.Target != nil {
		row.Target = fmt.Sprintf("met: ±%s of ±%s", whatIfDecimal(t.Target.Reached), whatIfDecimal(known.Target))
	}
	for _, said := range known.Figures {
		for _, f := range t.Figures {
			if f.Name != said.Name {
				continue
			}
			one := whatIfRow{Name: f.Name, Error: "–", Margin: whatIfDecimal(f.Quality.Margin)}
			if !said.Wide {
				one.Error = whatIfDecimal(f.Quality.StandardError)
			}
			if f.Quality.Rows > 0 {
				one.Of = "of " + budget.Plural(f.Quality.Rows, "row")
			}
			row.Figures = append(row.Figures, one)
		}
	}
	return row
}

// whatIfDecimal writes an error as the script of the page does.
func whatIfDecimal(v float64) string { return budget.DecimalNearest(v, 4) }

// whatIfNotes says what the figures mean and what they keep fixed.
func whatIfNotes(p *compiled.Forecast, page whatIf) []string {
	published := words.Either(p.Plan.Consistent != nil, "the count, before it is made to add up,",
		"the published count")
	roots := slices.ContainsFunc(p.Roots, func(root float64) bool { return root > 0 })
	notes := words.NonEmpty(
		"A margin is half the width of the interval of the widest cell: 19 times in 20 "+published+
			" lies that near to the exact one. Counts from “good to 10%” on have a margin of at most a tenth of "+
			"themselves.",
		"The page keeps what the plan chose: the measurements, how each part of the budget is divided among them, "+
			"the kind of noise, and how quantiles are found. With another budget the planner may choose otherwise. "+
			"That is better for all tables together, and can be worse for one of them.",
		"With these choices a standard error here is at most 1% too small. In tables combined from several "+
			"measurements, standard errors below about 3 are overstated: by 1% at 3, by 8% at 1, by more below.",
		words.When(p.Plan.Guarantee.Delta != "",
			"The planner computed how much ρ the budget allows for some amounts of ε"+
				words.When(len(p.Deltas) > 0, " and of δ")+
				", and the page reads off between them."+
				words.When(roots, " It assumes that Laplace noise gains nothing by other shares.")),
		words.When(page.Open, "Where the planner changes the kind of noise, errors are often less than half of what "+
			"the page says. Single tables came out up to three times worse, where one part had nearly all of the budget."),
		words.When(keepsLaplace(p),
			"Tables that are put together from Laplace noise keep the law of their noise as planned. With other "+
				"shares their margins can be up to 8% larger."),
		words.When(page.Banded, bandsText(language.English)+" "+describe.SpreadText),
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
			"Where a table shows some of its cells, this is the error of the cells that it shows. Which cells these "+
				"are also depends on the budget: see the plan."),
		words.When(drawn,
			"How quantiles are found changes with the budget, and with it how much of their part of the budget they "+
				"take. Everything else that this part pays for can come out a quarter worse or more (28% was seen), "+
				"or better, than the page says."),
		words.When(slices.ContainsFunc(p.Plan.Leaves, func(l plan.Leaf) bool { return l.Needed }),
			"A part of the budget that gets what its targets need keeps that amount, and the others share the rest."),
	), sampleNotes(p.Plan.Sample),
		words.NonEmpty(words.When(len(p.Plan.Synthetic) > 0, "The error of microdata cannot be predicted.")))
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
