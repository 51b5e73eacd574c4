package budget

import (
	"crypto/sha256"
	"fmt"
	"io"
)

// This file remembers results. A plan needs the ε of the same mechanisms at the same δ when it searches for its noise,
// states its guarantee, and explains its loss; so do plans that differ in words alone. Pairs that take long to compute
// are also kept: nothing modifies their masses.

// identity identifies a list of mechanisms, in their order. The zero identity belongs to a Loss that [Compose] did not
// make.
type identity [sha256.Size]byte

// identityOf returns the identity of groups in the order of their first occurrence.
func identityOf(groups []repeated) identity {
	h := sha256.New()
	for _, g := range groups {
		text := g.mechanism.identityText()
		fmt.Fprintf(h, "%d %d ", g.count, len(text))
		io.WriteString(h, text)
	}
	return identity(h.Sum(nil))
}

// question is a request for the ε of mechanisms at a δ, or for their true positive rate at a false positive rate.
type question struct {
	mechanisms identity
	isRate     bool
	at         float64
}

var (
	// rememberedAnswers holds the answers to questions.
	rememberedAnswers = memory[question, float64]{capacity: maxRemembered, size: func(float64) int { return 1 }}
	// rememberedPairs holds the pairs of mechanisms with several worst shifts, by identityText.
	rememberedPairs = memory[string, atoms]{capacity: maxRememberedPoints,
		size: func(a atoms) int { return len(a.mass) }}
	// rememberedZCDP holds the pairs of ρ-zCDP mechanisms, by ρ.
	rememberedZCDP = memory[float64, atoms]{capacity: maxRememberedPoints,
		size: func(a atoms) int { return len(a.mass) }}
)
