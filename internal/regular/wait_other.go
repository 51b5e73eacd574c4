//go:build !unix

package regular

// withoutWaiting is needed where pipes lie among files.
const withoutWaiting = 0
