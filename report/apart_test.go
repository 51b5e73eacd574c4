package report_test

// This file tests what pages say about which cells differ, and which could be zero.

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/maker"
	"github.com/dprelease/dprelease/report/page"
)

// At ε = 4/15 a cell has discrete Laplace noise of scale 15/4, and the smallest real difference follows from the
// distribution of the difference of two draws, summed value by value. It is stated in the table at a glance, next
// to the table and under its chart.
func TestTwoCellsDifferFromTheDistanceOfTheirLaw(t *testing.T) {
	chances := make([]float64, 400) // of a difference of at least the index
	var norm float64
	for x := -300; x <= 300; x++ {
		for y := -300; y <= 300; y++ {
			p := math.Exp(-(math.Abs(float64(x)) + math.Abs(float64(y))) / 3.75)
			norm += p
			if d := max(x-y, y-x); d < len(chances) {
				chances[d] += p
			}
		}
	}
	want, beyond := 0, norm
	for beyond > 0.05*norm {
		beyond -= chances[want]
		want++
	}
	r := reportOf(t, noisyInput(noisyCounts["status"]))
	s := r.Tables[0].Statistics[0]
	if s.CellsDifferFrom != int64(want) || s.CellsDifferBound {
		t.Errorf("two cells differ from %d on, want %d", s.CellsDifferFrom, want)
	}
	apart := fmt.Sprintf("at least %d apart", want)
	rule := "Call two counts of one table different only if they are " + apart + ". " +
		"Noise puts two cells with equal exact counts that far apart at most 5 times in 100. " +
		"If you picked the two because their counts differ, require twice that distance. " +
		"Cells of two tables or releases, and other figures, differ if their intervals do not touch. " +
		"Two equal figures are taken for different at most 10% of the time."
	if r.Comparison != rule {
		t.Errorf("got  %s\nwant %s", r.Comparison, rule)
	}
	if text, more := r.Reading[1].Text, "is enough if there were up to 20 pairs to pick from"; !strings.Contains(text,
		more) {
		t.Errorf("how to read: %q is not said:\n%s", more, text)
	}
	page := pageOf(t, r)
	for _, said := range []string{
		fmt.Sprintf("; smallest real difference %d.", want),
		`<dt id="differ">When two cells differ</dt><dd><p>` + rule,
		`<li>More such advice: <a href="#not-reading">How not to read them</a></li>`,
		"Two cells of the table differ if they are at least this far apart, even if their intervals overlap (see " +
			"“When two cells differ”).",
		fmt.Sprintf(`<td class="word">use</td><td class="n">%d</td>`, want)} {
		if !strings.Contains(page, said) {
			t.Errorf("the page does not say %q", said)
		}
	}
}

// A single rule says for every table whether its cells may be used one by one: in the list of tables, in the terminal,
// in report.md and where the box names tables.
func TestOneRuleSaysWhichCellsToUse(t *testing.T) {
	for counts, want := range map[[6]int64]string{
		{500, 600, 400, 300, 700, 800}: "use",
		{500, 12, 400, 3, 700, -4}:     "add up first",
		{500, 5, 400, 3, 700, -4}:      "add up first", // half could be zero, and the noise is small beside an average cell
		{3, 25, 2, 13, 1, -4}:          "do not use cell by cell",
	} {
		r := reportOf(t, noisyInput(counts[:]))
		box, not := strings.Join(r.Misuse, "\n")+strings.Join((page.View{Report: r}).Further(), " "),
			want == "do not use cell by cell"
		for place, is := range map[string]bool{
			"list": strings.Contains(pageOf(t, r), `<td class="word">`+want+`</td>`),
			"terminal": strings.Contains(string(page.Terminal(r, screen.Look{Columns: 200}, "f", false)),
				"  "+want+"\n"),
			"markdown": strings.Contains(string(page.Markdown(r)), "| status | count | "+want+" |"),
			"box": strings.Contains(box,
				"Do not use the table status cell by cell: the noise is large compared with an average cell, and 4 "+
					"of its 6 cells could be zero.") == not &&
				strings.Contains(box, "No table has to be avoided") != not,
			"readme": strings.Contains(strings.Join(strings.Fields(string(page.Readme(r))), " "),
				"Do not use the table status cell by cell: the noise is large compared with an average cell, and 4 "+
					"of its 6 cells could be zero.") == not,
		} {
			if !is {
				t.Errorf("%s: the %s says otherwise", want, place)
			}
		}
	}
}

// A single cell has no other to differ from. The error of a secret sample has no noise distribution, so that only
// intervals decide.
func TestNoDistanceIsSaidWhereNoneIsKnown(t *testing.T) {
	for _, s := range reportOf(t, levelsInput()).Tables {
		if (s.Cells == 1) != (s.Statistics[0].CellsDifferFrom == 0) {
			t.Errorf("%s of %d cells: %d", s.Path, s.Cells, s.Statistics[0].CellsDifferFrom)
		}
	}
	sampled := reportOf(t, specInput(report.Official, strings.Replace(oneTable("{epsilon: 1, delta: 1e-9}"),
		"source: {parquet: lfs.parquet},", "source: {parquet: lfs.parquet}, sample: {poisson: 10%},", 1)))
	if sampled.HasCellDifferences() || !strings.Contains(sampled.Comparison, "twice the margin") ||
		!strings.Contains(sampled.Reading[1].Heading, "intervals are apart") {
		t.Errorf("%v\n%v", sampled.Comparison, sampled.Reading[1])
	}
}

// Of the six counts 12 and 3 are at most one above the margin of 11: 3 and −4 could be zero.
func TestTheBoxCountsCellsThatCouldBeZero(t *testing.T) {
	r := reportOf(t, noisyInput([]int64{500, 12, 400, 3, 700, -4}))
	want := "Do not use a cell on its own if its interval reaches zero, as it could be zero: 2 of 6 cells, in status " +
		"(2 of 6). The list “Cells that could be zero” names them."
	if box := strings.Join(r.Misuse, "\n"); !strings.Contains(box, want) {
		t.Errorf("the box says\n%s", box)
	}
	html := pageOf(t, r)
	for _, said := range []string{
		`2 of 6 cells, in <a href="#table-1">status</a> (2 of 6). The list <a href="#zero">“Cells that could be zero”</a> names them.`,
		`<tr id="table-1">`,
		`<td class="word">add up first</td><td class="n">16</td><td class="n"><a href="#zero-1-1">2 of 6</a></td>`,
		`<tr id="zero-1-1"><th scope="row"><a href="#table-1">status</a></th><td class="n">2 of 6</td><td>By sex and status: male, employed; male, inactive</td></tr>`,
	} {
		if !strings.Contains(html, said) {
			t.Errorf("the page does not say %q", said)
		}
	}
	none := reportOf(t, noisyInput([]int64{500, 600, 400, 300, 700, 12}))
	if box := strings.Join(none.Misuse, "\n"); strings.Contains(box, "single cell") ||
		!strings.Contains(strings.Join((page.View{Report: none}).Further(), " "), "no count could be zero") {
		t.Errorf("%s\n%v", box, (page.View{Report: none}).Further())
	}
}

// Values that a policy counts as a category are a bias of the tables with the column, at every level. A category that a
// range adds only for them shows how many they are.
func TestValuesPutIntoACategoryAreABias(t *testing.T) {
	r := reportOf(t, specInput(report.Official, head("{epsilon: 2}",
		"sex: {values: [female, male], unknown: {as: male}, null: drop}, age: {type: integer, range: [0, 5], null: "+
			"{as: not stated}, levels: {half: {width: 3}}}",
		"sexes: {by: [sex]}, halves: {by: [age.half]}")))
	want := map[string]string{
		"Unknown values of sex count as male": "[sexes] that category too high, the others too low: not known: " +
			"no budget is set aside to count this",
		"Missing values of age count as not stated": "[halves] the other categories too low: by at most the count of " +
			"“not stated”, a category of missing values of age only",
	}
	for _, b := range r.Bias {
		if said, ok := want[b.Cause]; ok {
			if got := fmt.Sprintf("%v %s: %s", b.Tables, b.Direction, b.Size); got != said {
				t.Errorf("%s: got %s, want %s", b.Cause, got, said)
			}
			delete(want, b.Cause)
		}
	}
	if len(want) > 0 {
		t.Errorf("%v are not among %v", want, r.Bias)
	}
}

// The bar of what cells can be used for covers all of them: without classes in the spec, it includes cells that are
// shown as 0.
func TestCellsShownAsZeroAreInTheBar(t *testing.T) {
	page := pageOf(t, reportOf(t, noisyInput([]int64{500, 600, 400, 12, 0, -40})))
	if want := "margin at most 10%: " + budget.Percent(3.0/6) + "; at most 50%: 0%; more: " + budget.Percent(1.0/6) +
		"; shown as 0: " + budget.Percent(2.0/6); !strings.Contains(page, want) {
		t.Errorf("the page does not say %q", want)
	}
}

// Of the figures other than counts, one value of hours_distinct and one of units could be zero: the list names their
// cells, and the list of figures links to them.
func TestFiguresThatCouldBeZeroAreNamed(t *testing.T) {
	r := reports()["figures"]
	if in, n := r.FiguresCouldBeZero(); len(in) != 2 || n != 2 || !r.FigureZerosNamed() {
		t.Errorf("%d figures could be zero, in %d tables; named: %v", n, len(in), r.FigureZerosNamed())
	}
	html, md := pageOf(t, r), string(page.Markdown(r))
	for _, said := range []string{
		`<tr id="zero-1-5"><th scope="row"><a href="#table-1">pay</a> <small>hours_distinct</small></th><td class="n">1 of 2</td><td>By sex: female</td></tr>`,
		`<a href="#zero-1-5">1 (50%)</a>`,
		"The flag noise_dominates marks 2 figures other than counts, in columns such as hours_distinct_flag.",
	} {
		if !strings.Contains(html, said) {
			t.Errorf("the page does not say %q", said)
		}
	}
	if said := "| size units | 1 of 2 | By size: large |"; !strings.Contains(md, said) {
		t.Errorf("report.md does not say %q", said)
	}
	if box := strings.Join(r.Misuse, "\n"); !strings.Contains(box,
		"names them. It also has 2 figures other than counts.") {
		t.Errorf("the box says\n%s", box)
	}
}

// The office's key is asked for if the debit is signed with it, and otherwise the ledger is: nobody signs a practice
// run.
func TestHowToCheckNamesTheKey(t *testing.T) {
	signed := func(in maker.Input) maker.Input {
		receipt := strings.Replace(string(in.Receipt), `"proof": {`, `"proof": {"office": "key", `, 1)
		in.Receipt = json.RawMessage(receipt)
		return in
	}
	for name, c := range map[string]struct {
		in          maker.Input
		key, ledger bool
	}{
		"signed":    {signed(specInput(report.Official, specText)), true, false},
		"unsigned":  {specInput(report.Official, specText), false, true},
		"practice":  {specInput(report.Practice, specText), false, false},
		"rehearsal": {specInput(report.Rehearsal, specText), false, false},
	} {
		r := reportOf(t, c.in)
		checks := partOf("\n"+string(page.Markdown(r)), "How to check")
		for where, text := range map[string]string{"report.md": checks, "README.txt": string(page.Readme(r)),
			"registry": r.Registry().Verification.Command} {
			if got := strings.Contains(text, "--trust office.pub"); got != c.key {
				t.Errorf("%s, %s: the key is asked for: %v", name, where, got)
			}
		}
		if got := strings.Contains(checks, "--ledger-export FILE"); got != c.ledger {
			t.Errorf("%s: the ledger is asked for: %v", name, got)
		}
	}
}
