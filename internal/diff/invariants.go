package diff

import "github.com/dprelease/dprelease/internal/published"

// This file handles counts that are public figures in a comparison.

// statisticNoise returns the noise of a statistic: none for public figures.
func statisticNoise(t published.Table, statistic string) (tableNoise, error) {
	if t.Planned.Invariant != "" {
		return tableNoise{single: true}, nil
	}
	return measuredNoise(t, statistic)
}
