// Package parallel starts goroutines, and waits for all that it has started. It knows nothing of what they do: a panic
// in one is an error without its value and trace, which could be confidential, or the caller's own panic.
package parallel

import "cmp"

// Both does two things at the same time, on two cores where there are two, and returns when both are done: with the
// error of the second where both fail. A panic of either is the caller's, who can recover from it.
func Both(first, second func() error) error {
	var one, two error
	var reason any // of a panic of the first
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { reason = recover() }()
		one = first()
	}()
	func() {
		defer func() { <-done }()
		two = second()
	}()
	if reason != nil {
		panic(reason)
	}
	return cmp.Or(two, one)
}
