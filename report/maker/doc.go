// Package maker makes the report of a release.
//
// It owns the way from its [Input], which is the plan, the published tables (noisy already) and the receipt of the
// ledger, to a report. Promises are rounded up, attained levels down.
//
// It never sees a confidential byte, and never shows anything: package page does. No clock, host, folder or random
// number enters.
package maker
