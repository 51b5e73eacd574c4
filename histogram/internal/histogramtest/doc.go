// Package histogramtest holds what the tests of histogram and of the packages below it share. Nothing else imports
// it.
package histogramtest
