package evaluate

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/histogram/evaluate"
)

// This file evaluates microdata: their marginals, columns, pairs of columns and whole rows are compared with the truth,
// and the rules of the spec that they break are counted.

// farthestShown is how many marginals of a size, and pairs of columns, the page lists at most.
const farthestShown = 5

// microdataTruth is the error of microdata against the truth.
type microdataTruth struct {
	Table    string           `json:"table"`
	Rows     int64            `json:"rows"`      // drawn
	TrueRows int64            `json:"true_rows"` // counted
	Sizes    []marginalsTruth `json:"marginals"`
	// Columns are the single columns, and Pairs the pairs of columns, ordered by falling distance from the truth, of
	// pairs that of their association.
	Columns []columnTruth `json:"univariate"`
	Pairs   []pairTruth   `json:"pairwise"`
	// MeanGaps are the mean differences over the pairs, by measure.
	MeanGaps   []gapTruth       `json:"pairwise_mean,omitempty"`
	Propensity *propensityTruth `json:"propensity,omitempty"`
	Unique     *uniqueTruth     `json:"unique_matches,omitempty"`
	// Whole are the columns by which whole rows are compared, and LeftOut the columns that do not fit into 63 bits.
	Whole   []string `json:"whole_rows_by"`
	LeftOut []string `json:"whole_rows_without,omitempty"`
	// whole rows are not compared, as they do not fit into memory
	TooLarge bool        `json:"whole_rows_too_many,omitempty"`
	Rules    []ruleTruth `json:"rules"`
}

// marginalsTruth is the mean error of the compared marginals of one size, between shares.
type marginalsTruth struct {
	Columns  int64   `json:"columns"`
	Of       float64 `json:"of"` // how many marginals of this size there are
	Compared int     `json:"compared"`
	TooLarge int     `json:"too_large"` // left out because of their number of cells
	*SharesTruth
	Parts     []partTruth     `json:"random_parts,omitempty"`
	Farthest  []marginalTruth `json:"farthest"`
	distances []evaluate.Distance
}

// SharesTruth is the distance of shares from those of the truth. It does not exist if no row was drawn or the truth
// has no rows, because there are no shares then.
type SharesTruth struct {
	L1       float64 `json:"l1"`
	TVD      float64 `json:"total_variation_distance"`
	Score    float64 `json:"k_marginal_score"` // 500·(2 − L1)
	PartFrom float64 `json:"random_part_from"` // a random part of the true rows of this size scores at most as much,
	PartTo   float64 `json:"random_part_to"`   // and one of this size at least as much
}

// partTruth is the mean distance of a simple random sample that is this part of the true rows.
type partTruth struct {
	Part  float64 `json:"part"`
	L1    float64 `json:"l1"`
	Score float64 `json:"k_marginal_score"`
}

// marginalTruth is the distance of one marginal from the truth.
type marginalTruth struct {
	Columns []string `json:"columns"`
	L1      float64  `json:"l1"`
}

// columnTruth is the distance of a column from the truth.
type columnTruth struct {
	Column string  `json:"column"`
	L1     float64 `json:"l1"`
	TVD    float64 `json:"total_variation_distance"`
}

// pairTruth is the association of two columns. A column with a single category has none.
type pairTruth struct {
	Columns []string `json:"columns"`
	Measure string   `json:"measure"`
	Truth   *float64 `json:"truth,omitempty"`
	Drawn   *float64 `json:"microdata,omitempty"`
	Gap     *float64 `json:"difference,omitempty"` // |microdata − truth|
}

// gapTruth is the mean difference over the pairs of a measure.
type gapTruth struct {
	Measure string  `json:"measure"`
	Pairs   int64   `json:"pairs"`
	Mean    float64 `json:"mean_absolute_difference"`
}

// propensityTruth tells how well a classification tree distinguishes rows of the microdata from true ones.
type propensityTruth struct {
	TrueRows     int64    `json:"true_rows"`
	DrawnRows    int64    `json:"microdata_rows"`
	Leaves       int64    `json:"leaves"`
	PMSE         float64  `json:"pmse"`
	Most         float64  `json:"pmse_most"` // c(1 − c)
	Null         float64  `json:"pmse_null"`
	NullError    float64  `json:"pmse_null_standard_deviation"`
	NullTrees    int64    `json:"permutations"`
	Ratio        *float64 `json:"pmse_ratio,omitempty"`        // pmse/null
	Standardised *float64 `json:"pmse_standardised,omitempty"` // (pmse − null)/its standard deviation
}

// uniqueTruth counts the unique rows of the truth that occur in the microdata.
type uniqueTruth struct {
	Unique      int64   `json:"unique_in_truth"`
	Matched     int64   `json:"met_in_microdata"`
	Independent float64 `json:"met_by_independent_columns"` // on average
}

// ruleTruth is how many rows of the microdata break a rule of the spec.
type ruleTruth struct {
	Rule       string `json:"rule"`
	Rows       int64  `json:"rows"`
	WhyUnknown string `json:"untold,omitempty"` // why the number is unknown; then rows is 0
}

// wholeColumns returns the indices of the columns by which whole rows are compared. It takes each column in turn if
// all possible rows can then still be numbered in 63 bits. The choice depends on the plan alone.
func wholeColumns(cells []int64) (places []int) {
	all := uint64(1)
	for place, size := range cells {
		if high, low := bits.Mul64(all, uint64(size)); high == 0 && low <= math.MaxInt64 {
			all, places = low, append(places, place)
		}
	}
	return places
}

// compareMicrodata returns the error of the microdata against the truth.
func (p microdataClaim) compareMicrodata(all []evaluate.Distance, whole *evaluate.Joint) microdataTruth {
	out := microdataTruth{Table: p.table, Rows: int64(p.rows), Columns: []columnTruth{}, Pairs: []pairTruth{},
		Whole: []string{}, Rules: p.rules}
	for k, m := range p.sizes {
		one := marginalsTruth{Columns: int64(k) + 1, Of: m.total, Compared: len(m.chosen), TooLarge: m.skipped,
			Farthest: []marginalTruth{}}
		one.distances, all = all[:len(m.chosen)], all[len(m.chosen):]
		if len(one.distances) == 0 {
			continue
		}
		out.TrueRows = one.distances[0].Rows
		if out.Rows == 0 || out.TrueRows == 0 {
			out.Sizes = append(out.Sizes, one)
			continue
		}
		one.averageDistances()
		for i, d := range one.distances {
			far := marginalTruth{L1: d.L1}
			for _, place := range m.chosen[i] {
				far.Columns = append(far.Columns, p.by[place])
			}
			one.Farthest = append(one.Farthest, far)
			if k == 0 {
				out.Columns = append(out.Columns, columnTruth{far.Columns[0], d.L1, d.L1 / 2})
			}
			if a := d.Association; a != nil {
				out.Pairs = append(out.Pairs, pairTruth{far.Columns, a.Measure, finiteOrNil(a.Truth),
					finiteOrNil(a.Drawn),
					finiteOrNil(math.Abs(a.Drawn - a.Truth))})
			}
		}
		slices.SortStableFunc(one.Farthest, func(a, b marginalTruth) int { return cmp.Compare(b.L1, a.L1) })
		one.Farthest = one.Farthest[:min(len(one.Farthest), farthestShown)]
		out.Sizes = append(out.Sizes, one)
	}
	slices.SortStableFunc(out.Columns, func(a, b columnTruth) int { return cmp.Compare(b.TVD, a.TVD) })
	out.averageGaps()
	out.addWholeRows(p, whole)
	return out
}

// finiteOrNil returns a pointer to x, nil for NaN.
func finiteOrNil(x float64) *float64 {
	if math.IsNaN(x) {
		return nil
	}
	return &x
}

// averageGaps sorts the pairs and computes their mean differences.
func (m *microdataTruth) averageGaps() {
	gap := func(p pairTruth) float64 {
		if p.Gap == nil {
			return -1
		}
		return *p.Gap
	}
	slices.SortStableFunc(m.Pairs, func(a, b pairTruth) int { return cmp.Compare(gap(b), gap(a)) })
	for _, measure := range []string{evaluate.CramersV, evaluate.KendallTauB} {
		one := gapTruth{Measure: measure}
		for _, p := range m.Pairs {
			if p.Measure == measure && p.Gap != nil {
				one.Pairs++
				one.Mean += *p.Gap
			}
		}
		if one.Pairs > 0 {
			one.Mean /= float64(one.Pairs)
			m.MeanGaps = append(m.MeanGaps, one)
		}
	}
}

// addWholeRows adds the results of comparing whole rows.
func (m *microdataTruth) addWholeRows(p microdataClaim, j *evaluate.Joint) {
	for place, name := range p.by {
		if slices.Contains(p.wholeRows, place) {
			m.Whole = append(m.Whole, name)
		} else {
			m.LeftOut = append(m.LeftOut, name)
		}
	}
	switch {
	case j == nil:
		return
	case j.TooLarge:
		m.TooLarge = true
		return
	}
	m.Unique = &uniqueTruth{j.Unique, j.Matched, j.Independent}
	s := j.Propensity
	if s == nil {
		return
	}
	c := float64(s.DrawnRows) / float64(s.DrawnRows+s.TrueRows)
	m.Propensity = &propensityTruth{TrueRows: int64(s.TrueRows), DrawnRows: int64(s.DrawnRows), Leaves: int64(s.Leaves),
		PMSE: s.PMSE, Most: c * (1 - c), Null: s.Null, NullError: s.NullError, NullTrees: int64(s.NullTrees)}
	if s.Null > 0 {
		ratio := s.PMSE / s.Null
		m.Propensity.Ratio = &ratio
	}
	if s.NullError > 0 {
		standardised := (s.PMSE - s.Null) / s.NullError
		m.Propensity.Standardised = &standardised
	}
}

// averageDistances computes the means over the marginals, and between which random parts of the true rows they lie.
func (m *marginalsTruth) averageDistances() {
	m.SharesTruth = &SharesTruth{PartTo: 1}
	n := float64(len(m.distances))
	parts := make([]float64, len(evaluate.SubsampleShares))
	for _, d := range m.distances {
		m.L1 += d.L1 / n
		for i, l1 := range d.Subsample {
			parts[i] += l1 / n
		}
	}
	m.TVD, m.Score = m.L1/2, kMarginalScore(m.L1)
	for i, share := range evaluate.SubsampleShares {
		m.Parts = append(m.Parts, partTruth{share, parts[i], kMarginalScore(parts[i])})
		if parts[i] >= m.L1 {
			m.PartFrom = share
		} else {
			m.PartTo = min(m.PartTo, share)
		}
	}
}

// kMarginalScore returns the k-marginal score of a mean distance.
func kMarginalScore(l1 float64) float64 { return 500 * (2 - l1) }

// FarthestPairs returns the pairs of columns whose association differs most from the truth.
func (m microdataTruth) FarthestPairs() []pairTruth {
	return m.Pairs[:min(len(m.Pairs), 2*farthestShown)]
}

// Like returns between which random parts of the truth the marginals lie.
func (m SharesTruth) Like() string {
	switch {
	case m.PartFrom == 0:
		return "less than " + budget.Percent(m.PartTo)
	case m.PartTo == 1:
		return "more than " + budget.Percent(m.PartFrom)
	}
	return budget.Percent(m.PartFrom) + " to " + budget.Percent(m.PartTo)
}
