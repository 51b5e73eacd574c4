package diff

import "github.com/dprelease/dprelease/internal/published"

// This file holds what changes in a comparison where counts are public figures.

// tableNoiseOf is the noise of a statistic: none of public figures.
func tableNoiseOf(t published.Table, statistic string) (tableNoise, error) {
	if t.Planned.Invariant != "" {
		return tableNoise{alone: true}, nil
	}
	return measuredNoiseOf(t, statistic)
}
