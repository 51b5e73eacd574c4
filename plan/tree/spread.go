package tree

import (
	"fmt"
	"math"
	"slices"
)

// This file holds the variances of the estimates, which depend on sizes and variances alone.

// Method says from which answers an area is estimated.
type Method int

const (
	// LeastSquares estimates every area from the answers of all areas, by generalised least squares.
	LeastSquares Method = iota
	// TopDown estimates each area from its own answers and its siblings', so that they add up to the estimate of
	// their parent, which stays as it is: nothing flows up.
	TopDown
	// OwnAnswers estimates each area from its own answers alone.
	OwnAnswers
)

// gaussian is what is known of the counts of an area along one component: a covariance, but for vectors along which
// nothing is known.
type gaussian struct {
	covariance symmetric
	unknown    [][]float64
}

// known returns what a precision says.
func known(precision symmetric) gaussian {
	covariance, unknown := precision.invert()
	return gaussian{covariance, unknown}
}

// tied is the sum of some children's counts: what the children, taken together, say of their parent's.
type tied struct {
	precision      symmetric   // of the sum
	unknownInverse symmetric   // m⁻¹ of the derivation, over the spanned vectors
	spanned        [][]float64 // orthonormal: sums along which nothing is known
	lifted         [][]float64 // the columns of L: the spanned vectors, less what is known along with them
	leaning        symmetric   // g: the covariance of the sum along lifted
}

// Spread holds the covariances of the estimates of all areas.
type Spread struct {
	tree   *Tree
	method Method
	kinds  [][]int      // of each area, in their order
	up     [][]gaussian // of each area and component: what it and the areas in it say
	ties   [][]tied     // of each area with children and component
	shares []share      // of each area; one for all children of an area that have no children and the same answers
}

// leaf is what areas without children have in common if their answers say equally much.
type leaf struct {
	parent, class int
	possible      Kinds
}

// share is how an area's estimate follows from its parent's.
type share struct {
	follows [][][]float64 // of each component; see Spread.follow. nil for the first area, and from own answers alone
	post    []gaussian    // of each component: the estimate
}

// Spread returns the covariances of the estimates of all areas.
func (t *Tree) Spread(m Method) *Spread {
	s := &Spread{tree: t, method: m, kinds: make([][]int, len(t.areas)), up: make([][]gaussian, len(t.areas)),
		ties: make([][]tied, len(t.areas)), shares: make([]share, len(t.areas))}
	lists, own := map[Kinds][]int{}, map[leaf][]gaussian{}
	for i := len(t.areas) - 1; i >= 0; i-- {
		possible := t.areas[i].Possible
		if lists[possible] == nil {
			lists[possible] = possible.list()
		}
		s.kinds[i] = lists[possible]
		key := leaf{-1, t.areas[i].Class, possible}
		if own[key] == nil {
			for c := range t.components {
				own[key] = append(own[key], known(t.ownPrecision(key.class, s.kinds[i], c)))
			}
		}
		s.up[i] = own[key]
		if len(t.childrenOf(i)) > 0 {
			s.gather(i)
		}
	}
	known := map[leaf]share{}
	for i, a := range t.areas {
		key := leaf{a.Parent, a.Class, a.Possible}
		out, ok := known[key]
		if !ok || len(t.childrenOf(i)) > 0 {
			out = s.spread(i)
		}
		if s.shares[i] = out; len(t.childrenOf(i)) == 0 {
			known[key] = out
		}
	}
	return s
}

// gather works out what the children of an area say of it, and adds that to its own answers.
func (s *Spread) gather(area int) {
	t := s.tree
	s.ties[area] = make([]tied, t.components)
	for c := range s.ties[area] {
		s.ties[area][c] = s.tie(area, c)
	}
	if s.method != LeastSquares {
		return
	}
	s.up[area] = make([]gaussian, t.components)
	for c, tie := range s.ties[area] {
		p := t.ownPrecision(t.areas[area].Class, s.kinds[area], c)
		for i, x := range tie.precision.at {
			p.at[i] += x
		}
		s.up[area][c] = known(p)
	}
}

// tie puts together what the children of an area say of their sum.
//
// Each child has the covariance G + t·N·Nᵀ, where N are the vectors along which nothing is known of it and t is without
// bound. With U what these span, W all else, m = Uᵀ(ΣN·Nᵀ)U and F = ΣG, the inverse of the sum's covariance is
// W(WᵀFW)⁻¹Wᵀ + L(m⁻¹/t − m⁻¹g·m⁻¹/t²)Lᵀ and smaller, with L = U − W(WᵀFW)⁻¹WᵀFU and g = LᵀFL. Argument:
// docs/proofs/tree.md.
func (s *Spread) tie(area, component int) tied {
	n := len(s.kinds[area])
	sum := newSymmetric(n)
	var unknown [][]float64
	for _, child := range s.tree.childrenOf(area) {
		at := s.placesIn(area, int(child))
		said := s.up[child][component]
		sum.add(said.covariance, at)
		for _, v := range said.unknown {
			unknown = append(unknown, embed(v, at, n))
		}
	}
	if unknown == nil {
		precision, _ := sum.invert()
		return tied{precision: precision}
	}
	spanned, rest := orthonormal(n, unknown)
	inner, _ := quadratic(sum, rest).invert()
	out := tied{precision: sandwich(rest, inner, n), spanned: spanned}
	m := newSymmetric(len(spanned))
	for _, v := range unknown {
		for i, u := range spanned {
			for j, w := range spanned {
				m.at[i*m.n+j] += float64(dot(u, v) * dot(w, v))
			}
		}
	}
	out.unknownInverse, _ = m.invert()
	for _, u := range spanned {
		l := append([]float64(nil), u...)
		for i, x := range out.precision.times(sum.times(u)) {
			l[i] -= x
		}
		out.lifted = append(out.lifted, l)
	}
	out.leaning = quadratic(sum, out.lifted)
	return out
}

// follow returns how a child follows its parent: the matrix A by which a deviation of the parent from the sum of its
// children adds to the child (a row for each kind of the child, a column for each of the parent), and the covariance of
// the child when the parent is known.
func (s *Spread) follow(area, child, component int) (follows [][]float64, left gaussian) {
	at, n := s.placesIn(area, child), len(s.kinds[area])
	said, tie := s.up[child][component], s.ties[area][component]
	k := len(at)
	follows = make([][]float64, k)
	left = gaussian{covariance: said.covariance.clone()}
	rows := make([][]float64, k)
	for i := range k {
		rows[i] = embed(said.covariance.at[i*k:(i+1)*k], at, n)
		follows[i] = tie.precision.times(rows[i])
	}
	for i := range k {
		for j := range k {
			left.covariance.at[i*k+j] -= dot(follows[i], rows[j])
		}
	}
	if len(said.unknown) == 0 {
		return follows, left
	}
	// n = NᵀU and G·L of the derivation of tie.
	u := len(tie.spanned)
	along := make([][]float64, len(said.unknown))
	for i, v := range said.unknown {
		along[i] = make([]float64, u)
		for j, w := range tie.spanned {
			along[i][j] = dot(embed(v, at, n), w)
		}
	}
	leaning := make([][]float64, k) // G·L
	pulled := make([][]float64, k)  // N·n·m⁻¹
	for i := range k {
		leaning[i], pulled[i] = make([]float64, u), make([]float64, u)
		for j, l := range tie.lifted {
			leaning[i][j] = dot(rows[i], l)
		}
		for v, unknown := range said.unknown {
			for j, x := range tie.unknownInverse.times(along[v]) {
				pulled[i][j] += float64(unknown[i] * x)
			}
		}
		for j, l := range tie.lifted {
			for x := range n {
				follows[i][x] += float64(pulled[i][j] * l[x])
			}
		}
	}
	for i := range k {
		pulledBy := tie.leaning.times(pulled[i])
		for j := range k {
			left.covariance.at[i*k+j] += dot(pulledBy, pulled[j]) - dot(leaning[i], pulled[j]) -
				dot(pulled[i], leaning[j])
		}
	}
	// N(1 − n·m⁻¹·nᵀ) is what remains unknown.
	for v, unknown := range said.unknown {
		w := append([]float64(nil), unknown...)
		for j := range u {
			for i := range k {
				w[i] -= float64(pulled[i][j] * along[v][j])
			}
		}
		left.unknown = append(left.unknown, w)
	}
	left.unknown, _ = orthonormal(k, significant(left.unknown))
	return follows, left
}

// significant returns the vectors that are not zero but for rounding.
func significant(of [][]float64) [][]float64 {
	return slices.DeleteFunc(of, func(v []float64) bool { return math.Sqrt(dot(v, v)) < 1e-8 })
}

// spread works out the covariance of an area's estimate from its parent's.
func (s *Spread) spread(area int) share {
	parent := s.tree.areas[area].Parent
	if parent < 0 || s.method == OwnAnswers {
		return share{post: s.up[area]}
	}
	var out share
	for c := range s.tree.components {
		follows, left := s.follow(parent, area, c)
		above := s.shares[parent].post[c]
		k := len(follows)
		for i, row := range follows {
			v := above.covariance.times(row)
			for j := range k {
				left.covariance.at[i*k+j] += dot(v, follows[j])
			}
		}
		for _, u := range above.unknown {
			w := make([]float64, k)
			for i, row := range follows {
				w[i] = dot(row, u)
			}
			left.unknown = append(left.unknown, w)
		}
		left.unknown, _ = orthonormal(k, significant(left.unknown))
		out.follows, out.post = append(out.follows, follows), append(out.post, left)
	}
	return out
}

// placesIn returns where the kinds of a child are among those of an area.
func (s *Spread) placesIn(area, child int) []int {
	at := make([]int, 0, len(s.kinds[child]))
	j := 0
	for _, k := range s.kinds[child] {
		for s.kinds[area][j] != k {
			j++
		}
		at = append(at, j)
	}
	return at
}

// embed returns a vector of n entries with those of v at some places, and zeros.
func embed(v []float64, at []int, n int) []float64 {
	out := make([]float64, n)
	for i, a := range at {
		out[a] = v[i]
	}
	return out
}

// quadratic returns VᵀSV for the columns of V.
func quadratic(s symmetric, columns [][]float64) symmetric {
	out := newSymmetric(len(columns))
	for i, u := range columns {
		v := s.times(u)
		for j, w := range columns {
			out.at[i*out.n+j] = dot(v, w)
		}
	}
	return out
}

// sandwich returns V·S·Vᵀ for the columns of V, of n entries.
func sandwich(columns [][]float64, s symmetric, n int) symmetric {
	out := newSymmetric(n)
	for i, u := range columns {
		for j, v := range columns {
			x := s.at[i*s.n+j]
			for a := range n {
				for b := range n {
					out.at[a*n+b] += float64(float64(u[a]*x) * v[b])
				}
			}
		}
	}
	return out
}

// Part says which categories of an attribute a figure adds up.
type Part struct {
	Share float64 // the square of the sum of its weights, divided by the number of categories
	Rest  float64 // the sum of the squares of its weights, less Share
}

// Whole returns the part of all n categories.
func Whole(n int) Part { return Part{Share: float64(n)} }

// Category returns the part of one of n categories.
func Category(n int) Part { return Part{Share: 1 / float64(n), Rest: 1 - 1/float64(n)} }

// Variance returns the variance of a figure of an area: a weight for each kind, and for each attribute what the figure
// adds up. It returns +Inf if the answers do not determine it.
func (s *Spread) Variance(area int, kinds []float64, parts []Part) (float64, error) {
	if len(kinds) != s.tree.cells.Kinds || len(parts) != len(s.tree.cells.Attributes) {
		return 0, fmt.Errorf("expected a weight for each of %d kinds, and %d attributes", s.tree.cells.Kinds,
			len(s.tree.cells.Attributes))
	}
	w := make([]float64, len(s.kinds[area]))
	for i, k := range s.kinds[area] {
		w[i] = kinds[k]
	}
	var sum float64
	for c, post := range s.shares[area].post {
		factor := factorOf(parts, c)
		if factor == 0 {
			continue
		}
		for _, u := range post.unknown {
			if math.Abs(dot(u, w)) > 1e-7*math.Sqrt(dot(w, w)) {
				return math.Inf(1), nil
			}
		}
		sum += float64(factor * dot(post.covariance.times(w), w))
	}
	return sum, nil
}

// factorOf returns the part of a figure's variance that one component has of its covariance.
func factorOf(parts []Part, component int) float64 {
	factor := 1.0
	for i, p := range parts {
		if component>>i&1 == 0 {
			factor *= p.Share
		} else {
			factor *= p.Rest
		}
	}
	return factor
}
