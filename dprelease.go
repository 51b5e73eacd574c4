// Package dprelease is the root of a module that releases differentially private statistics from one YAML file: declare
// a release, review the plan, publish tables with error bars. It has no code of its own yet: command cmd/dprelease is
// the way in, and package internal/release puts its steps in order.
package dprelease
