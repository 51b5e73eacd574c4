package graphical_test

import (
	"context"
	"fmt"

	"github.com/dprelease/dprelease/synth/graphical"
)

// Two noisy tables that share the second of three columns give a model of whole rows.
func Example() {
	m := graphical.New(graphical.Domain{2, 2, 2}, nil, 1000)
	m.Measure(graphical.Clique{0, 1}, []float64{400, 100, 200, 300}, []float64{1, 1, 1, 1})
	m.Measure(graphical.Clique{1, 2}, []float64{600, 0, 100, 300}, []float64{1, 1, 1, 1})
	m.Fit(context.Background(), 1000)
	fmt.Println(m.Tree().Cliques)
	fmt.Printf("%.0f\n", m.Marginal(graphical.Clique{0, 2}))
	// Output:
	// [[1 2] [0 1]]
	// [425 75 275 225]
}
