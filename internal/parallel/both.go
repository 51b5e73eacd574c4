// Package parallel starts goroutines and waits for all of them. A panic in one becomes an error without its value and
// trace, which could be confidential, or a panic of the caller.
package parallel

import "cmp"

// Both calls two functions concurrently and returns when both are done. If both fail it returns the error of the
// second. A panic of either becomes a panic of the caller, which can recover from it.
func Both(first, second func() error) error {
	var one, two error
	var reason any // value of a panic of the first
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
