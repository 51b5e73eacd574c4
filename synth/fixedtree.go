package synth

import (
	"context"
	"slices"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/synth/graphical"
)

// This file holds the model of fixed measurements where a junction tree of all of them fits.

// treeSteps are those of its fit at most.
const treeSteps = 200

// treeLaw is that model. Its attributes are the columns by their finest classes and, for each partition of a column
// that sets divide it by, one more, which the first decides.
type treeLaw struct {
	*fixed
	model *graphical.Model
	nodes nodes
}

// nodes are the attributes of a graphical model of columns.
type nodes struct {
	domain graphical.Domain
	at     [][]int // of each column and partition
}

func (f *fixed) nodes() nodes {
	n := nodes{at: make([][]int, len(f.columns))}
	for i, c := range f.columns {
		for _, size := range c.sizes {
			n.at[i] = append(n.at[i], len(n.domain))
			n.domain = append(n.domain, size)
		}
	}
	return n
}

// clique is the attributes of a set.
func (n nodes) clique(s *set) graphical.Clique {
	out := make(graphical.Clique, len(s.columns))
	for i, column := range s.columns {
		out[i] = n.at[column][s.split[i]]
	}
	return out
}

// size is that of the smallest tree that is found for all sets.
func (f *fixed) size(n nodes) graphical.Size {
	var all []graphical.Clique
	for i := range f.sets {
		all = append(all, n.clique(&f.sets[i]))
	}
	for _, at := range n.at {
		for _, coarse := range at[1:] {
			all = append(all, graphical.Clique{at[0], coarse})
		}
	}
	return n.domain.Least(all)
}

// Shapes of a model by method tables.
const (
	// Tree is a junction tree of all sets of columns that were measured.
	Tree = "tree"
	// Gradual is targets for each set by itself, to which rows are brought by and by.
	Gradual = "gradual"
)

// law is a model of rows, and its shape: a tree where one fits within a size. It ends with the context, and what it
// gives then is no model.
func (f *fixed) law(ctx context.Context, most plan.ModelSize) (rowLaw, string) {
	n := f.nodes()
	if !f.size(n).Within(graphical.Size{Total: float64(most.Cells), Largest: float64(most.Largest)}) {
		return &gradual{f, f.targets(ctx)}, Gradual
	}
	t := &treeLaw{f, graphical.New(n.domain, nil, f.rows()), n}
	for i, c := range f.columns {
		for split, of := range c.partitions[1:] {
			if ctx.Err() != nil {
				return t, Tree
			}
			t.model.Never(graphical.Clique{n.at[i][0], n.at[i][split+1]}, apart(of, c.sizes[split+1]))
		}
	}
	for i := range f.sets {
		if ctx.Err() != nil {
			return t, Tree
		}
		s := &f.sets[i]
		t.model.Measure(n.clique(s), s.counts, slices.Repeat([]float64{s.sigma * s.sigma}, len(s.counts)))
	}
	t.sharpen(ctx)
	t.model.Fit(ctx, treeSteps)
	return t, Tree
}

// apart are the cells of a fine division and a coarse one that no category is in.
func apart(of []int, classes int) []bool {
	out := make([]bool, len(of)*classes)
	for fine, coarse := range of {
		for class := range classes {
			out[fine*classes+class] = class != coarse
		}
	}
	return out
}

// sharpen adds what is known of single columns beyond what cell errors alone let the sets say of them: cells of tables
// that were put together have noise that cancels in sums.
func (t *treeLaw) sharpen(ctx context.Context) {
	for i := range t.columns {
		c := &t.columns[i]
		for _, one := range c.singles {
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
				t.model.Measure(graphical.Clique{t.nodes.at[i][one.split]}, one.counts, slices.Repeat([]float64{1 / more}, len(one.counts)))
			}
		}
	}
}

// draw makes n rows: first the classes of all columns, and of each class its categories.
func (t *treeLaw) draw(ctx context.Context, n int, r *stream) [][]uint32 {
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

func (t *treeLaw) marginals(ctx context.Context, of []known, found func(i int, counts []float64)) {
	asked := make([]graphical.Clique, len(of))
	for i := range of {
		asked[i] = t.nodes.clique(&t.sets[i])
	}
	t.model.Marginals(ctx, asked, found)
}
