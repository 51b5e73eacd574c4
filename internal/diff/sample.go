package diff

import (
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/screen"
)

// This file handles, in a comparison, releases that measure a sample of their units and those whose answers were
// randomised on the respondents' devices.

// eitherSampled reports whether one of two releases measures a sample.
func eitherSampled(a, b *published.Release) bool {
	return a.Plan.Sample.Partial() || b.Plan.Sample.Partial()
}

// eitherCollected reports whether the answers of one of two releases were randomised on the respondents' devices.
func eitherCollected(a, b *published.Release) bool {
	return a.Plan.Release().Collection != nil || b.Plan.Release().Collection != nil
}

// writeSample prints that the margins of a comparison do not include the error of a sample.
func (c *Comparison) writeSample(p *screen.Page) {
	if c.Sampled {
		p.Paragraph("These margins are of the noise alone, without the error of the secret sample.", screen.Plain)
	}
}
