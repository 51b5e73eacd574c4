// Package plantest makes the plans that tests of several packages below plan share.
package plantest
