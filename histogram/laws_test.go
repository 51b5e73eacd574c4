package histogram

import (
	"testing"

	"github.com/dprelease/dprelease/budget"
)

// Every law of noise that a plan can have is drawn.
func TestEveryLawOfNoiseHasASampler(t *testing.T) {
	for _, kind := range budget.Laws() {
		if _, err := noiseLawOf(budget.Mechanism{Kind: kind}); err != nil {
			t.Error(err)
		}
	}
}
