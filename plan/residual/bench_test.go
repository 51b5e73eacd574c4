package residual

import "testing"

// BenchmarkReconstruct puts together all marginals of up to three attributes of Adult, 21 million cells, one after the
// other, with the variances of their cells: with no prefix sums, and with those of its five numeric columns.
func BenchmarkReconstruct(b *testing.B) {
	for _, c := range []struct {
		name  string
		least int
	}{{"cells", 1000}, {"prefixes", 85}} {
		b.Run(c.name, func(b *testing.B) {
			columns := prefixesOn(b, adult14, c.least)
			w, err := NewWorkload(columns, waysOf(columns, 0, 1, 2, 3))
			if err != nil {
				b.Fatal(err)
			}
			noisy := make([][]float64, len(w.Residuals))
			for i, r := range w.Residuals {
				n := 1
				for _, a := range r.Axes {
					n *= columns[a.Column].Integers(a.Level)
				}
				noisy[i] = make([]float64, n)
			}
			variances := w.MinimiseSum(1)
			b.Run("exact", func(b *testing.B) {
				for b.Loop() {
					for _, r := range w.Residuals {
						if _, err := Exact(columns, r.Axes, nil, make([]int64, cellsOf(columns, r.Axes))); err != nil {
							b.Fatal(err)
						}
					}
				}
			})
			b.Run("centre", func(b *testing.B) {
				for b.Loop() {
					for i, r := range w.Residuals {
						ResidualOf(r.Axes, 1).Figure(columns, r.Axes, noisy[i])
					}
				}
			})
			residuals := make([][]float64, len(noisy))
			for i, r := range w.Residuals {
				residuals[i] = ResidualOf(r.Axes, 1).Figure(columns, r.Axes, noisy[i])
			}
			b.Run("spread", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					for m, marginal := range w.Marginals {
						cells := make([]float64, int(w.cells[m]))
						for _, i := range w.ResidualsOf(m) {
							Spread(columns, marginal.Axes, w.Residuals[i].Axes, residuals[i], cells)
						}
					}
				}
			})
			b.Run("variances", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					for _, marginal := range w.Marginals {
						w.CellVariances(marginal.Axes, variances)
					}
				}
			})
			b.Run("largest", func(b *testing.B) {
				for b.Loop() {
					for m := range w.Marginals {
						w.Largest(m, variances)
					}
				}
			})
		})
	}
}
