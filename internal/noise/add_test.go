package noise

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
)

var adders = map[string]func(*Bits, *big.Rat, []int64) error{
	"laplace":  AddDiscreteLaplace,
	"gaussian": AddDiscreteGaussian,
}

func TestNoiseIsAddedToTheCounts(t *testing.T) {
	for name, add := range adders {
		key := freshKey(t)
		noise, sums := make([]int64, 100), make([]int64, 100)
		for i := range sums {
			sums[i] = int64(i) * 1000
		}
		for _, counts := range [][]int64{noise, sums} {
			if err := add(newBits(key), big.NewRat(9, 2), counts); err != nil {
				t.Fatal(err)
			}
		}
		for i := range sums {
			if sums[i]-noise[i] != int64(i)*1000 {
				t.Fatalf("%s: cell %d became %d with noise %d", name, i, sums[i], noise[i])
			}
		}
		if slices.Max(noise) == slices.Min(noise) {
			t.Errorf("%s: 100 equal draws", name)
		}
		if err := add(newBits(key), big.NewRat(1, 1), nil); err != nil {
			t.Errorf("%s: no counts: %v", name, err)
		}
	}
}

func TestBadParametersAndOverflowLeaveNoCounts(t *testing.T) {
	huge := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 300))
	tooLong := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), maxParameterBits))
	cases := []struct {
		name      string
		parameter *big.Rat
		count     int64
	}{
		{"no parameter", nil, 7},
		{"zero", new(big.Rat), 7},
		{"negative", big.NewRat(-1, 2), 7},
		{"too many bits", tooLong, 7},
		{"too many bits below 1", new(big.Rat).Inv(tooLong), 7},
		{"noise above every count", huge, 7},
		{"a count of 2^62", big.NewRat(1, 1), 1 << 62},
		{"a count of −2^62", big.NewRat(1, 1), -1 << 62},
		{"the least int64", big.NewRat(1, 1), -1 << 63},
	}
	for name, add := range adders {
		for _, c := range cases {
			counts := []int64{123456, c.count, 123456}
			err := add(newBits(freshKey(t)), c.parameter, counts)
			if err == nil || !slices.Equal(counts, []int64{0, 0, 0}) {
				t.Errorf("%s, %s: error %v, counts %v", name, c.name, err, counts)
			}
			if err != nil && (strings.Contains(err.Error(), "123456") ||
				strings.Contains(err.Error(), fmt.Sprint(1<<62))) {
				t.Errorf("%s, %s: the message holds a count: %v", name, c.name, err)
			}
		}
	}
}

func TestSumsThatReachTheLimitAreAnError(t *testing.T) {
	for name, add := range adders {
		counts := make([]int64, 1000)
		for i := range counts {
			counts[i] = 1<<62 - 1
		}
		if err := add(newBits(freshKey(t)), big.NewRat(100, 1), counts); err == nil {
			t.Errorf("%s: 1000 sums at the limit passed", name) // an honest draw passes with probability below 2^-900
		}
	}
}

// FuzzParameters gives the adders every rational: they return, with noise or
// with an error and no counts.
func FuzzParameters(f *testing.F) {
	f.Add([]byte{1}, []byte{1}, uint16(0), uint16(0))
	f.Add([]byte{1}, []byte{1}, uint16(4000), uint16(0))
	f.Add([]byte{1}, []byte{1}, uint16(0), uint16(4000))
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255}, []byte{255, 255}, uint16(0), uint16(0))
	f.Add([]byte{1}, []byte{3}, uint16(123), uint16(60))
	f.Add([]byte{0}, []byte{3}, uint16(0), uint16(0))
	f.Add([]byte{7}, []byte{}, uint16(0), uint16(9))
	f.Fuzz(func(t *testing.T, numerator, denominator []byte, numeratorShift, denominatorShift uint16) {
		n := new(big.Int).Lsh(new(big.Int).SetBytes(numerator), uint(numeratorShift%8192))
		d := new(big.Int).Lsh(new(big.Int).SetBytes(denominator), uint(denominatorShift%8192))
		if d.Sign() == 0 {
			return
		}
		parameter := new(big.Rat).SetFrac(n, d)
		for name, add := range adders {
			counts := []int64{5, 5, 5, 5}
			if err := add(newBits([32]byte{1}), parameter, counts); err != nil &&
				!slices.Equal(counts, make([]int64, 4)) {
				t.Errorf("%s(%v): %v left %v", name, parameter, err, counts)
			}
		}
	})
}
