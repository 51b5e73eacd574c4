package ledger

// The triggers that guard the entries in a PostgreSQL database: making them, checking them, and adding those that an
// earlier version did not make.

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Versions of the tables and guards in PostgreSQL. Since a ledger of postgresVersion was made or upgraded with all
// guards, one that lacks any of them was tampered with. Ledgers of unguardedVersion were made with or without the guard
// by_owner, and are used as they are until their owner upgrades them.
const (
	postgresVersion  = 4
	unguardedVersion = 3
)

// ownersOnly is the SQLSTATE of an entry that the owner alone may write.
const ownersOnly = "DP001"

// guard is a trigger on a table of the schema dprelease, and the function of that schema which it calls. It fires
// ALWAYS: in sessions of replication and restoring too. The function looks names up in pg_catalog, where nobody can put
// others in their place.
type guard struct {
	table, name string
	events      string // "INSERT OR UPDATE"
	each        string // "ROW" or "STATEMENT"
	calls       string // the function, with no schema and no arguments
	argument    string
	body        string // of the function
	keeps       string // what it is for: "keeps …"
}

const (
	neverBody  = ` BEGIN RAISE EXCEPTION '% are never changed and never removed', TG_ARGV[0]; END `
	onlyUpBody = ` BEGIN
	IF NEW.written < OLD.written OR NEW.version <> OLD.version THEN RAISE EXCEPTION 'entries are never taken back'; END IF;
	RETURN NEW;
END `
	// Bodies of entries are written in one form, which begins with their kind.
	byOwnerBody = ` BEGIN
	IF (NEW.body LIKE '{"kind":"init"%' OR NEW.body LIKE '{"kind":"grant"%') AND NOT pg_has_role(current_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE') THEN
		RAISE EXCEPTION 'accounts are opened, and caps raised, by the owner of the tables alone' USING ERRCODE = '` + ownersOnly + `';
	END IF;
	RETURN NEW;
END `
)

// byOwner leaves accounts and caps to the owner of the tables: where a policy names no roles, nothing else keeps
// whoever may release from giving himself more.
var byOwner = guard{
	table: "entries", name: "by_owner", events: "INSERT", each: "ROW", calls: "by_owner", body: byOwnerBody,
	keeps: "keeps whoever may release from opening accounts and raising caps",
}

var guards = []guard{
	byOwner,
	{
		table: "entries", name: "kept", events: "DELETE OR UPDATE OR TRUNCATE", each: "STATEMENT", calls: "never",
		argument: "entries", body: neverBody,
		keeps: "keeps entries from being changed or removed",
	},
	{
		table: "ledger", name: "kept", events: "DELETE OR TRUNCATE", each: "STATEMENT", calls: "never",
		argument: "counts of entries", body: neverBody,
		keeps: "keeps the count of entries from being removed",
	},
	{
		table: "ledger", name: "only_up", events: "UPDATE", each: "ROW", calls: "only_up", body: onlyUpBody,
		keeps: "keeps the count of entries from being lowered",
	},
}

// guardPath is where functions look names up.
const guardPath = "pg_catalog, pg_temp"

// function is the statement that makes the function, or puts it in the place of one of its name. It runs with the
// rights of whoever writes.
func (g guard) function() string {
	return fmt.Sprintf("CREATE OR REPLACE FUNCTION dprelease.%s() RETURNS trigger LANGUAGE plpgsql SECURITY INVOKER SET search_path = %s AS $$%s$$;", g.calls, guardPath, g.body)
}

// trigger is the statement that makes the trigger.
func (g guard) trigger() string {
	argument := ""
	if g.argument != "" {
		argument = "'" + g.argument + "'"
	}
	return fmt.Sprintf("CREATE TRIGGER %[1]s BEFORE %[2]s ON dprelease.%[3]s FOR EACH %[4]s EXECUTE FUNCTION dprelease.%[5]s(%[6]s);ALTER TABLE dprelease.%[3]s ENABLE ALWAYS TRIGGER %[1]s;",
		g.name, g.events, g.table, g.each, g.calls, argument)
}

// kinds are the bits of pg_trigger.tgtype: when and for what the trigger fires.
func (g guard) kinds() (bits int16) {
	bits = 2 // BEFORE
	if g.each == "ROW" {
		bits |= 1
	}
	for event, bit := range map[string]int16{"INSERT": 4, "DELETE": 8, "UPDATE": 16, "TRUNCATE": 32} {
		if strings.Contains(g.events, event) {
			bits |= bit
		}
	}
	return bits
}

// The conditions under which a guard ($1 table, $2 trigger, $3 kinds, $4 function, $5 its body, $6 its settings, $7 or
// none, as earlier versions made it) does what it was made for.
const guardStands = `SELECT EXISTS (SELECT FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_proc f ON f.oid = t.tgfoid
	JOIN pg_catalog.pg_language l ON l.oid = f.prolang
	WHERE t.tgrelid = ('dprelease.' || $1::text)::regclass AND t.tgname = $2 AND t.tgtype = $3 AND t.tgenabled::text = 'A'
	AND NOT t.tgisinternal AND t.tgqual IS NULL AND t.tgattr::text = ''
	AND f.proname = $4 AND f.pronamespace = 'dprelease'::regnamespace AND f.prosrc = $5 AND l.lanname = 'plpgsql'
	AND NOT f.prosecdef AND (f.proconfig = $6::text[] OR $7 AND f.proconfig IS NULL))`

// stands reports whether the guard is in place and as it was made, in a ledger of a version.
func (g guard) stands(ctx context.Context, c *pgx.Conn, version int) (ok bool, err error) {
	settings := []string{"search_path=" + guardPath}
	err = c.QueryRow(ctx, guardStands, g.table, g.name, g.kinds(), g.calls, g.body, settings, version == unguardedVersion).
		Scan(&ok)
	return ok, err
}

// Unguarded says that a PostgreSQL ledger is as earlier versions of dprelease made it, without a guard of today's. The
// database cannot say whether it ever had that guard: whoever has the rights of the owner can take it away, together
// with its function, and set the version back.
type Unguarded struct {
	Ledger string // without a password
	Lacks  string // "the trigger by_owner of dprelease.entries, which keeps …"
}

func (e *Unguarded) Error() string {
	return fmt.Sprintf("ledger %s lacks %s. If an earlier dprelease made this ledger, its owner adds what is missing with `dprelease ledger upgrade --ledger ADDRESS`, once `dprelease ledger history` shows no account and no grant that nobody decided on; if a dprelease that knows the trigger made it, somebody with the owner's rights removed it: ask who",
		e.Ledger, e.Lacks)
}

// String names the guard in a sentence.
func (g guard) String() string {
	return fmt.Sprintf("the trigger %s of dprelease.%s, which %s", g.name, g.table, g.keeps)
}

// check looks whether what guards the entries is in place. Errors: *Unguarded; wraps ErrTampered.
func (p *postgres) check(ctx context.Context) error {
	return p.transaction(ctx, beginView, func(c *pgx.Conn) error {
		_, err := p.guarded(ctx, c)
		return err
	})
}

// guarded returns the version of the ledger, and an error unless all guards are in place: *Unguarded where the ledger
// lacks what its version may lack and holds no remains of it; else it wraps ErrTampered.
func (p *postgres) guarded(ctx context.Context, c *pgx.Conn) (version int, err error) {
	var remains bool // of by_owner: whoever drops the trigger leaves its function, unless he drops that too
	if err := c.QueryRow(ctx, `SELECT version, EXISTS (SELECT FROM pg_catalog.pg_proc WHERE proname = 'by_owner' AND pronamespace = 'dprelease'::regnamespace)
		FROM dprelease.ledger`).Scan(&version, &remains); err != nil {
		return 0, p.uncounted(err)
	}
	lacksOwner := false
	for _, g := range guards {
		ok, err := g.stands(ctx, c, version)
		switch {
		case err != nil:
			return 0, p.explain(err)
		case ok:
		case g == byOwner && version == unguardedVersion && !remains:
			lacksOwner = true
		default:
			return 0, &Tampered{Ledger: p.name, Reason: "lacks " + g.String() + ", or has it disabled or changed"}
		}
	}
	if lacksOwner {
		return version, &Unguarded{Ledger: p.name, Lacks: byOwner.String()}
	}
	return version, nil
}

// upgrade adds the guards that an earlier version did not make, in one transaction, and returns them in words; none
// where the ledger is of today's version. It changes no entry. From then on a ledger without them was tampered with,
// and a dprelease that does not know them refuses it.
func (p *postgres) upgrade(ctx context.Context) (added []string, err error) {
	err = p.transaction(ctx, p.toUpdate(), func(c *pgx.Conn) error {
		if err := p.requireOwner(ctx, c); err != nil {
			return err
		}
		written, err := p.takeTurn(ctx, c)
		if err != nil {
			return err
		}
		if _, err := p.load(ctx, c, written); err != nil {
			return err
		}
		version, err := p.guarded(ctx, c)
		var lacking *Unguarded
		if errors.As(err, &lacking) {
			added = []string{lacking.Lacks}
		} else if err != nil || version == postgresVersion {
			return err
		}
		if _, err := c.Exec(ctx, upgradeText(lacking != nil)); err != nil {
			return p.explain(err)
		}
		_, err = p.guarded(ctx, c)
		return err
	})
	if err != nil {
		return nil, err
	}
	return added, nil
}

// requireOwner returns an error unless this user has the rights of the owner of the tables.
func (p *postgres) requireOwner(ctx context.Context, c *pgx.Conn) error {
	var owner bool
	if err := c.QueryRow(ctx,
		"SELECT pg_has_role(current_user, relowner, 'USAGE') FROM pg_catalog.pg_class WHERE oid = 'dprelease.entries'::regclass").Scan(&owner); err != nil {
		return p.explain(err)
	}
	if !owner {
		return fmt.Errorf("ledger %s: it is upgraded by the owner of its tables: run as the one who keeps it", p.name)
	}
	return nil
}

// upgradeText are the statements that bring a ledger to postgresVersion. Functions of earlier versions looked names up
// wherever the session said, so all are made anew. The version is guarded by only_up, which is back when they are done.
func upgradeText(withByOwner bool) string {
	var b strings.Builder
	for _, g := range guards {
		b.WriteString(g.function())
	}
	if withByOwner {
		b.WriteString(byOwner.trigger())
	}
	fmt.Fprintf(&b, `ALTER TABLE dprelease.ledger DISABLE TRIGGER only_up;
		UPDATE dprelease.ledger SET version = %d;
		ALTER TABLE dprelease.ledger ENABLE ALWAYS TRIGGER only_up;`, postgresVersion)
	return b.String()
}
