package engine

import (
	"crypto/tls"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/postgres"
	"github.com/dprelease/dprelease/internal/regular"

	"github.com/jackc/pgx/v5"
)

// This file holds the address of a server: where it is read from, and which one is accepted.

// mostAddress is the most bytes of a file with an address.
const mostAddress = 1 << 16

// readAddress reads the address of a server from where a spec says that it is, and checks that the connection will
// be encrypted and lead to that server alone. Errors are *[source.Error], and quote nothing of an address.
func readAddress(url, dir, name string) (*pgx.ConnConfig, error) {
	refuse := func(message string, err error) error {
		return &source.Error{Kind: source.Unreadable, File: name, Message: message, Err: err}
	}
	var address string
	if variable, ok := strings.CutPrefix(url, "env:"); ok {
		if address = os.Getenv(variable); address == "" {
			return nil, refuse("the environment variable "+variable+
				" is not set; set it to the address of the server, postgres://user@host:port/database", nil)
		}
	} else {
		path := absolute(dir, strings.TrimPrefix(url, "file:"))
		text, err := regular.Read(path, mostAddress)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, refuse("there is no file "+path+
				"; write the address of the server into it, postgres://user@host:port/database", err)
		case err != nil:
			return nil, refuse("the file "+path+" with the address of the server cannot be read", err)
		}
		address = string(text)
	}
	if address = strings.TrimSpace(address); !postgres.IsAddress(address) {
		return nil, refuse("what "+url+" holds is no address of a PostgreSQL server; write "+
			"postgres://user@host:port/database", nil)
	}
	config, err := postgres.Parse(address)
	if err != nil {
		return nil, refuse("what "+url+" holds: "+err.Error(), nil)
	}
	if !isVerified(config) {
		return nil, refuse("over a network the connection must be encrypted, and lead to that server alone; add "+
			"?sslmode=verify-full to the address, and &sslrootcert=FILE if the server's certificate is of your own authority", nil)
	}
	return config, nil
}

// isVerified reports whether every server that an address names is this machine, or is reached by TLS alone and must
// prove its name.
func isVerified(config *pgx.ConnConfig) bool {
	safe := func(host string, secure *tls.Config) bool {
		return postgres.IsLocal(host) || secure != nil && !secure.InsecureSkipVerify
	}
	verified := safe(config.Host, config.TLSConfig)
	for _, other := range config.Fallbacks {
		verified = verified && safe(other.Host, other.TLSConfig)
	}
	return verified
}
