package main

// This file sums up the models of all methods: how well they predict, how long they take, and whether ours are at least
// as good.

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
)

// areaUnderCurve returns the area under the ROC curve of scores: the chance that a positive row scores more than
// another, ties counted half.
func areaUnderCurve(scores []float64, positive []bool) float64 {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(scores[a], scores[b]) })
	var ones, zeros, ranked float64
	for from, to := 0, 0; from < len(order); from = to {
		var tied [2]float64
		for ; to < len(order) && scores[order[to]] == scores[order[from]]; to++ {
			if positive[order[to]] {
				tied[1]++
			} else {
				tied[0]++
			}
		}
		ranked += tied[1] * (zeros + tied[0]/2)
		zeros, ones = zeros+tied[0], ones+tied[1]
	}
	return ranked / ones / zeros
}

// meanOf returns the mean of some values and their standard deviation.
func meanOf(values []float64) (mean, deviation float64) {
	for _, x := range values {
		mean += x / float64(len(values))
	}
	for _, x := range values {
		deviation += (x - mean) * (x - mean) / float64(max(len(values)-1, 1))
	}
	return mean, math.Sqrt(deviation)
}

// name returns how a method is called in the table.
func (m *method) name() string {
	if m.version == "" {
		return m.who + ", " + m.words
	}
	return m.who + " " + m.version + ", " + m.words
}

// lastAreas returns how well the models of the last split predict, by ε.
func (m *method) lastAreas() string {
	var all []string
	for _, areas := range m.areas {
		all = append(all, fmt.Sprintf("%.4f", areas[len(areas)-1]))
	}
	return strings.Join(all, " ")
}

// writeMethods prints a line for each method, with a column for each ε, and the verdicts.
func writeMethods(to io.Writer, methods []*method, epsilons []float64) error {
	for _, part := range []struct {
		title string
		cell  func(m *method, e int) string
	}{
		{"mean AUC ± sd over splits", func(m *method, e int) string {
			mean, deviation := meanOf(m.areas[e])
			return fmt.Sprintf("%.4f ± %.4f", mean, deviation)
		}},
		{"seconds for a fit, mean", func(m *method, e int) string {
			mean, _ := meanOf(m.seconds[e])
			return fmt.Sprintf("%.1f", mean)
		}},
	} {
		w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
		fmt.Fprint(w, "  "+part.title)
		for _, epsilon := range epsilons {
			fmt.Fprintf(w, "\tε = %v", epsilon)
		}
		fmt.Fprintln(w)
		for _, m := range methods {
			fmt.Fprint(w, "  "+m.name())
			for e := range m.areas {
				fmt.Fprint(w, "\t"+part.cell(m, e))
			}
			if m.areas == nil {
				fmt.Fprint(w, "\tnot installed")
			}
			fmt.Fprintln(w)
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	for e, epsilon := range epsilons {
		if _, err := fmt.Fprintf(to, "  ε = %v: %s\n", epsilon, verdictAt(methods, e)); err != nil {
			return err
		}
	}
	return nil
}

// verdictAt compares the first method, ours, with the best peer at one ε: the mean of the differences on the same
// splits, and its standard error.
func verdictAt(methods []*method, e int) string {
	ours, best, most := methods[0].areas[e], (*method)(nil), 0.0
	for _, m := range methods {
		if m.who == ownName || m.areas == nil {
			continue
		}
		if mean, _ := meanOf(m.areas[e]); best == nil || mean > most {
			best, most = m, mean
		}
	}
	if best == nil {
		return notMeasured
	}
	differences := make([]float64, len(ours))
	for i := range ours {
		differences[i] = ours[i] - best.areas[e][i]
	}
	mean, deviation := meanOf(differences)
	verdict := met
	if mean < 0 {
		verdict = missed
	}
	return fmt.Sprintf("at least as good as every peer: %s, by %.4f ± %.4f (%s)", verdict, math.Abs(mean),
		deviation/math.Sqrt(float64(len(ours))), best.name())
}
