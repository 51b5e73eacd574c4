package holder

// This file holds the sum of masked values, in which the masks of all holders cancel.

import (
	"errors"
	"slices"
)

// Add adds the masked values of one holder to those of others, cell by cell and modulo 2^64. Both have the same length.
func Add(sum, masked []int64) {
	for i, x := range masked {
		sum[i] += x
	}
}

// Check returns an error if a sum of all holders' masked values is 2^62 or more in absolute value, which honest
// holders' values never reach ([Masks.Mask]): then masks are left in it. It misses left masks with probability 2^−n
// over n cells. The error shows no value.
func Check(sum []int64) error {
	if slices.ContainsFunc(sum, func(x int64) bool { return x <= -maxSum || x >= maxSum }) {
		return errors.New("the masks of these shares do not cancel")
	}
	return nil
}
