package evaluate

// This file evaluates models and, as --predict asks, what can be learned from microdata: how well a column of the true
// rows is predicted from others.

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/histogram/evaluate"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/boosting"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
	"github.com/dprelease/dprelease/synth/model"
)

// predictionClaim is a prediction that is tested: that of a model of the release, or one that --predict asks for.
type predictionClaim struct {
	model   plan.Model // without a name if --predict asks for it
	class   string     // the category whose probability is predicted; "" for a number
	without []string   // columns of the microdata that are left out
}

// predictionTruth is how well a column of the true rows is predicted.
type predictionTruth struct {
	Model  string `json:"model,omitempty"` // of the release
	Table  string `json:"table"`
	Method string `json:"method"`
	Target string `json:"target"`
	Class  string `json:"class,omitempty"`
	// By are the columns that the target is predicted from, and LeftOut those with which rows do not fit into 63 bits.
	By        []string `json:"by"`
	LeftOut   []string `json:"without,omitempty"`
	Rows      int64    `json:"rows"`
	ClassRows *int64   `json:"class_rows,omitempty"`
	// rows are not predicted, as they do not fit into memory
	TooLarge  bool              `json:"rows_too_many,omitempty"`
	Published *performanceTruth `json:"published,omitempty"`
	Microdata *performanceTruth `json:"microdata,omitempty"`
	SameRows  *performanceTruth `json:"ceiling_on_same_rows,omitempty"`
	Ceiling   *performanceTruth `json:"ceiling,omitempty"`
}

// performanceTruth is how well a model predicts the true rows: a class, or a number.
type performanceTruth struct {
	AUC      *float64 `json:"auc,omitempty"`
	Accuracy *float64 `json:"accuracy,omitempty"`
	LogLoss  *float64 `json:"log_loss,omitempty"`
	RSquared *float64 `json:"r_squared,omitempty"`
	RMSE     *float64 `json:"rmse,omitempty"`
}

// predictionsOf returns the predictions that are tested: first those of the models of a release, then those that are
// asked for. drawn are its microdata, in the order of the plan.
func predictionsOf(e *published.Release, drawn []evaluate.Rows, asked []string) (claims []evaluate.Prediction,
	all []predictionClaim, err error) {
	add := func(p predictionClaim, read evaluate.Predictor) {
		claims = append(claims, evaluate.Prediction{Model: p.model, Published: read,
			Microdata: microdataFor(e, drawn, p.model)})
		all = append(all, p)
	}
	for _, m := range e.Plan.AllModels() {
		read, err := readPredictor(e, m)
		if err != nil {
			return nil, nil, err
		}
		p := predictionClaim{model: m}
		if m.Class >= 0 {
			levels, err := plan.Query{Table: m.Table, Factors: []plan.Factor{m.Target}}.Levels(e.Plan.Release())
			if err != nil {
				return nil, nil, err
			}
			p.class = levels[0].Categories[m.Class].Code
		}
		add(p, read)
	}
	for _, text := range asked {
		p, err := parsePrediction(e.Plan.Plan(), text)
		if err == nil && slices.ContainsFunc(all[len(e.Plan.AllModels()):], func(other predictionClaim) bool {
			return other.model.Table == p.model.Table && other.model.Target == p.model.Target && other.class == p.class
		}) {
			err = errPredictedTwice
		}
		if err == nil {
			err = evaluate.Prediction{Model: p.model}.Check(e.Plan.Plan())
		}
		if err != nil {
			return nil, nil, &verdict.Unusable{File: "--predict " + text, Err: err}
		}
		add(p, nil)
	}
	return claims, all, nil
}

// Reasons for which --predict is refused.
var (
	errPredictedTwice = errors.New("it is asked for twice: leave one of them out")
	errNoMicrodata    = errors.New(
		"the release has no microdata to learn from: leave it out; models of a release are tested without it")
)

// readPredictor reads a model of a release.
func readPredictor(e *published.Release, m plan.Model) (evaluate.Predictor, error) {
	b, err := e.Read(m.File())
	if err != nil {
		return nil, err
	}
	read, err := model.Read(b)
	var out evaluate.Predictor
	if err == nil {
		out, err = evaluate.NewPredictor(e.Plan.Plan(), m, read)
	}
	if err != nil {
		return nil, &verdict.Unusable{File: filepath.Join(e.NamedPath, m.File()), Err: err}
	}
	return out, nil
}

// microdataFor returns the microdata in the columns of a model, and nil if none have them all. A column of the
// microdata may be finer than the model's.
func microdataFor(e *published.Release, drawn []evaluate.Rows, m plan.Model) [][]uint32 {
	at := slices.IndexFunc(e.Plan.Synthetic, func(s plan.Synthetic) bool { return s.Table == m.Table })
	if at < 0 {
		return nil
	}
	var all [][]uint32
	for _, f := range m.Columns() {
		from, of, err := e.Plan.Synthetic[at].OriginOf(e.Plan.Release().Table(m.Table), f)
		if err != nil {
			return nil
		}
		codes := make([]uint32, len(drawn[at].Codes[from]))
		for row, code := range drawn[at].Codes[from] {
			codes[row] = uint32(of[code])
		}
		all = append(all, codes)
	}
	return all
}

// parsePrediction parses what --predict asks for: [TABLE=]COLUMN for a number, or [TABLE=]COLUMN=CATEGORY. The column
// is predicted from all others of the microdata with which the possible rows can be numbered in 63 bits.
func parsePrediction(p *plan.Plan, text string) (predictionClaim, error) {
	var out predictionClaim
	s, column, category, named, err := splitPrediction(p, text)
	if err != nil {
		return out, err
	}
	names := make([]string, len(s.By))
	for i, f := range s.By {
		names[i] = f.String()
	}
	target := slices.Index(names, column)
	if target < 0 {
		return out, published.NoSuch("column of the microdata of "+s.Table, column, names)
	}
	levels, err := plan.Query{Table: s.Table, Factors: s.By}.Levels(p.Release())
	if err != nil {
		return out, err
	}
	m := plan.Model{Table: s.Table, Method: spec.AdditiveModel, Target: s.By[target], Class: -1}
	if named {
		m.Class, err = classOf(m.Target, levels[target], category)
	} else {
		err = checkNumber(p, m, levels[target])
	}
	if err != nil {
		return out, err
	}
	out.class = category
	if n := levels[target].Size(); n < 2 || n > boosting.MostCategories {
		return out, fmt.Errorf("%s has %d categories: name a column of 2 to %d", column, n, boosting.MostCategories)
	}
	m.By, out.without = predictorsOf(s, target, levels)
	if len(m.By) == 0 {
		return out, fmt.Errorf("the microdata of %s have no column that %s could be predicted from", s.Table, column)
	}
	out.model = m
	return out, nil
}

// splitPrediction splits what --predict asks for into microdata, column and category. named reports whether it names a
// category.
func splitPrediction(p *plan.Plan, text string) (s plan.Synthetic, column, category string, named bool, err error) {
	var tables []string
	for _, s := range p.Synthetic {
		tables = append(tables, s.Table)
	}
	if len(tables) == 0 {
		return s, "", "", false, errNoMicrodata
	}
	s = p.Synthetic[0]
	column, category, named = strings.Cut(text, "=")
	at := slices.Index(tables, column)
	isColumn := slices.ContainsFunc(s.By, func(f plan.Factor) bool { return f.String() == column })
	switch {
	case at >= 0 && named && (len(tables) > 1 || !isColumn):
		s = p.Synthetic[at]
		column, category, named = strings.Cut(category, "=")
	case len(tables) > 1:
		return s, "", "", false, fmt.Errorf("the release has microdata of several tables (%s): write --predict %s=%s",
			strings.Join(tables, ", "), tables[0], text)
	}
	return s, column, category, named, nil
}

// classOf returns the index of a category of a target.
func classOf(target plan.Factor, l *domain.Level, category string) (int, error) {
	codes := make([]string, l.Size())
	for i, c := range l.Categories {
		codes[i] = c.Code
	}
	at := slices.Index(codes, category)
	if at < 0 {
		return -1, published.NoSuch("category of "+target.String(), category, codes)
	}
	return at, nil
}

// checkNumber returns an error unless the target of a model is a number: all its categories are.
func checkNumber(p *plan.Plan, m plan.Model, l *domain.Level) error {
	c := p.Release().Table(m.Table).Column(m.Target.Attribute)
	isNumber := c.Type == domain.Integer || c.Type == domain.Decimal
	if isNumber && m.Target.Level == "" && c.Domain.Ranged() && c.Domain.Declared() == l.Size() {
		if _, err := p.Outcomes(m); err == nil {
			return nil
		}
	}
	return fmt.Errorf(
		"the categories of %[1]s are not all numbers: name the one whose probability is predicted, such as %[1]s=%[2]s",
		m.Target, l.Categories[0].Code)
}

// predictorsOf returns the columns of microdata that a target is predicted from, and those that are left out: a level
// of the target's own column, columns with more categories than a model can have, and columns with which the possible
// rows cannot be numbered in 63 bits. The choice depends on the plan alone.
func predictorsOf(s plan.Synthetic, target int, levels []*domain.Level) (by []plan.Factor, without []string) {
	places, cells := []int{target}, []int64{int64(levels[target].Size())}
	for i, f := range s.By {
		if f.Attribute != s.By[target].Attribute && levels[i].Size() <= boosting.MostCategories {
			places, cells = append(places, i), append(cells, int64(levels[i].Size()))
		}
	}
	chosen := map[int]bool{}
	for _, i := range wholeColumns(cells) {
		chosen[places[i]] = true
	}
	for i, f := range s.By {
		switch {
		case i == target:
		case chosen[i] && len(by) < boosting.MostColumns:
			by = append(by, f)
		default:
			without = append(without, f.String())
		}
	}
	return by, without
}

// truthOf returns how well the column is predicted.
func (p predictionClaim) truthOf(found *evaluate.Predicted) predictionTruth {
	out := predictionTruth{Model: p.model.Name, Table: p.model.Table, Method: string(p.model.Method),
		Target: p.model.Target.String(), Class: p.class, LeftOut: p.without, Rows: found.Rows, TooLarge: found.TooLarge,
		Published: performanceOf(found.Published), Microdata: performanceOf(found.Microdata),
		SameRows: performanceOf(found.SameRows), Ceiling: performanceOf(found.Ceiling)}
	for _, f := range p.model.By {
		out.By = append(out.By, f.String())
	}
	if p.model.Class >= 0 && !found.TooLarge {
		out.ClassRows = &found.Class
	}
	return out
}

// performanceOf returns the figures of a performance that exist, and nil for none.
func performanceOf(p *evaluate.Performance) *performanceTruth {
	if p == nil {
		return nil
	}
	return &performanceTruth{
		AUC:      finiteOrNil(p.AUC),
		Accuracy: finiteOrNil(p.Accuracy),
		LogLoss:  finiteOrNil(p.LogLoss),
		RSquared: finiteOrNil(p.RSquared),
		RMSE:     finiteOrNil(p.RMSE),
	}
}

// tested is a model of a prediction with its name on the page.
type tested struct {
	Name string
	*performanceTruth
}

// Tested returns the models of a prediction that were tested, in the order of the page.
func (p predictionTruth) Tested() (all []tested) {
	for _, one := range []tested{{"the true rows, with the noise of the release", p.Published},
		{"the microdata", p.Microdata}, {"the true rows, without noise", p.SameRows},
		{"half of the true rows, without noise, and tested on the other half", p.Ceiling}} {
		if one.performanceTruth != nil {
			all = append(all, one)
		}
	}
	return all
}

// MoreFrequent returns the accuracy of calling every row what most rows are.
func (p predictionTruth) MoreFrequent() *float64 {
	if p.ClassRows == nil || p.Rows == 0 {
		return nil
	}
	share := float64(*p.ClassRows) / float64(p.Rows)
	share = max(share, 1-share)
	return &share
}
