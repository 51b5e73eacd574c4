package ledger

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

func TestALedgerWithTwoNamesIsRefused(t *testing.T) {
	ctx := context.Background()
	l, path := fresh(t, "1")
	other := filepath.Join(filepath.Dir(path), "other.db")
	must(t, os.Link(path, other))
	_, err := l.Debit(ctx, charge("a", "aa", "1"))
	assertSays(t, err, path+" has 2 names", "nothing was written")
	for _, name := range []string{path, other} {
		_, err := Open(ctx, name, OpenOptions{})
		assertSays(t, err, name+" has 2 names (hard links)", "would be spent anew")
	}
	must(t, os.Remove(other))
	debit(t, l, charge("a", "aa", "1"))
	must(t, l.Close())

	link := filepath.Join(filepath.Dir(path), "link.db") // SQLite follows these
	must(t, os.Symlink(path, link))
	l = open(t, link)
	assertBalance(t, l, "1", "0", "0")
}

// The creator was killed before it removed the temporary name of the ledger.
func TestALedgerWhoseCreatorWasKilled(t *testing.T) {
	l, path := fresh(t, "1")
	must(t, l.Close())
	staged := filepath.Join(filepath.Dir(path), stagedName(path)+"123")
	must(t, os.Link(path, staged))
	debit(t, open(t, path), charge("a", "aa", "1"))
	if _, err := os.Lstat(staged); !os.IsNotExist(err) {
		t.Errorf("the other name is there: %v", err)
	}
}

func TestAFileReplacedUnderAnOpenRun(t *testing.T) {
	for name, replace := range map[string]func(t *testing.T, path, copied string){
		"another file": func(t *testing.T, path, copied string) {
			must(t, os.Remove(path+"-wal"))
			must(t, os.Remove(path+"-shm"))
			must(t, os.Rename(copied, path))
		},
		"the same file written over": func(t *testing.T, path, copied string) {
			must(t, os.Remove(path+"-wal"))
			must(t, os.Remove(path+"-shm"))
			old, err := os.ReadFile(copied)
			must(t, err)
			must(t, os.WriteFile(path, old, 0o600))
		},
		"the log alone":   func(t *testing.T, path, _ string) { must(t, os.Remove(path+"-wal")) },
		"the index alone": func(t *testing.T, path, _ string) { must(t, os.Remove(path+"-shm")) },
		"moved away":      func(t *testing.T, path, copied string) { must(t, os.Rename(path, copied)) },
	} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			l, path := fresh(t, "1")
			must(t, l.Close())
			copied := path + ".bak"
			whole, err := os.ReadFile(path)
			must(t, err)
			must(t, os.WriteFile(copied, whole, 0o600))
			l = open(t, path)
			show(t, l)
			replace(t, path, copied)
			_, err = l.Debit(ctx, charge("a", "aa", "1"))
			assertSays(t, err, "was replaced while a run was open", "run again")
			if _, err := l.Show(ctx, "people"); err == nil {
				t.Error("the old file is shown")
			}
		})
	}
}

// The file is replaced between the first check and COMMIT.
func TestAFileReplacedInTheMiddleOfAnUpdate(t *testing.T) {
	l, path := fresh(t, "1")
	_, err := l.store.update(context.Background(), func(*book) ([]line, error) {
		return nil, os.Rename(path, path+".old")
	})
	assertSays(t, err, "was replaced while a run was open", "nothing was written")
}
