// Package maker makes the report of a release.
//
// It owns the way from its [Input], which is the plan, the published tables (already noisy) and the ledger's receipt,
// to a report. Guarantees are rounded up, attained confidence levels down.
//
// It never sees a confidential byte, and never shows anything: package page does. A report depends on no clock, host,
// folder or random number.
package maker
