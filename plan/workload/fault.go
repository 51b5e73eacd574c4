package workload

import (
	"errors"
	"fmt"

	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/document"
)

// This file holds the faults that planning finds in a spec, with their positions.

// Fault is an error in a part of the spec, at one of its keys, with what was expected there.
type Fault struct{ Key, Message, Expected string }

func (f *Fault) Error() string { return fmt.Sprintf("%s: %s", f.Message, f.Expected) }

// LocateFault adds the position of a fault, at a key of the part of the spec with a path. It adds the path to other
// errors.
func LocateFault(r *spec.Release, path string, err error) error {
	var f *Fault
	if !errors.As(err, &f) {
		return fmt.Errorf("%s: %w", path, err)
	}
	if f.Key != "" {
		path += "." + f.Key
	}
	return r.Problem(path, document.Problem{Message: f.Message, Expected: f.Expected})
}
