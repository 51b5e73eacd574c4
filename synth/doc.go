// Package synth turns measurements into what is published: tables whose every
// cell carries an unbiased estimate, its standard error and an interval.
//
// The package reads sealed measurements and the public plan only. It never sees
// an exact count, costs no budget, and gives the same tables for the same
// measurements on every machine.
package synth
