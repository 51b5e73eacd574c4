package parallel

import (
	"errors"
	"testing"
)

// TestBothAreDoneAtTheSameTime lets each of two functions wait for the other.
func TestBothAreDoneAtTheSameTime(t *testing.T) {
	one, two := make(chan int), make(chan int)
	err := Both(func() error { one <- 1; <-two; return nil }, func() error { <-one; two <- 2; return nil })
	if err != nil {
		t.Fatal(err)
	}
}

func TestBothWaitForEachOther(t *testing.T) {
	failed := errors.New("failed")
	ended := false
	slow := make(chan int)
	err := Both(func() error { <-slow; ended = true; return nil }, func() error { close(slow); return failed })
	if err != failed || !ended {
		t.Errorf("got %v, the first ended: %v", err, ended)
	}
	if err := Both(func() error { return failed }, func() error { return nil }); err != failed {
		t.Errorf("got %v from the first", err)
	}
}

func TestAPanicIsTheCallers(t *testing.T) {
	nothing := func() error { return nil }
	burst := func() error { panic("burst") }
	for name, f := range map[string][2]func() error{"first": {burst, nothing}, "second": {nothing, burst}} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if got := recover(); got != "burst" {
					t.Errorf("recovered %v", got)
				}
			}()
			Both(f[0], f[1])
			t.Error("no panic")
		})
	}
}
