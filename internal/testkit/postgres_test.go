//go:build linux || darwin

package testkit

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func TestPostgresGivesEmptyDatabasesThatAreDurable(t *testing.T) {
	ctx := context.Background()
	first, second := Postgres(t), Postgres(t)
	if first == second {
		t.Fatalf("two tests share %s", first)
	}
	for _, address := range []string{first, second} {
		c, err := pgx.Connect(ctx, address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close(ctx)
		var fsync string
		if err := c.QueryRow(ctx, "SHOW fsync").Scan(&fsync); err != nil || fsync != "on" {
			t.Errorf("fsync is %s: %v", fsync, err)
		}
		if _, err := c.Exec(ctx, "CREATE TABLE entries (n int)"); err != nil {
			t.Errorf("the database is not empty: %v", err)
		}
	}
}

func TestPostgresRecoversFromACrash(t *testing.T) {
	ctx := context.Background()
	address := Postgres(t)
	c, err := pgx.Connect(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	if _, err := c.Exec(ctx,
		"CREATE TABLE kept (n int); BEGIN; INSERT INTO kept VALUES (1); COMMIT; BEGIN; INSERT INTO kept VALUES (2)"); err != nil {
		t.Fatal(err)
	}
	CrashPostgres(t)
	if _, err := c.Exec(ctx, "COMMIT"); err == nil {
		t.Error("a connection outlived the crash")
	}
	again, err := pgx.Connect(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close(ctx)
	var sum int
	if err := again.QueryRow(ctx, "SELECT sum(n) FROM kept").Scan(&sum); err != nil || sum != 1 {
		t.Errorf("after the crash the table sums to %d: %v", sum, err)
	}
}

// The server ends with the process: a second copy of this test is killed while it holds one.
func TestPostgresEndsWithItsProcess(t *testing.T) {
	if os.Getenv("DPRELEASE_TESTDATA_HOLD") != "" {
		Postgres(t)
		os.Stdout.WriteString("folder=" + databases.cluster.folder + "=\n")
		time.Sleep(time.Minute)
	}
	Postgres(t)
	c := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
	c.Env = append(os.Environ(), "DPRELEASE_TESTDATA_HOLD=1")
	output, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, 4096)
	n, err := output.Read(said)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	_, rest, _ := strings.Cut(string(said[:n]), "folder=")
	folder, _, ok := strings.Cut(rest, "=")
	if !ok {
		t.Fatalf("it said %q", said[:n])
	}
	for deadline := time.Now().Add(10 * time.Second); exists(folder); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s is still there", folder)
		}
	}
}
