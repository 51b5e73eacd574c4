// Package structure holds the tests of the project itself: which package may import which, that pages and proofs say
// what the source does, that nothing between a count and its noise is a floating-point number. It has no code of its
// own; its tests read the tree from the module's root. Command figures, below it, prints how the code is built in
// numbers.
package structure
