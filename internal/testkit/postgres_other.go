//go:build !linux && !darwin

package testkit

import "testing"

// Postgres skips the test: throw-away clusters are for Linux and macOS.
func Postgres(t testing.TB) string {
	t.Helper()
	t.Skip("needs Linux or macOS for its PostgreSQL")
	return ""
}

// CopyOfPostgres is never reached: Postgres skips.
func CopyOfPostgres(t testing.TB, _ string) string { return Postgres(t) }

// CrashPostgres has nothing to crash.
func CrashPostgres(testing.TB) {}
