// Package postgres reads the addresses of PostgreSQL servers: what an address names, whether the server is this
// machine, and how the address is printed without its password. It opens no connection. Its errors quote no part of
// an address, because any part of an unreadable one may be a password.
package postgres

import (
	"errors"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// IsAddress reports whether a text is the address of a PostgreSQL database, and not the path of a file.
func IsAddress(text string) bool {
	return strings.HasPrefix(text, "postgres://") || strings.HasPrefix(text, "postgresql://")
}

// Errors of Parse.
var (
	errPassword = errors.New(
		"an @ or a / in the password of a PostgreSQL address is written %40 or %2F: better keep the password in " +
			"PGPASSWORD or ~/.pgpass")
	errAddress = errors.New(
		"the PostgreSQL address cannot be understood: write postgres://user@host:port/database?options, the options " +
			"as for psql, and the password in PGPASSWORD or ~/.pgpass")
)

// Parse reads an address "postgres://user@host:port/database?options", as libpq understands it. Missing parts come
// from PGPASSWORD, ~/.pgpass and the other sources of libpq.
func Parse(address string) (*pgx.ConnConfig, error) {
	_, rest, _ := strings.Cut(address, "://")
	rest, _, _ = strings.Cut(rest, "?")
	authority, path, _ := strings.Cut(rest, "/")
	if strings.Count(authority, "@") > 1 || strings.Contains(path, "@") {
		return nil, errPassword
	}
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, errAddress
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // works behind a pooler too
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "dprelease"
	}
	return config, nil
}

// Name returns the address of a configuration without password and options.
func Name(config *pgx.ConnConfig) string {
	u := url.URL{Scheme: "postgres", User: url.User(config.User), Path: "/" + config.Database}
	if strings.HasPrefix(config.Host, "/") {
		u.RawQuery = "host=" + config.Host
	} else {
		u.Host = net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port)))
	}
	return u.String()
}

// IsLocal reports whether a host is this machine: a folder of sockets, or a loopback address.
func IsLocal(host string) bool {
	return strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") || host == "localhost" ||
		net.ParseIP(host).IsLoopback()
}
