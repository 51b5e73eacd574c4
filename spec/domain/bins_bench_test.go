package domain

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkCodeOfFloat finds the cells of a float64 column: with even steps, with edges, and on a lattice that is not
// decimal.
func BenchmarkCodeOfFloat(b *testing.B) {
	for name, domain := range map[string]string{
		"hundred":        "range: [0, 100], step: 1",
		"ten thousand":   "range: [0, 100], step: 0.01",
		"million":        "range: [-1000, 1000], step: 0.002",
		"edges":          "range: [0, 100], levels: {band: {edges: [0, 1, 3, 10, 20, 50, 65]}}",
		"many pieces":    "range: [0, 100], levels: {one: {width: 0.7}, other: {width: 1.1}}",
		"categories":     "values: ['0', '1', '2', '10', '20', '50', '99']",
		"no decimals":    "range: [0, 100], step: 1/3",
		"whole, integer": "range: [0, 100]",
	} {
		of := "decimal"
		if name == "whole, integer" || name == "categories" {
			of = "integer"
		}
		d := readDeclaration(b, fmt.Sprintf("{type: %s, %s}", of, domain)).Domain
		random, values := rand.New(rand.NewPCG(1, 1)), make([]float64, 1<<16)
		for i := range values {
			values[i] = 100 * random.Float64()
			if of == "integer" {
				values[i] = float64(random.IntN(101))
			}
		}
		b.Run(name, func(b *testing.B) {
			sum := 0
			for i := range b.N {
				code, _ := d.CodeOfFloat(values[i&(1<<16-1)])
				sum += code
			}
			if sum < 0 {
				b.Fatal(sum)
			}
		})
	}
}
