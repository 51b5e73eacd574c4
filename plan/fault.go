package plan

import (
	"errors"
	"fmt"

	"github.com/dprelease/dprelease/spec"
)

// This file holds the faults that planning finds in a spec, where they stand in it.

// fault is what is wrong with a part of the spec, at one of its keys, and what was expected there.
type fault struct{ key, message, expected string }

func (f *fault) Error() string { return fmt.Sprintf("%s: %s", f.message, f.expected) }

// at places a fault at a key of the part of the spec at a path. Other errors stay as they are, but say where.
func at(r *spec.Release, path string, err error) error {
	var f *fault
	if !errors.As(err, &f) {
		return fmt.Errorf("%s: %w", path, err)
	}
	if f.key != "" {
		path += "." + f.key
	}
	return r.Problem(path, spec.Problem{Message: f.message, Expected: f.expected})
}
