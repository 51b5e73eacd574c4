package report_test

// This file tests what a report says about tables that are reconstructed from several measurements, or are sums of one.

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/phrase"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/maker"
)

// tableOf finds a table's statistic.
func tableOf(t *testing.T, r *report.Report, path string) report.Statistic {
	t.Helper()
	for _, table := range r.Tables {
		if table.Path == path {
			return table.Statistics[0]
		}
	}
	t.Fatalf("there is no table %s", path)
	return report.Statistic{}
}

// note finds a paragraph of the advice.
func note(t *testing.T, r *report.Report, heading string) string {
	t.Helper()
	for _, n := range r.Reading {
		if n.Heading == heading {
			return n.Text
		}
	}
	t.Fatalf("there is no note %q", heading)
	return ""
}

// Two categories lie from their mean by (a − b)/2 and (b − a)/2: the noisy answers are
// a − b = 2513 and b − a = −2507, together 2510, and the total 54470. So the cells are
// 54470/2 ± 2510/2 = 28490 and 25980, of variance T/4 + S/8 for noise of variance T on
// the total and S on each of the two. Four times a cell's noise is an integer: twice the
// noise of the total and the difference of the other two. So the law of the margin is a
// sum over three discrete Gaussian laws, which is worked out here term by term.
func TestFiguresOfATablePutTogether(t *testing.T) {
	in := residualsInput()
	r := reportOf(t, in)
	law := func(id string) (variance float64, at func(k int) float64) {
		m, ok := in.Plan.Measurement(id)
		if !ok {
			t.Fatalf("there is no measurement %s", id)
		}
		parameter, _ := m.Mechanism.Parameter.Float64()
		norm := 0.0
		for k := -60; k <= 60; k++ {
			norm += math.Exp(-float64(k*k) / (2 * parameter))
		}
		return m.Mechanism.Variance(), func(k int) float64 { return math.Exp(-float64(k*k)/(2*parameter)) / norm }
	}
	total, ofTotal := law("residuals/persons/total")
	sex, ofSex := law("residuals/persons/sex")
	want := math.Sqrt(total/4 + sex/8)
	s := tableOf(t, r, "pairs/sex")
	if math.Abs(s.StandardError-want) > 1e-6*want { // a plan keeps seven digits, rounded up
		t.Errorf("standard error %v, want %v", s.StandardError, want)
	}
	within := func(quarters int) float64 { // the probability that a cell's noise lies within so many quarters
		sum := 0.0
		for i := -60; i <= 60; i++ {
			for j := -60; j <= 60; j++ {
				for k := -60; k <= 60; k++ {
					if x := 2*i + j - k; x <= quarters && -x <= quarters {
						sum += ofTotal(i) * ofSex(j) * ofSex(k)
					}
				}
			}
		}
		return sum
	}
	quarters := 0
	for within(quarters) < 0.95 {
		quarters++
	}
	// The interval is at least as wide as the distribution requires, and wider by less than one in a thousand.
	if least := float64(quarters) / 4; s.Margin < least || s.Margin > least*1.001 {
		t.Errorf("margin %v, want %v", s.Margin, least)
	}
	// The attained level is a lower bound.
	if exact := within(quarters); s.Attained > exact+1e-12 || s.Attained < 0.95 {
		t.Errorf("attained %v, want at most %v", s.Attained, exact)
	}
	if s.Mechanism != nil || s.Loss != nil || s.PartOfBudget != 0 || s.Measurements != 2 || s.SumOf != "" ||
		s.Largest != 0 || !slices.Equal(s.Noise, []string{"discrete-gaussian"}) {
		t.Errorf("%+v", s)
	}
	if q := s.Relative; s.TotalPublished != "54470" || math.Abs(q.Q10-s.Margin/28490) > 1e-9 ||
		math.Abs(q.Q90-s.Margin/25980) > 1e-9 || q.Within10 != 1 {
		t.Errorf("%+v with %+v", s, q)
	}
	for path, measurements := range map[string]int{"pairs/total": 1, "pairs/status": 2, "pairs/sex_x_status": 4,
		"status": 4} {
		s := tableOf(t, r, path)
		total, err := s.TotalUnbiased.Float64()
		if err != nil || math.Abs(total-54470) > 1e-9*54470 || s.Measurements != measurements || s.SumOf != "" {
			t.Errorf("%s: %+v", path, s)
		}
	}
}

// Ages are in groups of 2, 3 and 7: the error and the margin of a cell depend on its group.
func TestFiguresOfUnevenCells(t *testing.T) {
	in := levelsInput()
	r := reportOf(t, in)
	for i, table := range in.Tables {
		published, got := table.Statistics[0], r.Tables[i].Statistics[0]
		var squares, most, widest float64
		for j := range table.Cells {
			e := published.Error.Value(j)
			squares, most = squares+e*e, max(most, e)
			widest = max(widest, published.High.Value(j)-published.Unbiased.Value(j))
		}
		mean := math.Sqrt(squares / float64(table.Cells))
		if math.Abs(got.StandardError-mean) > 1e-6*mean || math.Abs(got.Margin-widest) > 1e-6*widest {
			t.Errorf("%s: standard error %v and margin %v, want %v and %v", table.Path, got.StandardError, got.Margin,
				mean,
				widest)
		}
		if table.Path != "ages" {
			if got.Largest != 0 {
				t.Errorf("%s: %v as the largest of equal errors", table.Path, got.Largest)
			}
			continue
		}
		if math.Abs(got.Largest-most) > 1e-6*most || most < 1.05*mean {
			t.Errorf("ages: largest %v, want %v", got.Largest, most)
		}
		var ratios []float64
		for j, v := range published.Published.Int64Values() {
			if v > 0 {
				ratios = append(ratios, (published.High.Value(j)-published.Unbiased.Value(j))/float64(v))
			}
		}
		slices.Sort(ratios)
		if want := ratios[(len(ratios)+1)/2-1]; math.Abs(got.Relative.Q50-want) > 1e-9*want {
			t.Errorf("half of the ages have at most %v, want %v", got.Relative.Q50, want)
		}
	}
	for name, text := range pages(t, r) {
		if name != "README.txt" && name != "report.json" &&
			(!strings.Contains(text, ", at most ") || !strings.Contains(text, "alf the width of the widest interval")) {
			t.Errorf("%s does not say that errors differ", name)
		}
	}
	if h := answer(t, r, "Small groups that fare worst"); strings.Contains(h.Answer, "the same in every cell") {
		t.Error(h.Answer)
	}
}

// The groups cost the charge, up to the scale of the noise, which is rounded up, and each costs what its own
// measurements cost.
func TestStrategiesSayWhatTheyCost(t *testing.T) {
	for name, in := range map[string]maker.Input{"pure": input(report.Official, nil), "residuals": residualsInput(),
		"levels": levelsInput(), "microdata": microdataInput(report.Official, "", 36435, 20.5, 14.25)} {
		r := reportOf(t, in)
		at := 0
		for i, s := range r.Strategies {
			var want float64
			for range s.Measurements {
				m := in.Plan.Measurements[at]
				loss := m.Mechanism.Rho()
				if in.Plan.Cost.Epsilon != nil {
					var err error
					if loss, err = m.Mechanism.Epsilon(); err != nil {
						t.Fatal(err)
					}
				}
				part, _ := loss.Float64()
				want += part
				if m.Leaf != s.Leaf {
					t.Errorf("%s: %s is paid by %q, not %q", name, m.ID, m.Leaf, s.Leaf)
				}
				at++
			}
			got, _ := exactly(t, s.Loss.Epsilon+s.Loss.Rho).Float64() // one of them is empty
			if math.Abs(got-want) > 1e-12*want || s.RMSE != in.Plan.Strategies[i].RMSE {
				t.Errorf("%s: %+v, want a loss of %v", name, s, want)
			}
		}
	}
}

// If no table has its own mechanism, no page mentions one. The group states its cost, and the error of the rejected
// strategy.
func TestPagesOfTablesPutTogether(t *testing.T) {
	in := residualsInput()
	r := reportOf(t, in)
	for name, text := range pages(t, r) {
		text = strings.Join(strings.Fields(text), " ")
		for _, wrong := range []string{"bout 95%", "normal law", "noise of its own on every cell.",
			"measured separately",
			"do not add up to one another", "√n", "of each table alone"} {
			if strings.Contains(text, wrong) {
				t.Errorf("%s says %q", name, wrong)
			}
		}
		if !strings.Contains(text, "t least 95%") || !strings.Contains(text, "Do not add up count, which is rounded") {
			t.Errorf("%s does not say what holds", name)
		}
		if name == "README.txt" {
			continue
		}
		for _, want := range []string{"What the tables have in common is measured once",
			" The error would be " + budget.DecimalNearest(in.Plan.Strategies[0].Alternatives[0].RMSE, 3) +
				" if each table were measured by itself, all with equal shares"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q", name, want)
			}
		}
	}
	if page := pageOf(t, r); strings.Count(page, `class="bar"`) != 1 ||
		!strings.Contains(page, "4 measurements, discrete Gaussian") ||
		!strings.Contains(page, "1 measurement, discrete Gaussian") {
		t.Error("the page does not say what the tables were made from")
	}
	var statistic struct {
		Tables []struct{ Statistics []map[string]any }
	}
	if err := json.Unmarshal(r.JSON(), &statistic); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"mechanism", "loss", "part_of_budget", "sum_of", "largest_standard_error"} {
		if _, ok := statistic.Tables[0].Statistics[0][name]; ok {
			t.Errorf("report.json has a %s", name)
		}
	}
}

// Of a pure ε = 1 sex by status alone is measured: the best attack on one row moves one
// cell, so its scale is t = 1/1 and a cell has variance 2e⁻¹/(1 − e⁻¹)² = 1.84135. Each
// of the two sexes is the sum of three cells of it, each status of two.
func TestPagesOfSums(t *testing.T) {
	r := reportOf(t, sumsInput())
	for path, added := range map[string]float64{"pairs/sex": 3, "pairs/status": 2} {
		s := tableOf(t, r, path)
		if s.SumOf != "pairs/sex_x_status" || s.Mechanism != nil || s.Loss != nil || s.Measurements != 1 ||
			s.Attained < 0.95 || s.Margin != math.Trunc(s.Margin) {
			t.Errorf("%+v", s)
		}
		// A plan keeps seven digits, rounded up.
		// 18190 + 9 + 9380 + 19951 − 4 + 5031
		if want := math.Sqrt(added * 1.8413488); math.Abs(s.StandardError-want) > 2e-6*want ||
			s.TotalUnbiased != "52557" {
			t.Errorf("%+v, want a standard error of %v", s, want)
		}
	}
	if largest := tableOf(t, r, "pairs/sex_x_status"); largest.SumOf != "" || largest.Mechanism == nil ||
		largest.PartOfBudget != 1 || largest.Noise != nil {
		t.Errorf("%+v", largest)
	}
	if got := note(t, r, "Tables agree with each other"); !strings.Contains(got, "same noisy answers") {
		t.Error(got)
	}
	if got := note(t, r, "Add up the unbiased column"); !strings.Contains(got, "√n") ||
		strings.Contains(got, "are correlated") {
		t.Error(got)
	}
	for name, text := range pages(t, r) {
		if strings.Contains(text, "about 95%") || strings.Contains(text, "put together from several measurements") ||
			name == "report.html" && strings.Count(text, "sums of pairs/sex_x_status") != 2 {
			t.Errorf("%s does not know sums", name)
		}
	}
	// Direct measurement with equal shares has a third of ε for each: t = 3, of variance
	// 2e^(−1/3)/(1 − e^(−1/3))² = 17.834, its root 4.223; as planned with the variance 2t² of
	// continuous noise it is √18 = 4.243.
	if s := r.Strategies[0]; s.Kind != "largest" ||
		!strings.Contains(s.Text, "The error would be 4.24 if each table were measured by itself, all with equal "+
			"shares.") {
		t.Errorf("%+v", s)
	}
}

// The fixture's four tables, of two parts of a pure budget, are put together from both measurements: sex by status was
// measured twice, with the variances of t = 1707/2048 and 5/4, and the best weights leave 1/(1/V + 1/W) of them.
func TestPagesOfRepeatedTables(t *testing.T) {
	r := reportOf(t, input(report.Official, nil))
	variance := func(scale float64) float64 {
		e := math.Exp(-1 / scale)
		return 2 * e / ((1 - e) * (1 - e))
	}
	cell := 1 / (1/variance(1707./2048) + 1/variance(5./4))
	for path, added := range map[string]float64{"status": 1, "pairs/sex_x_status": 1, "pairs/status": 2,
		"pairs/sex": 3} {
		s := tableOf(t, r, path)
		if want := math.Sqrt(added * cell); math.Abs(s.StandardError-want) > 2e-6*want {
			t.Errorf("%s: standard error %v, want %v", path, s.StandardError, want)
		}
		if s.Measurements != 2 || s.SumOf != "" || s.Mechanism != nil ||
			!slices.Equal(s.Noise, []string{"discrete-laplace"}) || s.Attained < 0.95 {
			t.Errorf("%s: %+v", path, s)
		}
	}
	if got := note(t, r, "Tables agree with each other"); !strings.Contains(got, "All tables") {
		t.Error(got)
	}
}

// A release in which every table is a single measurement does not mention shared ones.
func TestTablesAloneStayAlone(t *testing.T) {
	for _, in := range []maker.Input{aloneInput(), specInput(report.Official, oneTable("{epsilon: 1}"))} {
		r := reportOf(t, in)
		for name, text := range pages(t, r) {
			for _, wrong := range []string{"put together", "sums of", "share measurements", "shared", "sum_of",
				"normal law",
				"about 95%", "group of tables", "dprelease query"} {
				if strings.Contains(text, wrong) {
					t.Errorf("%s says %q", name, wrong)
				}
			}
		}
		if !strings.Contains(note(t, r, "Tables do not add up to one another"), "measured separately") ||
			r.Plan.Choices[0] != "Each table is measured directly, with noise of its own on every cell." {
			t.Errorf("%v and %v", r.Reading, r.Plan.Choices)
		}
	}
}

// Decades and steps of fifteen years do not nest.
func TestLevelsThatDoNotAgree(t *testing.T) {
	text := changed("{epsilon: 2, split: {headline: 3/5, detail: 2/5}}", "{rho: 1/2}", ", budget: headline", "",
		", budget: detail", "",
		"sex:    {values: [female, male]}",
		"sex:    {values: [female, male]}\n      age:    {type: integer, range: [0, 29], levels: {tens: {edges: [0, "+
			"10, 20]}, fifteens: {edges: [0, 15]}}}",
		"  status: {by: [sex, status], budget: headline}\n",
		"  tens: {by: [sex, age.tens]}\n  fifteens: {by: [sex, age.fifteens]}\n")
	got := note(t, reportOf(t, specInput(report.Official, text)), "Tables agree with each other")
	if !strings.HasPrefix(got, "All tables were made from the same noisy answers. ") ||
		!strings.HasSuffix(got, "An exception: in some tables the groups of age do not fit inside one another. "+
			"Counts by age can differ between these tables: tens, fifteens.") {
		t.Error(got)
	}
	if got := note(t, reportOf(t, levelsInput()), "Tables agree with each other"); strings.Contains(got,
		"do not fit inside") {
		t.Error(got)
	}
}

// The report mentions weights, and a rejected strategy with a smaller error.
func TestChoicesAreExplained(t *testing.T) {
	text := strings.Replace(residualsText, "marginals:\n", "marginals:\n  total: {by: [sex], weight: 7}\n", 1)
	in := specInput(report.Official, text)
	in.Plan.Strategies[0].Alternatives = []strategy.Alternative{{Kind: strategy.Direct,
		Noise: in.Plan.Strategies[0].Noise,
		RMSE:  in.Plan.Strategies[0].RMSE / 2}, {Kind: strategy.Residuals, Why: phrase.New(phrase.TargetsMissed)}}
	in.Plan = compiled.Of(in.Plan.Plan())
	in.Receipt = receiptFor(in.Plan.Plan(), report.Official)
	page := pageOf(t, reportOf(t, in))
	for _, want := range []string{"by marginal: total 7, status 1, pairs 1.", "The way with the smallest error for " +
		"one table is not always taken",
		"It is not possible to measure what the tables have in common (residuals): targets would be missed."} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}
