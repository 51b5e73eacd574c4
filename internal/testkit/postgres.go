//go:build linux || darwin

package testkit

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Postgres is the address of an empty PostgreSQL database of the test's own, for its superuser. All tests of a binary
// share one throw-away cluster, which listens on a Unix socket in a temporary folder alone, is as durable as PostgreSQL
// is by default, and ends with the process, however that ends. Where PostgreSQL is not installed the test is skipped.
func Postgres(t testing.TB) string {
	t.Helper()
	databases.start.Do(func() { databases.cluster, databases.err = startCluster() })
	if errors.Is(databases.err, exec.ErrNotFound) {
		t.Skipf("needs PostgreSQL: install Debian's package postgresql, or put initdb and pg_ctl on the PATH (%v)",
			databases.err)
	}
	if databases.err != nil {
		t.Fatalf("starting PostgreSQL: %v", databases.err)
	}
	return create(t, "template1")
}

// CopyOfPostgres is the address of a copy of a database of Postgres, to which nobody may be connected; it waits for
// the server to notice that a killed process is gone.
func CopyOfPostgres(t testing.TB, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return create(t, strings.TrimPrefix(u.Path, "/"))
}

// create makes a database from another.
func create(t testing.TB, template string) string {
	t.Helper()
	ctx := context.Background()
	c, err := pgx.Connect(ctx, databases.cluster.address("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	name := fmt.Sprintf("test%d", databases.made.Add(1))
	for range 100 {
		if _, err = c.Exec(ctx, "CREATE DATABASE "+name+" TEMPLATE "+template); err == nil {
			return databases.cluster.address(name)
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal(err)
	return ""
}

// CrashPostgres ends the cluster of Postgres as a failing computer does, except that what was written to its disk
// stays, and starts it again: it recovers from its log.
func CrashPostgres(t testing.TB) {
	t.Helper()
	if _, err := io.WriteString(databases.cluster.keeper, "crash\n"); err != nil {
		t.Fatal(err)
	}
	if answer, err := databases.cluster.said.ReadString('\n'); err != nil {
		t.Fatalf("%q: %v", answer, err)
	}
}

// PostgresLog is the log of the cluster of Postgres so far.
func PostgresLog(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(databases.cluster.folder, "log"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// databases are those of this process.
var databases struct {
	start   sync.Once
	cluster *cluster
	err     error
	made    atomic.Int64
}

// cluster is a running PostgreSQL server.
type cluster struct {
	folder string         // of its data and its socket
	keeper io.WriteCloser // it ends when this, or the process that holds it, does
	said   *bufio.Reader
}

// keep makes a cluster in folder $1 with the programs in folder $2, says "ready", crashes and recovers it with every
// line of its standard input, and ends it with that.
const keep = `
folder=$1 programs=$2
trap 'rm -rf "$folder"' EXIT
"$programs/initdb" -D "$folder/data" -U keeper -A trust -E UTF8 --locale C --no-sync > "$folder/log" 2>&1 &&
"$programs/pg_ctl" -D "$folder/data" -l "$folder/log" -o "-k '$folder' -c listen_addresses=''" -w start > "$folder/out" 2>&1 ||
{ cat "$folder/out" "$folder/log"; exit 1; }
echo ready
while read -r line
do
	"$programs/pg_ctl" -D "$folder/data" -m immediate stop > /dev/null 2>&1
	"$programs/pg_ctl" -D "$folder/data" -l "$folder/log" -o "-k '$folder' -c listen_addresses=''" -w start > "$folder/out" 2>&1
	echo ready
done
"$programs/pg_ctl" -D "$folder/data" -m immediate stop > /dev/null 2>&1`

// startCluster errors: wraps exec.ErrNotFound where PostgreSQL is not installed.
func startCluster() (*cluster, error) {
	programs, err := postgresPrograms()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp(roomy("/dev/shm"), "dprelease-postgres-")
	if err != nil {
		return nil, err
	}
	c := exec.Command("sh", "-c", keep, "sh", folder, programs)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt at the terminal is for the test
	if os.Getuid() == 0 {                               // for whom PostgreSQL does not run
		const nobody = 65534
		c.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
		if err := os.Chown(folder, nobody, nobody); err != nil {
			return nil, err
		}
	}
	keeper, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	said := bufio.NewReader(output)
	if first, _ := said.ReadString('\n'); first != "ready\n" {
		rest, _ := io.ReadAll(said)
		return nil, fmt.Errorf("%w: %s%s", c.Wait(), first, rest)
	}
	return &cluster{folder: folder, keeper: keeper, said: said}, nil
}

// roomy is a folder in memory, where syncing takes no time and a crash of the server keeps what it has written, if it
// has room for a cluster and its databases; else "", the folder for temporary files.
func roomy(folder string) string {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil || s.Bavail < 1<<30/uint64(s.Bsize) {
		return ""
	}
	return folder
}

// postgresPrograms is the folder of initdb and pg_ctl: on the PATH, or where Debian keeps them.
func postgresPrograms() (string, error) {
	found, err := exec.LookPath("initdb")
	if err != nil {
		all, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
		if len(all) == 0 {
			return "", err
		}
		found = slices.Max(all)
	}
	if found, err = filepath.EvalSymlinks(found); err != nil {
		return "", err
	}
	return filepath.Dir(found), nil
}

// address is that of a database for the superuser.
func (c *cluster) address(database string) string {
	u := url.URL{Scheme: "postgres", User: url.User("keeper"), Path: "/" + database,
		RawQuery: url.Values{"host": {c.folder}}.Encode()}
	return u.String()
}
