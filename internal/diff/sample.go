package diff

import (
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/screen"
)

// This file holds what changes in a comparison where a release measures a sample of its units.

// eitherSampled reports whether one of two releases measures a sample.
func eitherSampled(a, b *published.Release) bool {
	return a.Plan.Sample.Partial() || b.Plan.Sample.Partial()
}

// writeSample says that the error of a sample is in no margin of a comparison.
func (c *Comparison) writeSample(p *screen.Page) {
	if c.Sampled {
		p.Paragraph("These margins are of the noise alone, without the error of the secret sample.", screen.Plain)
	}
}
