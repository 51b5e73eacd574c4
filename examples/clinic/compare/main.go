// Command compare judges the models of the clinic example, which run.sh has fitted at several budgets, and prints a
// table and a chart:
//
//	go run ./examples/clinic/compare FOLDER 0.25 0.5 1 2 4
//
// Each model predicts the stays of the next year, and its AUC is computed from these predictions. No model can do
// better than the probabilities by which those stays were drawn, which nobody knows of real stays. The AUC in the
// report is what the hospital learns without the next year: it comes from noisy counts of the stays that were held out.
package main

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: compare FOLDER EPSILON...")
		os.Exit(2)
	}
	if err := compare(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// result is how well a model predicts the next year.
type result struct {
	epsilon  string
	auc      float64
	together float64 // the AUC of the model that three hospitals have fitted together
	reported string
}

func compare(folder string, budgets []string) error {
	var all []result
	ceiling := 0.0
	for _, epsilon := range budgets {
		predicted, err := readRows(filepath.Join(folder, "predicted-"+epsilon+".csv"))
		if err != nil {
			return err
		}
		together, err := readRows(filepath.Join(folder, "predicted-together-"+epsilon+".csv"))
		if err != nil {
			return err
		}
		one := result{epsilon: epsilon, auc: predicted.auc("prediction"), together: together.auc("prediction")}
		ceiling = predicted.auc("truth")
		if one.reported, err = reportedAUC(filepath.Join(folder, "epsilon-"+epsilon, "clinic-2026", "models",
			"risk.json")); err != nil {
			return err
		}
		all = append(all, one)
	}
	fmt.Print(table(all, ceiling))
	path := filepath.Join(folder, "auc.svg")
	fmt.Println("\nThe same as a chart:", path)
	return os.WriteFile(path, []byte(chart(all, ceiling)), 0o644)
}

// table returns the results as text, each with a bar from an AUC of .5 to the ceiling.
func table(all []result, ceiling float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%7s  %8s  %15s  %-30s  %s\n", "ε", "AUC", "three hospitals", "AUC by the report",
		"from guessing to the best that there is")
	const width = 40
	for _, r := range all {
		full := min(max(int((r.auc-.5)/(ceiling-.5)*width+.5), 0), width)
		fmt.Fprintf(&b, "%7s  %8.4f  %15.4f  %-30s  %s%s\n", r.epsilon, r.auc, r.together, r.reported,
			strings.Repeat("█", full), strings.Repeat("░", width-full))
	}
	fmt.Fprintf(&b, "%7s  %8.4f  %15s  %-30s  %s\n", "truth", ceiling, "", "", strings.Repeat("█", width))
	return b.String()
}

// reportedAUC returns what the file of a model says of its AUC.
func reportedAUC(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	var m struct {
		Performance struct {
			AUC *struct{ Estimate, Low, High float64 } `json:"auc"`
		} `json:"performance"`
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return "", err
	}
	if a := m.Performance.AUC; a != nil {
		return fmt.Sprintf("%.3f (95%%: %.3f to %.3f)", a.Estimate, a.Low, a.High), nil
	}
	return "too few rows for the noise", nil
}

// rows are the stays of the next year: whether each patient came back, and columns of numbers.
type rows struct {
	back    []bool
	numbers map[string][]float64
}

// readRows reads the stays of a CSV file.
func readRows(path string) (*rows, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, err
	}
	r := &rows{numbers: map[string][]float64{}}
	for i, line := range lines[1:] {
		for at, name := range lines[0] {
			switch name {
			case "readmitted":
				r.back = append(r.back, line[at] == "yes")
			case "truth", "prediction":
				x, err := strconv.ParseFloat(line[at], 64)
				if err != nil {
					return nil, fmt.Errorf("%s: row %d: %w", path, i+1, err)
				}
				r.numbers[name] = append(r.numbers[name], x)
			}
		}
	}
	return r, nil
}

// auc returns the chance that a stay with a readmission has a larger number in a column than one without; equal numbers
// count half.
func (r *rows) auc(column string) float64 {
	type scored struct {
		score float64
		back  bool
	}
	all := make([]scored, len(r.back))
	for i, back := range r.back {
		all[i] = scored{r.numbers[column][i], back}
	}
	slices.SortFunc(all, func(a, b scored) int { return cmp.Compare(a.score, b.score) })
	below, ordered, ones := 0.0, 0.0, 0.0 // below: rows without a readmission so far
	for from := 0; from < len(all); {
		var tied [2]float64
		to := from
		for ; to < len(all) && all[to].score == all[from].score; to++ {
			if all[to].back {
				tied[1]++
			} else {
				tied[0]++
			}
		}
		ordered, below, ones, from = ordered+tied[1]*(below+tied[0]/2), below+tied[0], ones+tied[1], to
	}
	return ordered / (below * ones)
}

// chart returns the results as SVG: two dots for each budget, one of them for three hospitals, and a line for the
// ceiling.
func chart(all []result, ceiling float64) string {
	const width, height, left, top, bottom = 560, 320, 60, 20, 50
	x := func(i int) float64 { return left + 40 + float64(i)*(width-left-80)/float64(max(len(all)-1, 1)) }
	y := func(auc float64) float64 { return top + (height-top-bottom)*(1-(auc-.5)/(.9-.5)) }
	var b strings.Builder
	fmt.Fprintf(&b,
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">`+"\n",
		width, height)
	b.WriteString("<title>AUC for the next year, by privacy budget</title>\n")
	for _, auc := range []float64{.5, .6, .7, .8, .9} {
		fmt.Fprintf(&b, `<path d="M%d %.1fH%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%.1f</text>`+"\n",
			left, y(auc), width, left-8, y(auc)+4, auc)
	}
	fmt.Fprintf(&b,
		`<path d="M%d %.1fH%d" stroke="#555" stroke-dasharray="5 4"/><text x="%d" y="%.1f">best possible: %.3f</text>`+
			"\n",
		left, y(ceiling), width, left+6, y(ceiling)-6, ceiling)
	for i, r := range all {
		below := y(min(r.auc, r.together)) + 22
		fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="5" fill="#1f5fa8"/>`+
			`<rect x="%.1f" y="%.1f" width="9" height="9" fill="none" stroke="#b3541e" stroke-width="2"/>`+"\n",
			x(i), y(r.auc), x(i)-4.5, y(r.together)-4.5)
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="middle" fill="#1f5fa8">%.3f</text>`+
			`<text x="%.1f" y="%.1f" text-anchor="middle" fill="#b3541e">%.3f</text>`+
			`<text x="%.1f" y="%d" text-anchor="middle">ε = %s</text>`+"\n", x(i), below, r.auc, x(i), below+16,
			r.together,
			x(i), height-bottom+20, r.epsilon)
	}
	fmt.Fprintf(
		&b,
		`<circle cx="%d" cy="%d" r="5" fill="#1f5fa8"/><text x="%d" y="%d">one hospital with all stays</text>`+
			`<rect x="%d" y="%d" width="9" height="9" fill="none" stroke="#b3541e" stroke-width="2"/>`+
			`<text x="%d" y="%d">three hospitals, a third each</text>`+"\n",
		left+10,
		height-8,
		left+20,
		height-4,
		left+240,
		height-13,
		left+255,
		height-4,
	)
	b.WriteString("</svg>\n")
	return b.String()
}
