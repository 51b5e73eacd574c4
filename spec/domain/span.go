package domain

// This file holds the span: the declared range of an ordered domain on its lattice, the cuts that widths and edges make
// in it, and the codes of bins.

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"time"

	"github.com/dprelease/dprelease/spec/calendar"
	"github.com/dprelease/dprelease/spec/document"
)

// span is a range from low to high, both included, on the lattice of multiples of 1/den: integers, days, microseconds,
// or a common denominator of all cuts of a decimal range.
type span struct {
	typ       Type
	low, high int64
	den       int64
}

// endCut returns the last cut of the range: for integers, days and microseconds the first value beyond it, for decimals
// high itself, which closes the last bin.
func (s span) endCut() int64 {
	if s.typ == Decimal {
		return s.high
	}
	return s.high + 1
}

var (
	ErrTooFine   = fmt.Errorf("more than %d cells", MaxCells)
	errPrecision = errors.New("bounds, steps and edges need more than 18 digits together")
)

// stepMicros returns the microseconds in one lattice step of a range of dates or timestamps.
func (s span) stepMicros() int64 {
	if s.typ == Date {
		return calendar.MicrosPerDay
	}
	return 1
}

// evenCuts returns the cuts low, low+width, low+2·width, …, endCut; nil if there are too many.
func (s span) evenCuts(width int64) []int64 {
	n := (s.endCut() - s.low + width - 1) / width
	if n > MaxCells {
		return nil
	}
	cuts := make([]int64, 0, n+1)
	for at := s.low; at < s.endCut(); at += width {
		cuts = append(cuts, at)
	}
	return append(cuts, s.endCut())
}

// calendarCuts returns the cuts of a calendar unit in a range of dates or timestamps; nil if there are too many.
func (s span) calendarCuts(d duration) []int64 {
	scale := s.stepMicros()
	least := d.count * d.unitMicros()
	if d.unitMonths() > 0 {
		least = 28 * calendar.MicrosPerDay
	}
	if (s.endCut()-s.low)/max(least/scale, 1) > MaxCells {
		return nil
	}
	var cuts []int64
	for at := s.low; at < s.endCut(); at = d.nextBoundary(s.low*scale, at*scale) / scale {
		cuts = append(cuts, at)
	}
	return append(cuts, s.endCut())
}

// commonDenominator returns a common denominator of all the numbers, a power of ten if they are decimals. All of them
// multiplied by it fit 62 bits.
func commonDenominator(all []*big.Rat) (int64, error) {
	den := big.NewInt(1)
	for _, x := range all {
		gcd := new(big.Int).GCD(nil, nil, den, x.Denom())
		den.Mul(den, new(big.Int).Quo(x.Denom(), gcd))
	}
	if places, exact := new(big.Rat).SetFrac(big.NewInt(1), den).FloatPrec(); exact {
		den.Exp(big.NewInt(10), big.NewInt(int64(places)), nil)
	}
	limit := new(big.Rat).SetInt64(document.MaxWhole)
	for _, x := range all {
		if new(big.Rat).Abs(new(big.Rat).Mul(x, new(big.Rat).SetInt(den))).Cmp(limit) > 0 {
			return 0, errPrecision
		}
	}
	if !den.IsInt64() || den.Int64() > document.MaxWhole {
		return 0, errPrecision
	}
	return den.Int64(), nil
}

// latticePoint returns x·den for a number x that lies on the lattice.
func latticePoint(x *big.Rat, den int64) int64 {
	scaled := new(big.Rat).Mul(x, new(big.Rat).SetInt64(den))
	return scaled.Num().Int64()
}

// appendPoint appends a lattice point in the syntax of a spec.
func (s span) appendPoint(b []byte, at int64) []byte {
	switch {
	case s.typ == Date:
		return AppendDate(b, at)
	case s.typ == Timestamp:
		return appendTimestamp(b, at)
	case s.den == 1:
		return strconv.AppendInt(b, at, 10)
	}
	return document.AppendFraction(b, at, s.den)
}

// formatPoint returns a lattice point as text.
func (s span) formatPoint(at int64) string { return string(s.appendPoint(nil, at)) }

// appendBin appends the code of the bin [from, to): 0–15, 110 or 0–<16; 195–200 for a last bin that the range's bound
// closes, 65+ for one that is open above.
func (s span) appendBin(b []byte, from, to int64, open bool) []byte {
	b = s.appendPoint(b, from)
	switch {
	case open:
		return append(b, '+')
	case s.typ == Integer || s.typ == Date:
		if to-from == 1 {
			return b
		}
		return s.appendPoint(append(b, "–"...), to-1)
	case to == s.endCut():
		return s.appendPoint(append(b, "–"...), s.high)
	}
	return s.appendPoint(append(b, "–<"...), to)
}

// appendUnit appends the code of a calendar unit: 2024-01, 2024-Q1, 2024, 2024-01-01T13.
func (s span) appendUnit(b []byte, d duration, from, to int64) []byte {
	scale := s.stepMicros()
	t := microsTime(from * scale)
	switch d.unit {
	case "quarter":
		return fmt.Appendf(b, "%s-Q%d", t.Format("2006"), (int(t.Month())+2)/3)
	case "week":
		b = t.AppendFormat(b, time.DateOnly)
		if last := microsTime(to*scale - 1); last.YearDay() != t.YearDay() {
			b = last.AppendFormat(append(b, "–"...), time.DateOnly)
		}
		return b
	}
	return t.AppendFormat(b, unitLayouts[d.unit])
}

// unitLayouts are the layouts of calendar units other than quarters and weeks.
var unitLayouts = map[string]string{"year": "2006", "month": "2006-01", "day": time.DateOnly, "hour": "2006-01-02T15",
	"minute": "2006-01-02T15:04", "second": "2006-01-02T15:04:05"}

// cutting is a way to divide a span into bins, and how their codes are written.
type cutting struct {
	cuts []int64
	unit duration // a single calendar unit, or zero
	open bool     // the last bin is written 65+
}

// binCategories returns the categories of a cutting's bins.
func (s span) binCategories(c cutting) []Category {
	return writeCategories(len(c.cuts)-1, func(b []byte, k int) []byte {
		if c.unit.unit != "" {
			return s.appendUnit(b, c.unit, c.cuts[k], c.cuts[k+1])
		}
		return s.appendBin(b, c.cuts[k], c.cuts[k+1], c.open && k == len(c.cuts)-2)
	})
}

// writeCategories returns n categories whose codes share one string, which keeps large domains small.
func writeCategories(n int, appendCode func(b []byte, k int) []byte) []Category {
	ends := make([]int, n)
	var b []byte
	for k := range n {
		b = appendCode(b, k)
		ends[k] = len(b)
	}
	all, start := string(b), 0
	categories := make([]Category, n)
	for k, end := range ends {
		categories[k].Code = all[start:end]
		start = end
	}
	return categories
}

// coarsen maps the cells between fine cuts to the bins between coarse ones. ok is false if a coarse cut, stray, is not
// among the fine ones.
func coarsen(fine, coarse []int64) (binOfCell []uint32, stray int64, ok bool) {
	for _, cut := range coarse {
		if _, found := slices.BinarySearch(fine, cut); !found {
			return nil, cut, false
		}
	}
	binOfCell = make([]uint32, len(fine)-1)
	bin := 0
	for k := range binOfCell {
		for coarse[bin+1] <= fine[k] {
			bin++
		}
		binOfCell[k] = uint32(bin)
	}
	return binOfCell, 0, true
}
