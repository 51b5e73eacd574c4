package release

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/dprelease/dprelease/plan"
)

// This file holds the difference between two plans, or between two published releases.

// Difference is what differs between two plans or two published releases.
type Difference struct {
	Plans    plan.Difference `json:"plans"`
	Releases *Comparison     `json:"releases,omitempty"` // nil where plan files were compared
}

// Comparison is what two published releases say of the tables that both have.
type Comparison struct {
	Before Edition `json:"before"`
	After  Edition `json:"after"`
	// SameDraw is true where both publish the same measurements: then no
	// difference is noise.
	SameDraw bool `json:"same_draw"`
	// Cells is how many figures were compared. If nothing but the noise had
	// changed, any of them at all would count as changed with a chance of at most
	// Chance.
	Cells  int64             `json:"cells"`
	Chance float64           `json:"chance"`
	Rule   string            `json:"rule"` // the same in words
	Tables []TableDifference `json:"tables"`
	// Microdata are the tables of which both publish microdata. Those are not compared:
	// their rows are drawn from a model, so they differ also where nothing has changed.
	Microdata []string `json:"microdata_not_compared,omitempty"`
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
	// Figures beside the count are held against each other where both releases are of one draw, and are to be the same. Of two
	// draws they are NotCompared: how far noise drives two of them apart depends on more than is published.
	Figures     []FigureDifference `json:"figures,omitempty"`
	NotCompared []string           `json:"figures_not_compared,omitempty"`
}

// FigureDifference is in how many cells a figure, its interval or its flag is not the same.
type FigureDifference struct {
	Name    string `json:"name"`
	Changed int64  `json:"changed"`
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
	// largestShown bounds the changed cells of a statistic that are listed.
	largestShown = 20
)

// Diff compares two plan files, or the folders of two published releases, of
// which each must be as its manifest says.
//
// Errors: *[SpecError] where they are not two of a kind or cannot be read;
// *[Altered] for a published folder that was changed.
func Diff(ctx context.Context, before, after string) (*Difference, error) {
	var folders [2]bool
	for i, path := range []string{before, after} {
		info, err := os.Stat(path)
		if err != nil {
			return nil, &SpecError{File: path, Err: err}
		}
		folders[i] = info.IsDir()
	}
	switch {
	case folders[0] != folders[1]:
		return nil, &SpecError{File: after, Err: errors.New("a plan file and a folder cannot be compared: give two plan files, or the folders of two published releases")}
	case folders[0]:
		return diffReleases(ctx, before, after)
	}
	a, err := ReadPlan(before)
	if err != nil {
		return nil, err
	}
	b, err := ReadPlan(after)
	if err != nil {
		return nil, err
	}
	return &Difference{Plans: plan.Diff(a, b)}, nil
}

// diffReleases compares two published folders: their plans, then every table that
// both have.
func diffReleases(ctx context.Context, before, after string) (*Difference, error) {
	a, err := openEdition(before)
	if err != nil {
		return nil, err
	}
	b, err := openEdition(after)
	if err != nil {
		return nil, err
	}
	for _, e := range []*edition{a, b} {
		if e.plan.Sample != nil {
			return nil, &SpecError{File: e.place, Err: errors.New("was measured on a secret sample of the units, whose error this comparison does not know: compare the plans")}
		}
	}
	c := &Comparison{Before: a.describe(), After: b.describe(), SameDraw: a.sameDraw(b), Chance: differenceChance, Tables: []TableDifference{}}
	c.Rule = c.rule()
	for _, s := range a.plan.Synthetic {
		if slices.ContainsFunc(b.plan.Synthetic, func(other plan.Synthetic) bool { return other.Table == s.Table }) {
			c.Microdata = append(c.Microdata, s.Table)
		}
	}
	var pairs []tablePair
	for i := range a.plan.Tables {
		pair, found, err := pairOf(a, b, i)
		if err != nil {
			return nil, err
		}
		if found {
			pairs = append(pairs, pair)
			c.Cells += pair.compared() * int64(len(pair.statistics))
		}
	}
	for _, pair := range pairs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t, err := pair.compare(c.SameDraw, c.Chance/float64(max(c.Cells, 1)))
		if err != nil {
			return nil, err
		}
		c.Tables = append(c.Tables, t)
	}
	return &Difference{Plans: plan.Diff(a.plan, b.plan), Releases: c}, nil
}
