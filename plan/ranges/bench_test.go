package ranges

import (
	"fmt"
	"testing"
)

func BenchmarkOptimum(b *testing.B) {
	for _, n := range []int{100, 256, 512, 1024} {
		for _, kind := range kinds {
			b.Run(fmt.Sprintf("%s/%d", kind.name, n), func(b *testing.B) {
				for b.Loop() {
					if _, err := kind.make(n).Optimum(16); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkColumn(b *testing.B) {
	for _, n := range []int{100, 256, 512, 1024, 2048} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			o, err := Prefix(n).Optimum(16)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := o.Column(Bits); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
