// Package diff says what differs between two plans, or between two published releases: which cells changed by more than
// the noise of two independent draws explains. It reads published folders and plan files and writes nothing.
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

// Difference is what differs between two plans or two published releases.
type Difference struct {
	Plans    describe.Difference `json:"plans"`
	Releases *Comparison         `json:"releases,omitempty"` // nil where plan files were compared
}

// Comparison is what two published releases say of the tables that both have.
type Comparison struct {
	Before Edition `json:"before"`
	After  Edition `json:"after"`
	// SameDraw is true where both publish the same measurements: then no
	// difference is noise.
	SameDraw bool `json:"same_draw"`
	// Cells is how many counts were compared. If nothing but the noise had
	// changed, any of them at all would count as changed with a chance of at most
	// Chance, which is divided among Tests cells (Holm 1979).
	Cells  int64             `json:"cells"`
	Chance float64           `json:"chance"`
	Tests  float64           `json:"tests"`
	Rule   string            `json:"rule"` // the same in words
	Tables []TableDifference `json:"tables"`
	// Budget is what was paid, before and after, and Errors the margin of each table: two for each, 0 where it is not
	// there.
	Budget [2]string      `json:"budget"`
	Errors []ErrorsBeside `json:"margins"`
	// Sampled tells that a release is of a secret sample, whose error is in no margin.
	Sampled bool `json:"sampled,omitempty"`
	// Microdata are the tables of which both publish microdata. Those are not compared:
	// their rows are drawn from a model, so they differ also where nothing has changed.
	Microdata []string `json:"microdata_not_compared,omitempty"`
}

// ErrorsBeside is the margin of a count of a table in two releases, 0 in one that does not have it.
type ErrorsBeside struct {
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

// TableDifference is what two releases say of one table. Its figures are those of
// cells with the same keys.
type TableDifference struct {
	Path       string                `json:"path"`
	By         []string              `json:"by"`
	Refused    string                `json:"not_compared,omitempty"` // why
	Compared   int64                 `json:"cells_compared"`
	OnlyBefore int64                 `json:"cells_only_before"`
	OnlyAfter  int64                 `json:"cells_only_after"`
	Statistics []StatisticDifference `json:"statistics,omitempty"`
	// Some tells that a release has some cells of the table alone. Those that are in one release only have not changed for
	// that.
	Some bool `json:"some_cells,omitempty"`
	// Figures compares the figures other than the count. Where both releases come from one draw they must be equal. Of two
	// draws, and for counts of secret samples, it lists where their intervals do not overlap.
	Figures []FigureDifference `json:"figures,omitempty"`
}

// FigureDifference is in how many cells a figure, its interval or its flag is not the same or, of two draws, its two
// intervals are apart. Of as many as were compared noise alone sets Expected apart at most, on the mean.
type FigureDifference struct {
	Name     string           `json:"name"`
	Compared int64            `json:"cells_compared"`
	Changed  int64            `json:"changed"`
	Expected float64          `json:"expected_by_noise,omitempty"`
	Largest  []CellDifference `json:"largest,omitempty"`
}

// StatisticDifference is what became of one statistic. Margin is the largest
// difference of unbiased estimates that the noise explains, of the cell where that is
// most; Changed is how many cells differ by more than their own margin, and Largest
// are those of them that differ most.
type StatisticDifference struct {
	Name    string           `json:"name"`
	Margin  float64          `json:"margin"`
	Changed int64            `json:"changed"`
	Largest []CellDifference `json:"largest,omitempty"`
}

// CellDifference is a cell that changed by more than the noise explains. Before
// and After are unbiased estimates, Keys its codes in the order of By.
type CellDifference struct {
	Keys       []string `json:"keys"`
	Before     float64  `json:"before"`
	After      float64  `json:"after"`
	Difference float64  `json:"difference"`
	Margin     float64  `json:"margin"`
}

const (
	// differenceChance is the chance, over all cells together, that noise alone
	// makes any count as changed.
	differenceChance = 0.05
	// largestKept bounds the changed cells of a statistic that are told of, largestShown those that a page lists.
	largestKept  = 1000
	largestShown = 20
	// mostSteps bounds how often the margins are narrowed: each time fewer cells share the chance.
	mostSteps = 20
)

// Of compares two plan files, as readPlan reads them, or the folders of two published releases, of
// which each must be as its manifest says.
//
// Errors: *[verdict.Unusable] where they are not two of a kind or cannot be read;
// *[published.Altered] for a published folder that was changed.
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
			Err: errors.New("a plan file and a folder cannot be compared: give two plan files, or the folders of two published releases")}
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

// diffReleases compares two published folders: their plans, then every table that
// both have.
func diffReleases(ctx context.Context, before, after string) (*Difference, error) {
	a, err := published.Open(before)
	if err != nil {
		return nil, err
	}
	b, err := published.Open(after)
	if err != nil {
		return nil, err
	}
	c := &Comparison{Before: editionOf(a), After: editionOf(b), SameDraw: a.SameDraw(b), Chance: differenceChance,
		Tables: []TableDifference{}}
	c.Rule = c.rule()
	c.Sampled = eitherSampled(a, b)
	c.Budget, c.Errors = [2]string{describe.Budget(a.Plan.Guarantee), describe.Budget(b.Plan.Guarantee)},
		errorsBeside(a.Plan, b.Plan)
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
			c.Cells += pair.compared() * int64(len(pair.statistics))
			c.Tests += pair.tests()
		}
	}
	if err := c.compare(ctx, pairs); err != nil {
		return nil, err
	}
	return &Difference{Plans: describe.Diff(a.Plan, b.Plan), Releases: c}, nil
}

// compare compares the tables that both releases have, as often as that finds more: each cell that is found leaves its
// part of the chance to those that are not, by which their margins are narrower (Holm 1979: the chance that any is
// found for its noise alone stays what it is, however the noise of cells hangs together).
func (c *Comparison) compare(ctx context.Context, pairs []tablePair) error {
	for step, found := 0, int64(0); ; step++ {
		c.Tables = []TableDifference{}
		now := int64(0)
		for _, pair := range pairs {
			if err := ctx.Err(); err != nil {
				return err
			}
			t, err := pair.compare(c.SameDraw, c.Chance/max(c.Tests-float64(found), 1))
			if err != nil {
				return err
			}
			for _, s := range t.Statistics {
				now += s.Changed
			}
			c.Tables = append(c.Tables, t)
		}
		if c.SameDraw || now <= found || step == mostSteps {
			return nil
		}
		found = now
	}
}

// errorsBeside lists the margins of all counts of two plans, those of before first.
func errorsBeside(before, after *compiled.Compiled) []ErrorsBeside {
	all := []ErrorsBeside{}
	for _, side := range []struct {
		plan *compiled.Compiled
		of   func(*ErrorsBeside) *float64
	}{{before, func(e *ErrorsBeside) *float64 { return &e.Before }},
		{after, func(e *ErrorsBeside) *float64 { return &e.After }}} {
		for _, t := range side.plan.Tables {
			for _, s := range t.Statistics {
				at := slices.IndexFunc(all, func(e ErrorsBeside) bool { return e.Table == t.Path && e.Statistic == s.Name })
				if at < 0 {
					at = len(all)
					all = append(all, ErrorsBeside{Table: t.Path, Statistic: s.Name})
				}
				*side.of(&all[at]) = s.Margin
			}
		}
	}
	return all
}

// editionOf returns what a difference says of an edition.
func editionOf(e *published.Release) Edition {
	m := e.Manifest
	return Edition{Folder: e.Place, Release: m.Release, Status: m.Status, Revision: m.Revision, Software: m.Software}
}
