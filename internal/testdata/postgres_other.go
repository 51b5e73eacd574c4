//go:build !unix

package testdata

import "testing"

// Postgres skips the test: the throw-away cluster needs a Unix socket.
func Postgres(t testing.TB) string {
	t.Helper()
	t.Skip("needs a system with Unix sockets for its PostgreSQL")
	return ""
}

// CopyOfPostgres is never reached: Postgres skips.
func CopyOfPostgres(t testing.TB, _ string) string { return Postgres(t) }
