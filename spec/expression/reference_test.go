package expression

// This file holds the reference: it evaluates the language row by row, with rationals and package time, and shares
// nothing with the program.

import (
	"math/big"
	"strings"
	"time"
)

// A value is nil (null), *big.Rat, string, bool, or time.Time for dates and timestamps.
type value any

type row map[string]value

func (r row) eval(n *node) value {
	switch n.op {
	case number:
		return n.number
	case text:
		return n.text
	case date:
		return time.Unix(n.value*86400, 0).UTC()
	case timestamp:
		return time.UnixMicro(n.value).UTC()
	case boolean:
		return n.value == 1
	case null:
		return nil
	case column:
		return r[n.name]
	}
	return r.evalCall(n)
}

func (r row) evalAll(nodes []*node) (values []value, null bool) {
	for _, n := range nodes {
		v := r.eval(n)
		values = append(values, v)
		null = null || v == nil
	}
	return values, null
}

func compareValues(a, b value) int {
	switch a := a.(type) {
	case *big.Rat:
		return a.Cmp(b.(*big.Rat))
	case string:
		return strings.Compare(a, b.(string))
	case bool:
		if a == b.(bool) {
			return 0
		}
		return 1
	}
	return a.(time.Time).Compare(b.(time.Time))
}

func wholeRat(n int64) *big.Rat { return new(big.Rat).SetInt64(n) }

func floorRat(x *big.Rat) *big.Rat {
	return new(big.Rat).SetInt(new(big.Int).Div(x.Num(), x.Denom())) // Euclidean, the denominator positive
}

func startOfDay(v value) time.Time { return v.(time.Time).Truncate(24 * time.Hour) }

func (r row) evalCall(n *node) value {
	switch n.name {
	case "and", "or":
		a, b := r.eval(n.args[0]), r.eval(n.args[1])
		decides := n.name == "or"
		switch {
		case a == decides || b == decides:
			return decides
		case a == nil || b == nil:
			return nil
		}
		return !decides
	case "is_null":
		return r.eval(n.args[0]) == nil
	case "if", "case":
		for i := 0; i+1 < len(n.args); i += 2 {
			if r.eval(n.args[i]) == true {
				return r.eval(n.args[i+1])
			}
		}
		return r.eval(n.args[len(n.args)-1])
	case "coalesce":
		for _, a := range n.args {
			if v := r.eval(a); v != nil {
				return v
			}
		}
		return nil
	case "in":
		v := r.eval(n.args[0])
		if v == nil {
			return nil
		}
		for _, item := range n.args[1].args {
			if compareValues(v, r.eval(item)) == 0 {
				return true
			}
		}
		return false
	case "recode":
		v := r.eval(n.args[0])
		if v == nil {
			return nil
		}
		for i, entries := 0, n.args[1].args; i < len(entries); i += 2 {
			if compareValues(v, r.eval(entries[i])) == 0 {
				return r.eval(entries[i+1])
			}
		}
		if len(n.args) == 3 {
			return r.eval(n.args[2])
		}
		return nil
	}
	if _, ok := spans[n.name]; ok {
		v, null := r.evalAll(n.args[0].args)
		if null {
			return nil
		}
		return evalSpan(n.name, v[0], v[1])
	}
	v, null := r.evalAll(n.args)
	if null {
		return nil
	}
	if at, ok := v[0].(time.Time); ok && len(v) == 1 {
		return evalCalendarPart(n.name, at)
	}
	return evalPlain(n.name, v)
}

func evalSpan(name string, a, b value) value {
	switch name {
	case "hours", "minutes", "seconds":
		unit := map[string]time.Duration{"hours": time.Hour, "minutes": time.Minute, "seconds": time.Second}[name]
		micros := new(big.Int).Sub(big.NewInt(a.(time.Time).UnixMicro()), big.NewInt(b.(time.Time).UnixMicro()))
		return new(big.Rat).SetInt(micros.Div(micros, big.NewInt(unit.Microseconds())))
	case "days":
		return wholeRat(startOfDay(a).Unix()/86400 - startOfDay(b).Unix()/86400)
	}
	// The result is the largest number of months or years for which the later day is not before the anniversary. An
	// anniversary that does not exist is the first of the next month.
	from, to := startOfDay(b), startOfDay(a)
	months := 1
	if name == "years" {
		months = 12
	}
	k := (to.Year()-from.Year())*12/months + 2*(12/months)
	for isAnniversaryAfter(from, to, k*months) {
		k--
	}
	return wholeRat(int64(k))
}

// isAnniversaryAfter reports whether the day `months` months after from comes after to.
func isAnniversaryAfter(from, to time.Time, months int) bool {
	first := time.Date(from.Year(), from.Month()+time.Month(months), 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	if from.Day() > last {
		return first.AddDate(0, 1, 0).After(to)
	}
	return first.AddDate(0, 0, from.Day()-1).After(to)
}

func evalCalendarPart(name string, t time.Time) value {
	_, week := t.ISOWeek()
	weekday := int64(t.Weekday())
	if weekday == 0 {
		weekday = 7
	}
	switch name {
	case "year":
		return wholeRat(int64(t.Year()))
	case "quarter":
		return wholeRat(int64(t.Month()-1)/3 + 1)
	case "month":
		return wholeRat(int64(t.Month()))
	case "week":
		return wholeRat(int64(week))
	case "day":
		return wholeRat(int64(t.Day()))
	case "weekday":
		return wholeRat(weekday)
	case "hour":
		return wholeRat(int64(t.Hour()))
	case "minute":
		return wholeRat(int64(t.Minute()))
	case "date":
		return startOfDay(t)
	}
	return t // timestamp
}

func evalPlain(name string, v []value) value {
	switch name {
	case "==":
		return compareValues(v[0], v[1]) == 0
	case "!=":
		return compareValues(v[0], v[1]) != 0
	case "<":
		return compareValues(v[0], v[1]) < 0
	case "<=":
		return compareValues(v[0], v[1]) <= 0
	case ">":
		return compareValues(v[0], v[1]) > 0
	case ">=":
		return compareValues(v[0], v[1]) >= 0
	case "not":
		return !v[0].(bool)
	case "starts_with":
		return strings.HasPrefix(v[0].(string), v[1].(string))
	case "lower":
		return strings.ToLower(v[0].(string))
	case "upper":
		return strings.ToUpper(v[0].(string))
	case "trim":
		return strings.TrimSpace(v[0].(string))
	case "length":
		return wholeRat(int64(len([]rune(v[0].(string)))))
	case "prefix", "slice":
		runes, from, most := []rune(v[0].(string)), 0, 0
		if name == "slice" {
			from = min(int(v[1].(*big.Rat).Num().Int64())-1, len(runes))
		}
		most = int(v[len(v)-1].(*big.Rat).Num().Int64())
		return string(runes[from:min(from+most, len(runes))])
	case "text", "boolean", "decimal":
		return v[0]
	case "integer":
		if b, ok := v[0].(bool); ok {
			return wholeRat(toBit(b))
		}
		return v[0]
	}
	return evalNumeric(name, v)
}

func evalNumeric(name string, v []value) value {
	x := new(big.Rat).Set(v[0].(*big.Rat))
	switch name {
	case "negative":
		return x.Neg(x)
	case "abs":
		return x.Abs(x)
	case "floor":
		return floorRat(x)
	case "round":
		return floorRat(x.Add(x, big.NewRat(1, 2)))
	}
	for _, other := range v[1:] {
		y := other.(*big.Rat)
		switch name {
		case "+":
			x.Add(x, y)
		case "-":
			x.Sub(x, y)
		case "*":
			x.Mul(x, y)
		case "//":
			x = floorRat(x.Quo(x, y))
		case "%":
			q := floorRat(new(big.Rat).Quo(x, y))
			x.Sub(x, q.Mul(q, y))
		case "min":
			if y.Cmp(x) < 0 {
				x.Set(y)
			}
		case "max":
			if y.Cmp(x) > 0 {
				x.Set(y)
			}
		}
	}
	if name == "clamp" {
		low, high := v[1].(*big.Rat), v[2].(*big.Rat)
		x.Set(v[0].(*big.Rat))
		if x.Cmp(low) < 0 {
			x.Set(low)
		}
		if x.Cmp(high) > 0 {
			x.Set(high)
		}
	}
	return x
}
