package synth

import (
	"context"
	"slices"

	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/synth/graphical"
)

// This file holds the model of fixed measurements if a junction tree of all of them is small enough.

// treeSteps bounds the steps of its fit.
const treeSteps = 200

// treeLaw is the model. Its attributes are the columns by their finest classes and one more for each coarser partition
// of a column, which the finest classes determine.
type treeLaw struct {
	*fixedEstimates
	model *graphical.Model
	nodes nodes
}

// nodes are the attributes of a graphical model of columns.
type nodes struct {
	domain graphical.Domain
	at     [][]int // by column and partition
}

func (f *fixedEstimates) treeNodes() nodes {
	n := nodes{at: make([][]int, len(f.columns))}
	for i, c := range f.columns {
		for _, size := range c.sizes {
			n.at[i] = append(n.at[i], len(n.domain))
			n.domain = append(n.domain, size)
		}
	}
	return n
}

// cliqueOf returns the attributes of a set.
func (n nodes) cliqueOf(s *set) graphical.Clique {
	out := make(graphical.Clique, len(s.columns))
	for i, column := range s.columns {
		out[i] = n.at[column][s.split[i]]
	}
	return out
}

// treeSize returns the size of the smallest tree that is found for all sets.
func (f *fixedEstimates) treeSize(n nodes) graphical.Size {
	var all []graphical.Clique
	for i := range f.sets {
		all = append(all, n.cliqueOf(&f.sets[i]))
	}
	for _, at := range n.at {
		for _, coarse := range at[1:] {
			all = append(all, graphical.Clique{at[0], coarse})
		}
	}
	return n.domain.GreedyTreeSize(all)
}

// Shapes of a model by method tables.
const (
	// Tree is a junction tree of all sets of columns that were measured.
	Tree = "tree"
	// Gradual is a target for each set by itself, to which rows are brought step by step.
	Gradual = "gradual"
)

// newLaw returns a model of rows and its shape: a tree if one fits within a size. If the context has ended the result
// is not a model.
func (f *fixedEstimates) newLaw(ctx context.Context, most plan.ModelSize) (rowLaw, string) {
	n := f.treeNodes()
	if !f.treeSize(n).FitsIn(graphical.Size{Total: float64(most.Cells), Largest: float64(most.Largest)}) {
		return &gradual{f, f.projectTargets(ctx)}, Gradual
	}
	t := &treeLaw{f, graphical.New(n.domain, nil, f.modelRows()), n}
	for i, c := range f.columns {
		for split, of := range c.partitions[1:] {
			if ctx.Err() != nil {
				return t, Tree
			}
			t.model.DeclareImpossible(graphical.Clique{n.at[i][0], n.at[i][split+1]},
				impossiblePairs(of, c.sizes[split+1]))
		}
	}
	for i := range f.sets {
		if ctx.Err() != nil {
			return t, Tree
		}
		s := &f.sets[i]
		t.model.Measure(n.cliqueOf(s), s.counts, slices.Repeat([]float64{s.sigma * s.sigma}, len(s.counts)))
	}
	t.addColumnSums(ctx)
	progress.SetParts(ctx, treeSteps)
	t.model.Fit(ctx, treeSteps)
	return t, Tree
}

// impossiblePairs marks the cells of a fine and a coarse partition that no category is in.
func impossiblePairs(of []int, classes int) []bool {
	out := make([]bool, len(of)*classes)
	for fine, coarse := range of {
		for class := range classes {
			out[fine*classes+class] = class != coarse
		}
	}
	return out
}

// addColumnSums measures what is known of single columns beyond what the cell errors of the sets imply: the noise of
// reconstructed tables partly cancels in sums.
func (t *treeLaw) addColumnSums(ctx context.Context) {
	for i := range t.columns {
		c := &t.columns[i]
		for _, one := range c.sums {
			if ctx.Err() != nil {
				return
			}
			said := 0.0
			for k := range t.sets {
				s := &t.sets[k]
				at := slices.Index(s.columns, i)
				if at >= 0 && s.split[at] == one.split && (s == one.from || s.table >= 0 && one.from.table >= 0 &&
					t.reader.Together(s.table, one.from.table)) {
					said += 1 / float64(float64(s.sigma*s.sigma)*float64(len(s.counts)/s.sizes[at]))
				}
			}
			if more := 1/one.variance - said; more > float64(said*roundoff) {
				t.model.Measure(graphical.Clique{t.nodes.at[i][one.split]}, one.counts,
					slices.Repeat([]float64{1 / more}, len(one.counts)))
			}
		}
	}
}

// drawRows draws n rows: first the classes of all columns, and then the categories of each class.
func (t *treeLaw) drawRows(ctx context.Context, n int, r *stream) [][]uint32 {
	drawn := make([][]uint32, len(t.nodes.domain))
	drawModel(ctx, t.model, t.nodes.domain, drawn, n, r)
	codes := make([][]uint32, len(t.columns))
	for i, c := range t.columns {
		if ctx.Err() != nil {
			return nil
		}
		codes[i] = spreadCodes(drawn[t.nodes.at[i][0]], c.classes, r)
	}
	return codes
}

func (t *treeLaw) visitMarginals(ctx context.Context, of []setEstimate, found func(i int, counts []float64)) {
	asked := make([]graphical.Clique, len(of))
	for i := range of {
		asked[i] = t.nodes.cliqueOf(&t.sets[i])
	}
	t.model.Marginals(ctx, asked, found)
}
