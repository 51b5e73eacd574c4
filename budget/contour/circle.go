package contour

import (
	"math"
	"math/big"
	"math/bits"
	"math/cmplx"
)

// A circle is the contour if every loss lies on one lattice: the line folded onto one period 2π/h, which is the circle
// |w| = e^(ch) of the generating function in w = e^(zh), with n points on it.
type circle struct {
	*integrand
	n     uint64
	h     float64
	steps []uint64 // spacing of each group's lattice, in h
	lead  leader
	// The least loss above ε is ε + gap, and anchor − that is offset·h.
	gap, rest float64 // rest = h − gap
	offset    uint64  // modulo n
	shift     float64 // offset·h, not reduced modulo n
}

// newCircle returns a circle whose aliases are at least d apart; false if there is no lattice, or one that is too fine.
func (j *integrand) newCircle(d float64) (*circle, bool) {
	if j.spacing == nil {
		return nil, false
	}
	k := &circle{integrand: j, h: toFloat(j.spacing)}
	count := math.Ceil(d / k.h)
	if count > 1<<52 {
		return nil, false
	}
	k.n = uint64(max(count, 1))
	for _, g := range j.groups {
		step := new(big.Rat).Quo(g.law.latticeSpacing(), j.spacing).Num()
		if step.BitLen() > 62 {
			return nil, false
		}
		k.steps = append(k.steps, step.Uint64())
	}
	// ε − anchor = (−offset − 1)·h + rest, 0 ≤ rest < h.
	below := new(big.Rat).Sub(j.epsilon, j.anchor)
	below.Quo(below, j.spacing)
	whole := new(big.Int).Div(below.Num(), below.Denom()) // floor
	part := new(big.Rat).Sub(below, new(big.Rat).SetInt(whole))
	k.rest = toFloat(part) * k.h
	k.gap = toFloat(part.Sub(big.NewRat(1, 1), part)) * k.h
	offset := whole.Neg(whole.Add(whole, big.NewInt(1)))
	k.shift = toFloat(new(big.Rat).SetInt(offset)) * k.h
	k.offset = new(big.Int).Mod(offset, new(big.Int).SetUint64(k.n)).Uint64()
	k.lead = j.chooseLeader(math.Log(float64(k.n)))
	return k, true
}

// estimateWork estimates an upper bound on the number of evaluations of laws in the sum.
func (k *circle) estimateWork() float64 {
	laws := float64(len(k.groups))
	if k.lead.group < 0 {
		return laws * float64(k.n) / 2
	}
	windows := float64(k.steps[k.lead.group])/2 + 1
	return laws * windows * (k.lead.width*float64(k.n)*k.h/math.Pi + 1)
}

// sumPoints returns δ(ε) by the trapezoid rule: exact on a lattice up to the aliases.
func (k *circle) sumPoints() Result {
	s := k.newSum(k.shift, math.Log(float64(k.n)))
	half := k.n / 2
	if k.lead.group < 0 {
		for i := uint64(0); i <= half; i++ {
			k.addPoint(s, i)
		}
		return k.newResult(s)
	}
	// The leader's returns are n/step points apart.
	apart := float64(k.n) / float64(k.steps[k.lead.group])
	reach := k.lead.width * float64(k.n) * k.h / (2 * math.Pi)
	next := uint64(0)
	for centre := 0.0; centre-reach <= float64(half); centre += apart {
		from := max(next, uint64(max(0, math.Ceil(centre-reach))))
		for next = from; float64(next) <= centre+reach && next <= half; next++ {
			k.addPoint(s, next)
		}
	}
	return k.newResult(s)
}

func (k *circle) newResult(s *pointSum) Result {
	return s.newResult(k.aliasBound(float64(k.n)*k.h), 1/float64(k.n), real(k.kernelAt(0)))
}

// addPoint adds point i, together with its mirror image n−i.
func (k *circle) addPoint(s *pointSum, i uint64) {
	for g, step := range k.steps {
		if !s.applyFactor(g, signedTurn(i, step, k.n)*2*math.Pi/(float64(step)*k.h)) {
			return
		}
	}
	s.addPhase(2 * math.Pi * signedTurn(i, k.offset, k.n))
	weight := 2.0
	if i == 0 || 2*i == k.n {
		weight = 1
	}
	s.endPoint(k.kernelAt(2*math.Pi*float64(i)/float64(k.n)), weight)
}

// signedTurn returns i·step/n less the nearest integer, rounded once.
func signedTurn(i, step, n uint64) float64 {
	high, low := bits.Mul64(i, step)
	r := bits.Rem64(high, low, n)
	if r > n/2 {
		return -float64(n-r) / float64(n)
	}
	return float64(r) / float64(n)
}

// kernelAt returns Σ e^(−z(l−l₀))·(1−e^(ε−l)) over the lattice's l ≥ l₀ = ε + gap, at z = c + i·angle/h:
//
//	(1−e^(−gap) + e^(−zh−gap)·(1−e^(−rest))) / ((1−e^(−zh))·(1−e^(−(z+1)h))).
func (k *circle) kernelAt(angle float64) complex128 {
	zh := complex(k.c*k.h, angle)
	above := cmplx.Exp(-zh-complex(k.gap, 0)) * complex(-math.Expm1(-k.rest), 0)
	above += complex(-math.Expm1(-k.gap), 0)
	return above / (oneMinusExp(zh) * oneMinusExp(zh+complex(k.h, 0)))
}
