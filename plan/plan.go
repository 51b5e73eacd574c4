package plan

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/canonical"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/spec"
)

// Format names the layout of plan.json.
const Format = "dprelease.plan/3"

// readBy names the versions that read plans of earlier formats.
var readBy = map[string]string{"dprelease.plan/2": "dprelease 0.2.0"}

// Plan is everything that a release will ask and publish, fixed before any confidential byte is read. Its canonical
// bytes are plan.json; their SHA-256 is the plan hash that debits, noise and published files are bound to.
type Plan struct {
	Format    string      `json:"format"`
	Name      string      `json:"release"`
	Corrects  string      `json:"corrects,omitempty"` // an earlier release of the same account
	Resume    spec.Resume `json:"resume,omitempty"`   // spec.Never: a run cut off after its debit loses the release
	Guarantee Guarantee   `json:"guarantee"`
	Cost      budget.Cost `json:"cost"` // what the account is debited
	Sample    Sample      `json:"sample,omitzero"`
	Leaves    []Leaf      `json:"leaves"`
	// how columns are measured along which tables count up, or are asked for ranges
	Sums       strategy.Summing `json:"sums,omitempty"`
	Strategies []strategy.Group `json:"strategies"`
	// what a budget of ε and δ would give with another law of noise
	OtherNoise   []strategy.OtherNoise `json:"other_noise,omitempty"`
	Tables       []Table               `json:"tables"`
	Measurements []Measurement         `json:"measurements"`
	Synthetic    []Synthetic           `json:"synthetic,omitempty"`
	Models       []Model               `json:"models,omitempty"`
	// regressions that are made of the tables, and cost nothing
	TableModels []Model     `json:"table_models,omitempty"`
	Invariants  []Invariant `json:"invariants,omitempty"` // public figures that published counts keep to
	// how published counts are made to add up, where the spec asks
	Consistent []Consistency `json:"integers,omitempty"`
	Size       Size          `json:"size"`
	Source     spec.Source   `json:"source"`

	release *spec.Release
}

// NewEmpty returns the plan of a release before anything is planned, with what comes from the release itself.
func NewEmpty(r *spec.Release) *Plan { return (&Plan{Format: Format}).WithRelease(r) }

// WithRelease returns a copy of the plan for another release: with its names and its source, and everything else
// unchanged.
func (p *Plan) WithRelease(r *spec.Release) *Plan {
	out := *p
	out.Name, out.Corrects, out.Resume, out.Source, out.release = r.Name, r.Corrects, r.Privacy.Resume, r.Source, r
	return &out
}

// WithWords returns a copy of the plan with these words, nil for none, and everything else unchanged: neither its bytes
// nor its hash depend on them. It returns an error for words of another release.
func (p *Plan) WithWords(w *spec.Words) (*Plan, error) {
	r, err := p.release.WithWords(w)
	if err != nil {
		return nil, err
	}
	out := *p
	out.release = r
	return &out, nil
}

// ErrNoWords is the error for a plan without the file of its words, where they are needed.
var ErrNoWords = errors.New(
	"the words of the plan are missing: NAME.words.json belongs next to NAME.plan.json, and `dprelease plan SPEC` " +
		"writes both")

// Size says what measuring requires: the cells of all published tables, for a sparse one as many as rows are expected
// (2^20 if that is not stated), and the bytes of all counts, with the memory of the rounds of microdata
// (adaptive.Memory). A machine adds its buffers to that.
type Size struct {
	Cells int64 `json:"cells"`
	Bytes int64 `json:"bytes"`
}

// BytesPerCell is the memory of a cell while it is measured: an exact count and
// its noisy integer.
const BytesPerCell = 16

// BytesPerText is the memory of a report of a text that nobody lists: kept by a worker, with room to grow, and put
// together.
const BytesPerText = 24

// Release returns the validated spec that the plan was made from.
func (p *Plan) Release() *spec.Release { return p.release }

// Measurement returns a measurement by its ID.
func (p *Plan) Measurement(id string) (Measurement, bool) {
	for _, m := range p.Measurements {
		if m.ID == id {
			return m, true
		}
	}
	return Measurement{}, false
}

// Bytes returns the canonical plan.json: indented JSON in declared field order, with a closing newline.
func (p *Plan) Bytes() []byte { return canonical.Must(canonical.Indented(p)) }

// Hash returns the plan hash: SHA-256 of [Plan.Bytes], in hexadecimal.
func (p *Plan) Hash() string {
	return HashOf(p.Bytes())
}

// SpecHash returns the SHA-256 of the spec's text, in hexadecimal.
func (p *Plan) SpecHash() string {
	return HashOf([]byte(p.Source.Text))
}

// ErrEdited is wrapped by the errors for a plan that is not as the planner made it.
var ErrEdited = errors.New("the plan was edited")

// Read decodes a plan.json. It returns an error for bytes that are no plan of this format and for an embedded spec that
// does not parse. The plan has no words. It checks neither that they are canonical, nor that the plan's parts fit
// together, nor that the planner would make this plan.
func Read(b []byte) (*Plan, error) {
	var form struct {
		Format string `json:"format"`
	}
	err := json.Unmarshal(b, &form)
	if err == nil && form.Format != "" && form.Format != Format {
		return nil, fmt.Errorf("the plan's format is %q, expected %q: use %s or, where nothing was measured by it, "+
			"make the plan again with `dprelease plan`",
			form.Format, Format, cmp.Or(readBy[form.Format], "the version of dprelease that made it"))
	}
	var p Plan
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return nil, fmt.Errorf("not a plan this version can read: %w", err)
	}
	if p.Format == "" {
		return nil, errors.New("not a plan this version can read: it does not name its format")
	}
	if err := p.checkComplete(); err != nil {
		return nil, fmt.Errorf("%w after it was made (%w): make it again with `dprelease plan`", ErrEdited, err)
	}
	if p.release, err = spec.Parse(p.Source); err != nil {
		return nil, fmt.Errorf("the spec inside the plan: %w", err)
	}
	return p.WithWords(nil)
}

// checkComplete returns an error unless every selection of a plan that was read can be run and every mechanism is
// valid, as others could not be written; unless a table's facts name at most one selection, and every unit of a
// statistic is a positive fraction.
func (p *Plan) checkComplete() error {
	for _, m := range p.Measurements { // before its mechanisms are listed
		if err := m.Selection.Check(); err != nil {
			return fmt.Errorf("measurement %s: %w", m.ID, err)
		}
	}
	for _, m := range p.Models { // likewise
		if err := m.checkRounds(); err != nil {
			return err
		}
	}
	steps := p.Mechanisms()
	for _, s := range p.Synthetic {
		if s.Adaptive() {
			steps = append(steps, s.Select, s.Noise)
		}
	}
	for _, m := range steps {
		if err := m.Validate(); err != nil {
			return err
		}
	}
	for _, t := range p.Tables {
		if !t.selectsOnce() {
			return fmt.Errorf("table %s has the facts of several selections", t.Path)
		}
		for _, s := range t.Statistics {
			if unit := Amount(s.Unit); s.Unit != "" && (unit == nil || unit.Sign() <= 0) {
				return fmt.Errorf("table %s: its unit %q is no positive fraction", t.Path, s.Unit)
			}
		}
	}
	return nil
}

// HashOf returns a SHA-256 in hexadecimal.
func HashOf(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}
