package budget

import (
	"crypto/sha256"
	"fmt"
	"io"
	"sync"
)

// This file remembers what has been worked out. A plan asks for the ε of the same mechanisms at the same δ when it
// looks for its noise, states its guarantee, and explains its loss; so do plans that differ in words alone. A pair that
// takes long to work out is kept too: nobody writes to its masses.

// identity tells lists of mechanisms apart, in their order; the zero identity is of none that [Compose] made.
type identity [sha256.Size]byte

// identityOf is that of groups in the order of their first places.
func identityOf(groups []repeated) identity {
	h := sha256.New()
	for _, g := range groups {
		text := g.mechanism.text()
		fmt.Fprintf(h, "%d %d ", g.count, len(text))
		io.WriteString(h, text)
	}
	return identity(h.Sum(nil))
}

// question is an ε that was asked for, of these mechanisms at this δ; or a rate of true positives, at this rate of
// false ones.
type question struct {
	of   identity
	rate bool
	at   float64
}

// mostRemembered is how many answers are kept, some 200 kB of them; then all are forgotten.
const mostRemembered = 1 << 12

// answers are what questions gave.
type answers struct {
	lock  sync.Mutex
	known map[question]float64
}

var remembered answers

// of is the answer to a question, which answer works out where it is new. Two that ask at once may both work it out, to
// the same bits.
func (a *answers) of(q question, answer func() float64) float64 {
	a.lock.Lock()
	known, ok := a.known[q]
	a.lock.Unlock()
	if ok {
		return known
	}
	known = answer()
	a.lock.Lock()
	defer a.lock.Unlock()
	if a.known == nil || len(a.known) >= mostRemembered {
		a.known = map[question]float64{}
	}
	a.known[q] = known
	return known
}

// mostPoints bounds the pairs that are kept: 16 MB of masses; then all are forgotten.
const mostPoints = 1 << 21

// envelopes are the pairs of mechanisms whose worst shifts are several, by their text.
type envelopes struct {
	lock   sync.Mutex
	known  map[string]atoms
	points int
}

var rememberedPairs envelopes

// of is the pair of a mechanism, which work works out where it is new.
func (e *envelopes) of(m Mechanism, work func() atoms) atoms {
	text := m.text()
	e.lock.Lock()
	known, ok := e.known[text]
	e.lock.Unlock()
	if ok {
		return known
	}
	known = work()
	e.lock.Lock()
	defer e.lock.Unlock()
	if e.points += len(known.mass); e.known == nil || e.points > mostPoints {
		e.known, e.points = map[string]atoms{}, len(known.mass)
	}
	e.known[text] = known
	return known
}
