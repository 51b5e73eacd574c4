package domain

// This file holds the span: the declared range of an ordered domain on its lattice, the cuts
// that widths and edges make in it, and how bins are written.

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

// span is a range from low to high, both belonging to it, on the lattice of multiples of
// 1/den: integers, days, microseconds, or a denominator that all cuts of a decimal range have.
type span struct {
	of        Type
	low, high int64
	den       int64
}

// end is the last cut of the range: for integers, days and microseconds the first value
// beyond it, for decimals high itself, which closes the last bin.
func (s span) end() int64 {
	if s.of == Decimal {
		return s.high
	}
	return s.high + 1
}

var (
	ErrTooFine   = fmt.Errorf("more than %d cells", MaxCells)
	errPrecision = errors.New("bounds, steps and edges need more than 18 digits together")
)

// scale is how many microseconds a step of a range of dates or timestamps is.
func (s span) scale() int64 {
	if s.of == Date {
		return calendar.MicrosPerDay
	}
	return 1
}

// even are the cuts low, low+width, low+2·width, …, end; nil for too many.
func (s span) even(width int64) []int64 {
	n := (s.end() - s.low + width - 1) / width
	if n > MaxCells {
		return nil
	}
	cuts := make([]int64, 0, n+1)
	for at := s.low; at < s.end(); at += width {
		cuts = append(cuts, at)
	}
	return append(cuts, s.end())
}

// along are the cuts of a calendar unit in a range of dates or timestamps; nil for too many.
func (s span) along(d duration) []int64 {
	scale := s.scale()
	least := d.count * d.micros()
	if d.months() > 0 {
		least = 28 * calendar.MicrosPerDay
	}
	if (s.end()-s.low)/max(least/scale, 1) > MaxCells {
		return nil
	}
	var cuts []int64
	for at := s.low; at < s.end(); at = d.next(s.low*scale, at*scale) / scale {
		cuts = append(cuts, at)
	}
	return append(cuts, s.end())
}

// commonDenominator is a denominator of all the numbers, a power of ten where they are
// decimals. All of them scaled by it fit 62 bits.
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

// point is the lattice point of a number that lies on the lattice.
func point(x *big.Rat, den int64) int64 {
	scaled := new(big.Rat).Mul(x, new(big.Rat).SetInt64(den))
	return scaled.Num().Int64()
}

// appendPoint appends a lattice point as the spec would write it.
func (s span) appendPoint(b []byte, at int64) []byte {
	switch {
	case s.of == Date:
		return AppendDate(b, at)
	case s.of == Timestamp:
		return appendTimestamp(b, at)
	case s.den == 1:
		return strconv.AppendInt(b, at, 10)
	}
	return document.AppendFraction(b, at, s.den)
}

// write is a lattice point as text.
func (s span) write(at int64) string { return string(s.appendPoint(nil, at)) }

// appendBin appends the code of the bin [from, to): 0–15, 110, 0–<16, or where the range's
// end closes it 195–200, or where it is open above 65+.
func (s span) appendBin(b []byte, from, to int64, open bool) []byte {
	b = s.appendPoint(b, from)
	switch {
	case open:
		return append(b, '+')
	case s.of == Integer || s.of == Date:
		if to-from == 1 {
			return b
		}
		return s.appendPoint(append(b, "–"...), to-1)
	case to == s.end():
		return s.appendPoint(append(b, "–"...), s.high)
	}
	return s.appendPoint(append(b, "–<"...), to)
}

// appendUnit appends the code of a calendar unit: 2024-01, 2024-Q1, 2024, 2024-01-01T13.
func (s span) appendUnit(b []byte, d duration, from, to int64) []byte {
	scale := s.scale()
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

// unitLayouts are how units of the calendar are written, but for quarters and weeks.
var unitLayouts = map[string]string{"year": "2006", "month": "2006-01", "day": time.DateOnly, "hour": "2006-01-02T15",
	"minute": "2006-01-02T15:04", "second": "2006-01-02T15:04:05"}

// cutting is a way to part a span: cuts, and how its bins are written.
type cutting struct {
	cuts []int64
	unit duration // a single calendar unit, else zero
	open bool     // the last bin is written 65+
}

// categories are the bins of a cutting, written.
func (s span) categories(c cutting) []Category {
	return writeCategories(len(c.cuts)-1, func(b []byte, k int) []byte {
		if c.unit.unit != "" {
			return s.appendUnit(b, c.unit, c.cuts[k], c.cuts[k+1])
		}
		return s.appendBin(b, c.cuts[k], c.cuts[k+1], c.open && k == len(c.cuts)-2)
	})
}

// writeCategories makes n categories whose codes share one text, which keeps large domains
// small.
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

// coarsen maps the cells between fine cuts to the bins between coarse ones. It is false, with
// the cut, where a coarse cut is not among the fine ones.
func coarsen(fine, coarse []int64) (of []uint32, stray int64, ok bool) {
	for _, cut := range coarse {
		if _, found := slices.BinarySearch(fine, cut); !found {
			return nil, cut, false
		}
	}
	of = make([]uint32, len(fine)-1)
	bin := 0
	for k := range of {
		for coarse[bin+1] <= fine[k] {
			bin++
		}
		of[k] = uint32(bin)
	}
	return of, 0, true
}
