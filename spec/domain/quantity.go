package domain

// This file holds the quantity: one number of the data, read exactly from a text, a decimal or a float64, and scaled to
// the lattice of a domain's cut points.

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
)

// quantity is ±magnitude·10^exponent. If the digits do not fit 64 bits they are in big, and magnitude is unused.
type quantity struct {
	negative  bool
	magnitude uint64
	big       *big.Int
	exponent  int
}

// maxQuantityText is the longest text that is read as a number.
const maxQuantityText = 400

// parseQuantity reads a decimal number: digits with an optional sign, point and exponent. It rejects spaces,
// separators, fractions, NaN and infinities.
func parseQuantity[T string | []byte](s T) (quantity, bool) {
	var q quantity
	i := 0
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		q.negative = s[i] == '-'
		i++
	}
	digits, fits := i, true
	point, any := -1, false
	for ; i < len(s); i++ {
		c := s[i]
		if c == '.' && point < 0 {
			point = i
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		any = true
		if q.magnitude > (math.MaxUint64-9)/10 {
			fits = false
		}
		q.magnitude = q.magnitude*10 + uint64(c-'0')
	}
	if !any || len(s) > maxQuantityText {
		return q, false
	}
	end := i
	if point >= 0 {
		q.exponent = -(end - point - 1)
	}
	if i < len(s) {
		e, ok := parseExponent(s[i:])
		if !ok {
			return q, false
		}
		q.exponent += e
	}
	if !fits {
		q.big = bigDigits(string(s[digits:end]))
	}
	return q, true
}

// parseExponent reads e5, E+5 or e-5, clamped to ±100000.
func parseExponent[T string | []byte](s T) (int, bool) {
	if len(s) < 2 || s[0] != 'e' && s[0] != 'E' {
		return 0, false
	}
	i, sign := 1, 1
	if s[1] == '-' || s[1] == '+' {
		if s[1] == '-' {
			sign = -1
		}
		i++
	}
	if i == len(s) {
		return 0, false
	}
	e := 0
	for ; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		e = min(e*10+int(s[i]-'0'), 100_000)
	}
	return sign * e, true
}

// bigDigits returns the integer whose digits are given, ignoring a point among them.
func bigDigits(digits string) *big.Int {
	x, _ := new(big.Int).SetString(strings.Replace(digits, ".", "", 1), 10)
	return x
}

// quantityOfFloat returns a finite float64 as the shortest decimal that reads back the same.
func quantityOfFloat(v float64) quantity {
	var buffer [32]byte
	q, _ := parseQuantity(strconv.AppendFloat(buffer[:0], v, 'e', -1, 64))
	return q
}

// quantityOfDecimal returns unscaled·10^-scale.
func quantityOfDecimal(unscaled *big.Int, scale int32) quantity {
	q := quantity{negative: unscaled.Sign() < 0, exponent: -int(scale)}
	if unscaled.IsInt64() {
		q.magnitude = magnitude(unscaled.Int64())
	} else {
		q.big = new(big.Int).Abs(unscaled)
	}
	return q
}

// magnitude returns |v|, also for the least int64.
func magnitude(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

// floorTimes returns ⌊q·den⌋, and whether q·den is exactly that integer. ok is false if the result does not fit 64
// bits. den is positive.
func (q quantity) floorTimes(den int64) (floor int64, exact, ok bool) {
	if q.big == nil && q.magnitude == 0 {
		return 0, true, true
	}
	if q.big != nil || q.exponent > 0 || q.exponent < -18 {
		return q.bigFloorTimes(den)
	}
	high, low := bits.Mul64(q.magnitude, uint64(den))
	divisor := powersOfTen[-q.exponent]
	if high >= divisor {
		return 0, false, false
	}
	quotient, rest := bits.Div64(high, low, divisor)
	if quotient > math.MaxInt64-1 {
		return 0, false, false
	}
	floor = int64(quotient)
	if q.negative {
		floor = -floor
		if rest != 0 {
			floor--
		}
	}
	return floor, rest == 0, true
}

// digits returns the magnitude without the power of ten.
func (q quantity) digits() *big.Int {
	if q.big != nil {
		return q.big
	}
	return new(big.Int).SetUint64(q.magnitude)
}

// fractionTimes returns q·num/den as a fraction n/d. d is positive because den is.
func (q quantity) fractionTimes(num, den int64) (n, d *big.Int) {
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(q.exponent, -q.exponent))), nil)
	n, d = new(big.Int).Mul(q.digits(), big.NewInt(num)), big.NewInt(den)
	if q.exponent >= 0 {
		n.Mul(n, power)
	} else {
		d.Mul(d, power)
	}
	if q.negative {
		n.Neg(n)
	}
	return n, d
}

// bigFloorTimes is floorTimes for long digits and large exponents.
func (q quantity) bigFloorTimes(den int64) (floor int64, exact, ok bool) {
	digits := q.digits()
	size := len(digits.String()) + q.exponent // the value is below 10^size
	switch {
	case digits.Sign() == 0:
		return 0, true, true
	case size > 40:
		return 0, false, false
	case size < -40 && q.negative:
		return -1, false, true
	case size < -40:
		return 0, false, true
	}
	x, by := q.fractionTimes(den, 1)
	rest := new(big.Int)
	x.DivMod(x, by, rest) // Euclidean: the floor, since by is positive
	if !x.IsInt64() {
		return 0, false, false
	}
	return x.Int64(), rest.Sign() == 0, true
}

var powersOfTen = func() (powers [19]uint64) {
	powers[0] = 1
	for i := 1; i < len(powers); i++ {
		powers[i] = powers[i-1] * 10
	}
	return powers
}()
