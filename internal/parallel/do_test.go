package parallel

import (
	"errors"
	"strings"
	"testing"
)

// TestPanicsAreErrors: a panic in a worker is an error without its value.
func TestPanicsAreErrors(t *testing.T) {
	err := Do(t.Context(), 2, 3, func(i int) error {
		if i == 1 {
			panic("KANARIE")
		}
		return nil
	})
	if !errors.Is(err, ErrBug) || strings.Contains(err.Error(), "KANARIE") {
		t.Error(err)
	}
}
