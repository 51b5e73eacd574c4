// Package maker makes the report of a release.
//
// It computes from nothing but its [Input]: the plan, the published tables (noisy already) and the receipt of the
// ledger. No clock, host, folder or random number enters. Promises are rounded up, attained levels down. It shows
// nothing: package page does.
package maker
