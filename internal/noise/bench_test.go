package noise

import (
	"math/big"
	"testing"
)

func BenchmarkAdd(b *testing.B) {
	laws := []struct {
		name      string
		add       func(*Bits, *big.Rat, []int64) error
		parameter *big.Rat
	}{
		{"gaussian/sigma=0.5", AddDiscreteGaussian, big.NewRat(1, 4)},
		{"gaussian/sigma²=4.1", AddDiscreteGaussian, big.NewRat(16793, 4096)},
		{"gaussian/sigma=10", AddDiscreteGaussian, big.NewRat(409601, 4096)},
		{"gaussian/sigma=100", AddDiscreteGaussian, big.NewRat(40960001, 4096)},
		{"gaussian/sigma=1e6", AddDiscreteGaussian, big.NewRat(4096000000000001, 4096)},
		{"gaussian/any size", AddDiscreteGaussian, new(big.Rat).SetFrac(new(big.Int).Lsh(big.NewInt(100), 70), new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), 70), big.NewInt(1)))},
		{"laplace/t=1", AddDiscreteLaplace, big.NewRat(1, 1)},
		{"laplace/t=10", AddDiscreteLaplace, big.NewRat(40961, 4096)},
		{"laplace/t=1000", AddDiscreteLaplace, big.NewRat(4096001, 4096)},
	}
	streams := NewStreams(freshKey(b), "benchmark")
	counts := make([]int64, BlockCells)
	for _, law := range laws {
		b.Run(law.name, func(b *testing.B) {
			cells := 0
			for block := 0; b.Loop(); block++ {
				if err := law.add(streams.Noise(nil, nil, block), law.parameter, counts); err != nil {
					b.Fatal(err)
				}
				cells += len(counts)
				clear(counts)
			}
			b.ReportMetric(float64(cells)/b.Elapsed().Seconds()/1e6, "Mdraws/s")
		})
	}
}
