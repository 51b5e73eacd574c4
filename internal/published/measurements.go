package published

import (
	"errors"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
)

// This file reads the measurements of a published release.

// Answers reads the answers to measurements of the release, in their order. Errors: *[Altered].
func (e *Release) Answers(measurements []plan.Measurement) ([]measured.Measured, error) {
	out := make([]measured.Measured, len(measurements))
	hash := e.Plan.Hash()
	for i, m := range measurements {
		name := measured.Path(m.ID)
		b, err := e.Read(name)
		if err != nil {
			return nil, err
		}
		var status string
		if out[i], status, err = Decode(b, m, hash); err != nil {
			return nil, e.Altered(Faultf(name, "%v", err))
		}
		if status != e.Manifest.Status {
			return nil, e.Altered(Faultf(name, "is marked %q, and %s %q", status, ManifestFile, e.Manifest.Status))
		}
	}
	return out, nil
}

// Decode decodes the file of the answer to a measurement of the plan with this hash, and returns the status that it is
// marked with. Anybody may have written the file: one that makes the Parquet reader panic is an error.
func Decode(b []byte, m plan.Measurement, planHash string) (answer measured.Measured, status string, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("is damaged: it cannot be read")
		}
	}()
	return measured.Decode(b, m, planHash)
}
