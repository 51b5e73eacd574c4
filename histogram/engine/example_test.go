package engine_test

import (
	"fmt"
	"os"

	"github.com/dprelease/dprelease/histogram/engine"
	"github.com/dprelease/dprelease/spec"
)

// What can be known of a database without asking it is checked before anything is reserved. No message holds an
// address, which may hold a password.
func Example() {
	r, err := spec.Parse(spec.Source{Name: "spells.yaml", Text: `version: 1
release: spells
privacy: {protects: person, neighbours: add-remove, account: register}
budget: {epsilon: 1}
tables:
  spells:
    source: {postgres: {url: "env:REGISTER_URL", table: register.spells}}
    unit: {id: person_id, max_rows: 3}
    columns: {status: {values: [employed, unemployed]}}
marginals:
  statuses: {by: [status]}
`})
	if err != nil {
		panic(err)
	}
	for _, address := range []string{"", "postgres://office:secret@db.example/register"} {
		os.Setenv("REGISTER_URL", address)
		fmt.Println(engine.Check(r, ".", ""))
	}
	// Output:
	// table register.spells in PostgreSQL (env:REGISTER_URL): the environment variable REGISTER_URL is not set; set it to the address of the server, postgres://user@host:port/database
	// table register.spells in PostgreSQL (env:REGISTER_URL): over a network the connection must be encrypted, and lead to that server alone; add ?sslmode=verify-full to the address, and &sslrootcert=FILE if the server's certificate is of your own authority
}
