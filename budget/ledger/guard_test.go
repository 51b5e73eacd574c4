package ledger

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/dprelease/dprelease/internal/testkit"
)

// unguarded creates the tables as dprelease created them before by_owner, with an account and a debit in them.
func unguarded(t testing.TB) (place string, l *Ledger) {
	t.Helper()
	place = testkit.Postgres(t)
	server(t, place, `CREATE SCHEMA dprelease;
CREATE TABLE dprelease.ledger (one boolean PRIMARY KEY CHECK (one), version integer NOT NULL, written bigint NOT NULL);
CREATE TABLE dprelease.entries (sequence bigint PRIMARY KEY CHECK (sequence > 0), body text NOT NULL, private text NOT NULL, hash text NOT NULL, signature text NOT NULL);
CREATE FUNCTION dprelease.never() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION '% are never changed and never removed', TG_ARGV[0]; END $$;
CREATE FUNCTION dprelease.only_up() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN
	IF NEW.written < OLD.written OR NEW.version <> OLD.version THEN RAISE EXCEPTION 'entries are never taken back'; END IF;
	RETURN NEW;
END $$;
CREATE TRIGGER kept BEFORE UPDATE OR DELETE OR TRUNCATE ON dprelease.entries FOR EACH STATEMENT EXECUTE FUNCTION dprelease.never('entries');
CREATE TRIGGER kept BEFORE DELETE OR TRUNCATE ON dprelease.ledger FOR EACH STATEMENT EXECUTE FUNCTION dprelease.never('counts of entries');
CREATE TRIGGER only_up BEFORE UPDATE ON dprelease.ledger FOR EACH ROW EXECUTE FUNCTION dprelease.only_up();
ALTER TABLE dprelease.entries ENABLE ALWAYS TRIGGER kept;
ALTER TABLE dprelease.ledger ENABLE ALWAYS TRIGGER kept;
ALTER TABLE dprelease.ledger ENABLE ALWAYS TRIGGER only_up;
INSERT INTO dprelease.ledger (one, version, written) VALUES (true, 3, 0);`)
	l = freshAt(t, place, "10")
	debit(t, l, charge("a", "aa", "1"))
	return place, l
}

const allEntries = "SELECT string_agg(e::text, '|' ORDER BY sequence) FROM dprelease.entries e"

func TestPostgresUpgrade(t *testing.T) {
	ctx := context.Background()
	place, l := unguarded(t)
	name := strings.TrimPrefix(must1(url.Parse(place)).Path, "/")
	server(t, place, "CREATE ROLE releaser_of_"+name+" LOGIN", "GRANT USAGE ON SCHEMA dprelease TO releaser_of_"+name,
		"GRANT SELECT ON ALL TABLES IN SCHEMA dprelease TO releaser_of_"+name,
		"GRANT INSERT ON dprelease.entries TO releaser_of_"+name,
		"GRANT UPDATE (written) ON dprelease.ledger TO releaser_of_"+name)
	releaser := openAt(t, at(t, place, "releaser_of_"+name, "", "", ""))

	err := l.Verify(ctx)
	var lacks *Unguarded
	if !errors.As(err, &lacks) || errors.Is(err, ErrTampered) {
		t.Errorf("a ledger of an earlier version: %v", err)
	}
	assertSays(t, err, "lacks the trigger by_owner of dprelease.entries, which keeps whoever may release from "+
		"opening accounts", "dprelease ledger upgrade", "removed it")
	_, err = releaser.Upgrade(ctx)
	assertSays(t, err, "by the owner of its tables", "run as the one who keeps it")

	// Several upgrade at once, while others release: one of them does it, and no entry is touched.
	before := ask(t, place, allEntries)
	var all sync.WaitGroup
	var turn sync.Mutex
	var added []string
	for range 4 {
		all.Go(func() {
			mine, err := openAt(t, place).Upgrade(ctx)
			turn.Lock()
			defer turn.Unlock()
			added = append(added, mine...)
			if err != nil {
				t.Error(err)
			}
		})
		all.Go(func() { debit(t, releaser, charge("b", "bb", "1")) })
	}
	all.Wait()
	if len(added) != 1 || !strings.HasPrefix(added[0], "the trigger by_owner") {
		t.Errorf("four upgrades added %q; want by_owner, once", added)
	}
	if after := ask(t, place, allEntries); !strings.HasPrefix(after, before+"|") {
		t.Errorf("the entries were %s and are %s", before, after)
	}
	must(t, l.Verify(ctx))
	assertBalance(t, l, "2", "0", "8")
	if version := ask(t, place, "SELECT version::text FROM dprelease.ledger"); version != "4" {
		t.Errorf("the upgraded ledger is of version %s", version)
	}
	if paths := ask(t, place,
		"SELECT count(*)::text FROM pg_proc WHERE pronamespace = 'dprelease'::regnamespace AND proconfig = "+
			"'{\"search_path=pg_catalog, pg_temp\"}'"); paths != "3" {
		t.Errorf("%s of 3 functions look names up in pg_catalog", paths)
	}
	assertSays(t, releaser.Grant(ctx, Grant{Account: "people", Amount: epsilon("5"), Reason: "Because I can."}),
		"by the owner of its tables")
	assertSays(t, attempt(t, place, "UPDATE dprelease.ledger SET version = 3"), "never taken back")
}

// A guard that was removed is missed, and no upgrade restores it as if it had always been there.
func TestPostgresMissesItsGuards(t *testing.T) {
	ctx := context.Background()
	const back = "; ALTER TABLE dprelease.ledger DISABLE TRIGGER only_up; UPDATE dprelease.ledger SET version = 3; " +
		"ALTER TABLE dprelease.ledger ENABLE ALWAYS TRIGGER only_up"
	for statements, guard := range map[string]string{
		"DROP TRIGGER by_owner ON dprelease.entries": "by_owner",
		"DROP FUNCTION dprelease.by_owner() CASCADE": "by_owner",
		"DROP TRIGGER by_owner ON dprelease.entries" +
			back: "by_owner",
		"ALTER TABLE dprelease.entries DISABLE TRIGGER by_owner": "by_owner",
		"ALTER TABLE dprelease.entries DISABLE TRIGGER by_owner" +
			back: "by_owner",
		"ALTER TABLE dprelease.entries ENABLE TRIGGER by_owner":                             "by_owner",
		"DROP FUNCTION dprelease.by_owner() CASCADE; DROP TRIGGER kept ON dprelease.ledger": "by_owner",
		"DROP TRIGGER kept ON dprelease.ledger" +
			back: "kept of dprelease.ledger",
		"ALTER TABLE dprelease.ledger DISABLE TRIGGER only_up":                                                        "only_up",
		"DROP FUNCTION dprelease.never() CASCADE":                                                                     "kept of dprelease.entries",
		"CREATE OR REPLACE FUNCTION dprelease.by_owner() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'": "by_owner",
		"CREATE OR REPLACE FUNCTION dprelease.only_up() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'":  "only_up",
		"ALTER FUNCTION dprelease.by_owner() SECURITY DEFINER":                                                        "by_owner",
		"ALTER FUNCTION dprelease.by_owner() SET search_path = public, pg_catalog":                                    "by_owner",
		"ALTER FUNCTION dprelease.by_owner() RESET search_path":                                                       "by_owner",
		"ALTER FUNCTION dprelease.by_owner() SECURITY DEFINER" +
			back: "by_owner",
		"DROP TRIGGER by_owner ON dprelease.entries; CREATE TRIGGER by_owner BEFORE INSERT ON dprelease.entries FOR " +
			"EACH ROW WHEN (NEW.sequence < 0) EXECUTE FUNCTION dprelease.by_owner(); ALTER TABLE dprelease.entries " +
			"ENABLE ALWAYS TRIGGER by_owner": "by_owner",
		"DROP TRIGGER only_up ON dprelease.ledger; CREATE TRIGGER only_up BEFORE UPDATE OF one ON dprelease.ledger " +
			"FOR EACH ROW EXECUTE FUNCTION dprelease.only_up(); ALTER TABLE dprelease.ledger ENABLE ALWAYS TRIGGER only_up": "only_up",
		"DROP TRIGGER by_owner ON dprelease.entries; CREATE TRIGGER by_owner AFTER INSERT ON dprelease.entries FOR " +
			"EACH ROW EXECUTE FUNCTION dprelease.by_owner(); ALTER TABLE dprelease.entries ENABLE ALWAYS TRIGGER by_owner": "by_owner",
	} {
		place := testkit.Postgres(t)
		l := freshAt(t, place, "10")
		must(t, l.Verify(ctx))
		server(t, place, statements)
		for what, err := range map[string]error{"Verify": l.Verify(ctx), "Upgrade": upgradeError(ctx, l)} {
			if !errors.Is(err, ErrTampered) {
				t.Errorf("%s after %s: %v", what, statements, err)
				continue
			}
			assertSays(t, err, "lacks the trigger "+guard, "or has it disabled or changed")
		}
	}
}

func upgradeError(ctx context.Context, l *Ledger) error {
	_, err := l.Upgrade(ctx)
	return err
}

// A ledger whose guard was removed without remains and whose version was set back cannot be distinguished from one that
// never had the guard: it is reported, and Verify refuses it, until somebody upgrades it.
func TestPostgresUnguardedIsReported(t *testing.T) {
	place := testkit.Postgres(t)
	l := freshAt(t, place, "10")
	server(t, place, "DROP FUNCTION dprelease.by_owner() CASCADE; ALTER TABLE dprelease.ledger DISABLE TRIGGER "+
		"only_up; UPDATE dprelease.ledger SET version = 3; ALTER TABLE dprelease.ledger ENABLE ALWAYS TRIGGER only_up")
	var lacks *Unguarded
	if err := l.Verify(context.Background()); !errors.As(err, &lacks) {
		t.Errorf("a ledger without by_owner, set back: %v", err)
	}
}

// Upgrade adds nothing to a file, and does nothing to a chain that was altered.
func TestUpgradeOfOthers(t *testing.T) {
	ctx := context.Background()
	file, _ := fresh(t, "10")
	if added, err := file.Upgrade(ctx); err != nil || len(added) != 0 {
		t.Errorf("a file: %q, %v", added, err)
	}
	place, l := unguarded(t)
	server(t, place, "ALTER TABLE dprelease.entries DISABLE TRIGGER kept; UPDATE dprelease.entries SET body = "+
		"replace(body, 'people', 'peoplf') WHERE sequence = 1; ALTER TABLE dprelease.entries ENABLE ALWAYS TRIGGER kept")
	if err := upgradeError(ctx, l); !errors.Is(err, ErrTampered) {
		t.Errorf("an altered chain: %v", err)
	}
	if version := ask(t, place, "SELECT version::text FROM dprelease.ledger"); version != "3" {
		t.Errorf("an altered ledger was upgraded to version %s", version)
	}
}
