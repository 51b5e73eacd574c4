package workload

import (
	"errors"
	"fmt"

	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/document"
)

// This file holds the faults that planning finds in a spec, where they stand in it.

// Fault is what is wrong with a part of the spec, at one of its keys, and what was expected there.
type Fault struct{ Key, Message, Expected string }

func (f *Fault) Error() string { return fmt.Sprintf("%s: %s", f.Message, f.Expected) }

// At places a fault at a key of the part of the spec at a path. Other errors stay as they are, but say where.
func At(r *spec.Release, path string, err error) error {
	var f *Fault
	if !errors.As(err, &f) {
		return fmt.Errorf("%s: %w", path, err)
	}
	if f.Key != "" {
		path += "." + f.Key
	}
	return r.Problem(path, document.Problem{Message: f.Message, Expected: f.Expected})
}
