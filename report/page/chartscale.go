package page

// This file holds scales, which map figures to positions on a chart. Positions are shares of its width, so that text
// keeps its size on a page of any width.

import (
	"math"
	"strconv"

	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/shading"
	"github.com/dprelease/dprelease/report/internal/words"
)

// scale is the interval of numbers that a chart shows.
type scale struct{ low, high float64 }

// position returns the position of a value as a share of the width, the nearest end if it lies beyond.
func (s scale) position(v float64) float64 {
	if !(s.high > s.low) {
		return 0
	}
	return min(1, max(0, (v-s.low)/(s.high-s.low)))
}

// roundTicks returns round numbers from end to end, at most `most` of them, with the scale widened to the first and the
// last.
func (s scale) roundTicks(most int) (scale, []float64) {
	for power := shading.LeastPower; power <= shading.MostPower; power++ {
		for _, digit := range []int{1, 2, 5} {
			step := shading.Round(digit, power)
			first, steps := shading.Multiples(s.low, s.high, step)
			if math.Ceil(s.high/step)-first >= float64(most) || steps >= most {
				continue
			}
			var ticks []float64
			for k := range int(max(math.Ceil(s.high/step)-first, 1)) + 1 {
				ticks = append(ticks, float64((first+float64(k))*step))
			}
			return scale{ticks[0], ticks[len(ticks)-1]}, ticks
		}
	}
	return s, []float64{s.low, s.high}
}

// axisRunes is the number of characters that fit side by side under a strip on a narrow page.
const axisRunes = 18

// ticksWithin returns as many ticks, up to five, as have room for their numbers side by side.
func ticksWithin(s scale, runes int) (scale, []float64) {
	for most := 5; ; most-- {
		wide, numbers := s.roundTicks(most)
		longest := 0
		for _, v := range numbers {
			longest = max(longest, len([]rune(words.Figure(v))))
		}
		if (longest+2)*(len(numbers)-1) <= runes || most == 2 {
			return wide, numbers
		}
	}
}

// axisOf returns the scale of points: of all values and, as far as they do not dwarf these, of their intervals. It
// begins at zero if zero is set, or if zero is near enough.
func axisOf(points []report.Point, zero bool) scale {
	first, widest := true, 0.0
	var values, all scale
	for _, p := range points {
		if p.Value == nil {
			continue
		}
		v := *p.Value
		low, high := v, v
		if p.Low != nil && p.High != nil {
			low, high = min(v, *p.Low), max(v, *p.High)
		}
		if first {
			values, all, first = scale{v, v}, scale{low, high}, false
		}
		values = scale{min(values.low, v), max(values.high, v)}
		all = scale{min(all.low, low), max(all.high, high)}
		widest = max(widest, (high-low)/2)
	}
	room := values.high - values.low
	if room == 0 {
		room = widest
	}
	out := scale{max(all.low, values.low-room), min(all.high, values.high+room)}
	if values.low >= 0 && (zero || out.low < 0 || float64(2*out.low) < out.high) {
		out.low = 0
	}
	if out.high <= out.low {
		out.high = out.low + 1
	}
	return out
}

// percent writes a share of the width.
func percent(part float64) string {
	return strconv.FormatFloat(float64(100*part), 'f', 2, 64) + "%"
}

// clip shortens a label to `most` characters.
func clip(label string, most int) string {
	runes := []rune(label)
	if len(runes) <= most {
		return label
	}
	return string(runes[:most-1]) + "…"
}
