// Package diff compares two plans or two published releases. It lists the cells that changed by more than the noise of
// two independent draws explains. It reads published folders and plan files and writes nothing.
package diff

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/describe"
)

// Difference is the difference of two plans or two published releases.
type Difference struct {
	Plans    describe.Difference `json:"plans"`
	Releases *Comparison         `json:"releases,omitempty"` // nil if plan files were compared
}

// Comparison compares the tables that two published releases share.
type Comparison struct {
	Before Edition `json:"before"`
	After  Edition `json:"after"`
	// SameMeasurements reports whether both publish the same measurements: then no
	// difference is noise.
	SameMeasurements bool `json:"same_draw"`
	// Cells is how many counts were compared. If nothing but the noise had
	// changed, the probability that any of them counts as changed would be at most
	// Chance, which is divided among Tests cells (Holm 1979).
	Cells  int64             `json:"cells"`
	Chance float64           `json:"chance"`
	Tests  float64           `json:"tests"`
	Rule   string            `json:"rule"` // the same in words
	Tables []TableDifference `json:"tables"`
	// Budget is what was paid, before and after. Errors are the margins of each table in both, 0 if a release lacks it.
	Budget [2]string          `json:"budget"`
	Errors []MarginComparison `json:"margins"`
	// Sampled reports whether a release measures a secret sample, whose error is in no margin.
	Sampled bool `json:"sampled,omitempty"`
	// Microdata are the tables of which both publish microdata. These are not compared:
	// their rows are drawn from a model, so they differ even if nothing has changed.
	Microdata []string `json:"microdata_not_compared,omitempty"`
}

// MarginComparison is the margin of a count of a table in two releases, 0 in one that lacks it.
type MarginComparison struct {
	Table     string  `json:"table"`
	Statistic string  `json:"statistic"`
	Before    float64 `json:"before"`
	After     float64 `json:"after"`
}

// Edition is one of two published releases.
type Edition struct {
	Folder   string `json:"folder"`
	Release  string `json:"release"`
	Status   string `json:"status"`
	Revision int    `json:"revision,omitempty"`
	Software string `json:"software"`
}

// TableDifference compares one table of two releases, cell by cell with the same keys.
type TableDifference struct {
	Path       string                `json:"path"`
	By         []string              `json:"by"`
	Refused    string                `json:"not_compared,omitempty"` // why
	Compared   int64                 `json:"cells_compared"`
	OnlyBefore int64                 `json:"cells_only_before"`
	OnlyAfter  int64                 `json:"cells_only_after"`
	Statistics []StatisticDifference `json:"statistics,omitempty"`
	// Some reports whether a release has only some cells of the table. A cell that only one release has need not have
	// changed.
	Some bool `json:"some_cells,omitempty"`
	// Figures compares the figures other than the count. If both releases come from one draw they must be equal. For
	// two draws, and for counts of secret samples or of collected reports, it lists the cells whose intervals do not
	// overlap.
	Figures []FigureDifference `json:"figures,omitempty"`
}

// FigureDifference counts the cells in which a figure, its interval or its flag differs or, for two draws, in which
// its two intervals are disjoint. Among the compared cells, noise alone makes at most Expected disjoint on average.
type FigureDifference struct {
	Name     string           `json:"name"`
	Compared int64            `json:"cells_compared"`
	Changed  int64            `json:"changed"`
	Expected float64          `json:"expected_by_noise,omitempty"`
	Largest  []CellDifference `json:"largest,omitempty"`
}

// StatisticDifference compares one statistic. Margin is the largest difference of unbiased estimates that the noise
// explains, the maximum over the cells; Changed is how many cells differ by more than their own margin; Largest are
// those that differ most.
type StatisticDifference struct {
	Name    string           `json:"name"`
	Margin  float64          `json:"margin"`
	Changed int64            `json:"changed"`
	Largest []CellDifference `json:"largest,omitempty"`
}

// CellDifference is a cell that changed by more than the noise explains. Before and After are unbiased estimates, Keys
// its codes in the order of By.
type CellDifference struct {
	Keys       []string `json:"keys"`
	Before     float64  `json:"before"`
	After      float64  `json:"after"`
	Difference float64  `json:"difference"`
	Margin     float64  `json:"margin"`
}

const (
	// differenceChance is the probability, over all cells together, that noise alone
	// makes any cell count as changed.
	differenceChance = 0.05
	// largestKept is how many changed cells of a statistic are kept at most, largestShown how many a page lists.
	largestKept  = 1000
	largestShown = 20
	// mostSteps is how often the margins are narrowed at most: each time fewer cells share the chance.
	mostSteps = 20
)

// Of compares two plan files, as readPlan reads them, or the folders of two published releases, each of which must
// agree with its manifest.
//
// Errors: *[verdict.Unusable] if they are not two of a kind or cannot be read; *[published.Altered] for a published
// folder that was changed.
func Of(ctx context.Context, before, after string,
	readPlan func(ctx context.Context, path string) (*compiled.Compiled, error)) (*Difference, error) {
	var folders [2]bool
	for i, path := range []string{before, after} {
		info, err := os.Stat(path)
		if err != nil {
			return nil, &verdict.Unusable{File: path, Err: err}
		}
		folders[i] = info.IsDir()
	}
	switch {
	case folders[0] != folders[1]:
		return nil, &verdict.Unusable{File: after,
			Err: errors.New(
				"a plan file and a folder cannot be compared: give two plan files, or the folders of two published releases")}
	case folders[0]:
		return diffReleases(ctx, before, after)
	}
	a, err := readPlan(ctx, before)
	if err != nil {
		return nil, err
	}
	b, err := readPlan(ctx, after)
	if err != nil {
		return nil, err
	}
	return &Difference{Plans: describe.Diff(a, b)}, nil
}

// diffReleases compares two published folders: their plans, then every table that both have.
func diffReleases(ctx context.Context, before, after string) (*Difference, error) {
	a, err := published.Open(before)
	if err != nil {
		return nil, err
	}
	b, err := published.Open(after)
	if err != nil {
		return nil, err
	}
	c := &Comparison{Before: editionOf(a), After: editionOf(b), SameMeasurements: a.SameMeasurements(b),
		Chance: differenceChance,
		Tables: []TableDifference{}}
	c.Rule = c.ruleText()
	c.Sampled = eitherSampled(a, b)
	c.Budget, c.Errors = [2]string{describe.Budget(a.Plan.Guarantee), describe.Budget(b.Plan.Guarantee)},
		compareMargins(a.Plan, b.Plan)
	for _, s := range a.Plan.Synthetic {
		if slices.ContainsFunc(b.Plan.Synthetic, func(other plan.Synthetic) bool { return other.Table == s.Table }) {
			c.Microdata = append(c.Microdata, s.Table)
		}
	}
	var pairs []tablePair
	for i := range a.Plan.Tables {
		pair, found, err := pairOf(a, b, i)
		if err != nil {
			return nil, err
		}
		if found {
			pairs = append(pairs, pair)
			c.Cells += pair.commonCells() * int64(len(pair.statistics))
			c.Tests += pair.testedCells()
		}
	}
	if err := c.compareTables(ctx, pairs); err != nil {
		return nil, err
	}
	return &Difference{Plans: describe.Diff(a.Plan, b.Plan), Releases: c}, nil
}

// compareTables compares the tables that both releases have, again and again as long as that finds more changed cells.
// Each cell that is found leaves its part of the chance to the others, whose margins become narrower. (Holm 1979: the
// probability that any cell is found because of its noise alone stays the same, whatever the dependence of the cells'
// noise.)
func (c *Comparison) compareTables(ctx context.Context, pairs []tablePair) error {
	for step, found := 0, int64(0); ; step++ {
		c.Tables = []TableDifference{}
		now := int64(0)
		for _, pair := range pairs {
			if err := ctx.Err(); err != nil {
				return err
			}
			t, err := pair.compareCells(c.SameMeasurements, c.Chance/max(c.Tests-float64(found), 1))
			if err != nil {
				return err
			}
			for _, s := range t.Statistics {
				now += s.Changed
			}
			c.Tables = append(c.Tables, t)
		}
		if c.SameMeasurements || now <= found || step == mostSteps {
			return nil
		}
		found = now
	}
}

// compareMargins lists the margins of all counts of two plans, those of the first plan first.
func compareMargins(before, after *compiled.Compiled) []MarginComparison {
	all := []MarginComparison{}
	for _, side := range []struct {
		plan *compiled.Compiled
		of   func(*MarginComparison) *float64
	}{{before, func(e *MarginComparison) *float64 { return &e.Before }},
		{after, func(e *MarginComparison) *float64 { return &e.After }}} {
		for _, t := range side.plan.Tables {
			for _, s := range t.Statistics {
				at := slices.IndexFunc(all, func(e MarginComparison) bool {
					return e.Table == t.Path &&
						e.Statistic == s.Name
				})
				if at < 0 {
					at = len(all)
					all = append(all, MarginComparison{Table: t.Path, Statistic: s.Name})
				}
				*side.of(&all[at]) = s.Margin
			}
		}
	}
	return all
}

// editionOf returns the description of a release in a comparison.
func editionOf(e *published.Release) Edition {
	m := e.Manifest
	return Edition{Folder: e.NamedPath, Release: m.Release, Status: m.Status, Revision: m.Revision,
		Software: m.Software}
}
