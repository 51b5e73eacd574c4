package noise

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"
)

// A benchmark of a sampler also makes keystream, in turns, and reports the ratio
// of draws to words: a busy machine changes both rates, but hardly their ratio.

// benchmarkScales are values of σ and t.
var benchmarkScales = []float64{0.5, 2, 10, 100, 1000, 1e4, 1e6, 1e9}

// makeWords makes keystream of AES-256-CTR, 16 KiB at a time.
func makeWords(b *Bits, words int) {
	for range words * 8 / bufferBytes {
		b.keystream.XORKeyStream(b.buffer[:], b.buffer[:])
	}
}

// onCores runs f at once on some goroutines and returns how long that took.
func onCores(cores int, f func(worker int)) time.Duration {
	start := time.Now()
	if cores == 1 {
		f(0)
		return time.Since(start)
	}
	var wait sync.WaitGroup
	for worker := range cores {
		wait.Go(func() { f(worker) })
	}
	wait.Wait()
	return time.Since(start)
}

// benchmarkLaw draws as a release does: in blocks, each from a stream of its own.
func benchmarkLaw(b *testing.B, l exactLaw, cores int) {
	const blocks = 64 // in a turn
	streams := make([]*Bits, cores)
	counts := make([][]int64, cores)
	for worker := range cores {
		streams[worker], counts[worker] = newBits(freshKey(b)), make([]int64, BlockCells)
	}
	fill := production(l)
	if err := fill(streams[0], counts[0]); err != nil { // makes the table
		b.Fatal(err)
	}
	var drawing, making time.Duration
	turns := 0
	for b.Loop() {
		drawing += onCores(cores, func(worker int) {
			for range blocks {
				if err := fill(streams[worker], counts[worker]); err != nil {
					b.Error(err)
				}
			}
		})
		making += onCores(cores, func(worker int) { makeWords(streams[worker], blocks*BlockCells) })
		turns++
	}
	draws := float64(turns * blocks * BlockCells * cores)
	b.ReportMetric(draws/drawing.Seconds()/1e6, "Mdraws/s")
	b.ReportMetric(making.Seconds()/drawing.Seconds(), "words-ratio")
	b.ReportMetric(0, "ns/op") // a turn is both
}

func benchmarkScaleList(b *testing.B, parameter string, law func(float64) exactLaw) {
	for _, scale := range benchmarkScales {
		for cores := 1; cores <= 2; cores++ {
			b.Run(fmt.Sprintf("%s=%v/cores=%d", parameter, scale, cores),
				func(b *testing.B) { benchmarkLaw(b, law(scale), cores) })
		}
	}
}

func BenchmarkDiscreteGaussian(b *testing.B) { benchmarkScaleList(b, "sigma", gaussianLaw) }

func BenchmarkDiscreteLaplace(b *testing.B) { benchmarkScaleList(b, "scale", laplaceLaw) }

// BenchmarkReference draws by the algorithms of the reference on integers of any
// size, and by the samplers in use in turns, all on one core: the reference's
// garbage is not to be collected on another.
func BenchmarkReference(b *testing.B) {
	for _, l := range []exactLaw{
		gaussianLaw(0.5), gaussianLaw(2), gaussianLaw(10), gaussianLaw(100), gaussianLaw(1e6),
		laplaceLaw(0.5), laplaceLaw(2), laplaceLaw(10), laplaceLaw(100), laplaceLaw(1e6),
	} {
		b.Run(l.name, func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			slow, fast := referenceFill(l), production(l)
			stream, out := newBits(freshKey(b)), make([]int64, BlockCells)
			var reference, production time.Duration
			turns := 0
			for b.Loop() {
				reference += onCores(1, func(int) { _ = slow(stream, out) })
				production += onCores(1, func(int) {
					for range 64 {
						_ = fast(stream, out)
					}
				})
				turns++
			}
			draws := float64(turns * BlockCells)
			b.ReportMetric(draws/reference.Seconds()/1e6, "Mdraws/s")
			b.ReportMetric(64*reference.Seconds()/production.Seconds(), "times-faster")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkAdd adds to counts, and derives every block's stream, as a release does.
func BenchmarkAdd(b *testing.B) {
	streams := NewStreams(freshKey(b), "benchmark")
	for _, l := range []exactLaw{gaussianLaw(10), gaussianLaw(1e6), laplaceLaw(10), laplaceLaw(1e6)} {
		b.Run(l.name, func(b *testing.B) {
			counts := make([]int64, BlockCells)
			add := AddDiscreteLaplace
			if l.square {
				add = AddDiscreteGaussian
			}
			block := 0
			for b.Loop() {
				if err := add(streams.Noise(nil, nil, block), l.parameter, counts); err != nil {
					b.Fatal(err)
				}
				block++
			}
			b.ReportMetric(float64(block*BlockCells)/b.Elapsed().Seconds()/1e6, "Mdraws/s")
		})
	}
}

// BenchmarkWords makes keystream alone.
func BenchmarkWords(b *testing.B) {
	for cores := 1; cores <= 2; cores++ {
		b.Run(fmt.Sprintf("cores=%d", cores), func(b *testing.B) {
			const words = 1 << 20
			streams := []*Bits{newBits(freshKey(b)), newBits(freshKey(b))}
			turns := 0
			for b.Loop() {
				onCores(cores, func(worker int) { makeWords(streams[worker], words) })
				turns++
			}
			b.ReportMetric(float64(turns*words*cores)/b.Elapsed().Seconds()/1e6, "Mwords/s")
		})
	}
}

// BenchmarkTable makes samplers, as the first use of a law does.
func BenchmarkTable(b *testing.B) {
	for _, l := range []exactLaw{gaussianLaw(2), gaussianLaw(100), gaussianLaw(1000), gaussianLaw(1e6), laplaceLaw(2),
		laplaceLaw(100), laplaceLaw(1000), laplaceLaw(1e6)} {
		b.Run(l.name, func(b *testing.B) {
			for b.Loop() {
				newSampler(l.square, l.parameter)
			}
		})
	}
}
