package main

import (
	"fmt"
	"math/big"
	"strings"
)

// memorySize is a number of bytes on the command line: 500MB, 8GiB, 1.5TB, 4000000. Zero is no limit.
type memorySize int64

// memoryUnits are tried in this order: the others end in B too.
var memoryUnits = []struct {
	name  string
	bytes int64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}, {"", 1},
}

// Set parses a size.
func (m *memorySize) Set(text string) error {
	for _, unit := range memoryUnits {
		number, ok := strings.CutSuffix(text, unit.name)
		if !ok {
			continue
		}
		size, ok := new(big.Rat).SetString(number)
		if !ok || strings.ContainsAny(number, "eE/_xXpP ") {
			break
		}
		size.Mul(size, new(big.Rat).SetInt64(unit.bytes))
		whole := new(big.Int).Quo(size.Num(), size.Denom())
		if !whole.IsInt64() || whole.Sign() <= 0 {
			break
		}
		*m = memorySize(whole.Int64())
		return nil
	}
	return fmt.Errorf("expected a size above zero, such as 500MB or 8GiB")
}

// String returns the size in bytes.
func (m *memorySize) String() string {
	if *m == 0 {
		return ""
	}
	return fmt.Sprintf("%dB", int64(*m))
}

// Type returns the name of the type in the help.
func (m *memorySize) Type() string { return "size" }
