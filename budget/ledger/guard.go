package ledger

// The triggers that guard the entries in a PostgreSQL database: creating them, checking them, and adding the ones that
// an earlier version did not create.

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Versions of the tables and guards in PostgreSQL. A ledger of postgresVersion was created or upgraded with all guards:
// if any is missing, somebody tampered with it. A ledger of unguardedVersion was created with or without the guard
// by_owner, and is used as it is until its owner upgrades it.
const (
	postgresVersion  = 4
	unguardedVersion = 3
)

// ownersOnly is the SQLSTATE raised for an entry that only the owner may write.
const ownersOnly = "DP001"

// guard is a trigger on a table of the schema dprelease, and the function in that schema which it calls. The trigger is
// enabled ALWAYS, so it also fires in sessions that replicate or restore. The function looks names up in pg_catalog,
// where nobody can substitute others.
type guard struct {
	table, name  string
	events       string // "INSERT OR UPDATE"
	granularity  string // "ROW" or "STATEMENT"
	functionName string // without schema and arguments
	argument     string
	body         string // of the function
	purpose      string // completes "which …": "keeps …"
}

const (
	neverBody  = ` BEGIN RAISE EXCEPTION '% are never changed and never removed', TG_ARGV[0]; END `
	onlyUpBody = ` BEGIN
	IF NEW.written < OLD.written OR NEW.version <> OLD.version THEN RAISE EXCEPTION 'entries are never taken back'; END IF;
	RETURN NEW;
END `
	// Bodies of entries have one canonical form, which begins with their kind.
	byOwnerBody = ` BEGIN
	IF (NEW.body LIKE '{"kind":"init"%' OR NEW.body LIKE '{"kind":"grant"%') AND NOT pg_has_role(current_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE') THEN
		RAISE EXCEPTION 'accounts are opened, and caps raised, by the owner of the tables alone' USING ERRCODE = '` + ownersOnly + `';
	END IF;
	RETURN NEW;
END `
)

// byOwner restricts opening accounts and raising caps to the owner of the tables: if a policy names no roles, nothing
// else keeps a user who may release from raising a cap.
var byOwner = guard{
	table: "entries", name: "by_owner", events: "INSERT", granularity: "ROW", functionName: "by_owner",
	body:    byOwnerBody,
	purpose: "keeps whoever may release from opening accounts and raising caps",
}

var guards = []guard{
	byOwner,
	{
		table: "entries", name: "kept", events: "DELETE OR UPDATE OR TRUNCATE", granularity: "STATEMENT",
		functionName: "never", argument: "entries", body: neverBody,
		purpose: "keeps entries from being changed or removed",
	},
	{
		table: "ledger", name: "kept", events: "DELETE OR TRUNCATE", granularity: "STATEMENT", functionName: "never",
		argument: "counts of entries", body: neverBody,
		purpose: "keeps the count of entries from being removed",
	},
	{
		table: "ledger", name: "only_up", events: "UPDATE", granularity: "ROW", functionName: "only_up",
		body:    onlyUpBody,
		purpose: "keeps the count of entries from being lowered",
	},
}

// guardPath is the search path of the guard functions.
const guardPath = "pg_catalog, pg_temp"

// functionSQL returns the statement that creates or replaces the function. It runs with the rights of the user who
// writes.
func (g guard) functionSQL() string {
	return fmt.Sprintf("CREATE OR REPLACE FUNCTION dprelease.%s() RETURNS trigger LANGUAGE plpgsql SECURITY INVOKER "+
		"SET search_path = %s AS $$%s$$;", g.functionName, guardPath, g.body)
}

// triggerSQL returns the statement that creates the trigger.
func (g guard) triggerSQL() string {
	argument := ""
	if g.argument != "" {
		argument = "'" + g.argument + "'"
	}
	return fmt.Sprintf("CREATE TRIGGER %[1]s BEFORE %[2]s ON dprelease.%[3]s FOR EACH %[4]s EXECUTE FUNCTION "+
		"dprelease.%[5]s(%[6]s);ALTER TABLE dprelease.%[3]s ENABLE ALWAYS TRIGGER %[1]s;",
		g.name, g.events, g.table, g.granularity, g.functionName, argument)
}

// typeBits returns the bits of pg_trigger.tgtype: when and for which events the trigger fires.
func (g guard) typeBits() (bits int16) {
	bits = 2 // BEFORE
	if g.granularity == "ROW" {
		bits |= 1
	}
	for event, bit := range map[string]int16{"INSERT": 4, "DELETE": 8, "UPDATE": 16, "TRUNCATE": 32} {
		if strings.Contains(g.events, event) {
			bits |= bit
		}
	}
	return bits
}

// guardStands asks whether a guard is in place as it was created. Parameters: $1 table, $2 trigger, $3 type bits, $4
// function, $5 its body, $6 its settings, $7 whether it may have no settings, as earlier versions created it.
const guardStands = `SELECT EXISTS (SELECT FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_proc f ON f.oid = t.tgfoid
	JOIN pg_catalog.pg_language l ON l.oid = f.prolang
	WHERE t.tgrelid = ('dprelease.' || $1::text)::regclass AND t.tgname = $2 AND t.tgtype = $3 AND t.tgenabled::text = 'A'
	AND NOT t.tgisinternal AND t.tgqual IS NULL AND t.tgattr::text = ''
	AND f.proname = $4 AND f.pronamespace = 'dprelease'::regnamespace AND f.prosrc = $5 AND l.lanname = 'plpgsql'
	AND NOT f.prosecdef AND (f.proconfig = $6::text[] OR $7 AND f.proconfig IS NULL))`

// isInPlace reports whether the guard is in place as it was created, in a ledger of a version.
func (g guard) isInPlace(ctx context.Context, c *pgx.Conn, version int) (ok bool, err error) {
	settings := []string{"search_path=" + guardPath}
	err = c.QueryRow(ctx, guardStands, g.table, g.name, g.typeBits(), g.functionName, g.body, settings,
		version == unguardedVersion).Scan(&ok)
	return ok, err
}

// Unguarded is the error that a PostgreSQL ledger is as an earlier version of dprelease created it, without a guard
// that this version creates. The database does not record whether it ever had that guard: a user with the owner's
// rights can remove it, together with its function, and set the version back.
type Unguarded struct {
	Ledger string // without a password
	Lacks  string // "the trigger by_owner of dprelease.entries, which keeps …"
}

func (e *Unguarded) Error() string {
	return fmt.Sprintf("ledger %s lacks %s. If an earlier dprelease made this ledger, its owner adds what is missing "+
		"with `dprelease ledger upgrade --ledger ADDRESS`, once `dprelease ledger history` shows no account and no "+
		"grant that nobody decided on; if a dprelease that knows the trigger made it, somebody with the owner's "+
		"rights removed it: ask who",
		e.Ledger, e.Lacks)
}

// String describes the guard in a phrase.
func (g guard) String() string {
	return fmt.Sprintf("the trigger %s of dprelease.%s, which %s", g.name, g.table, g.purpose)
}

// checkStorage checks that the guards of the entries are in place. Errors: *Unguarded; wraps ErrTampered.
func (p *postgres) checkStorage(ctx context.Context) error {
	return p.inTransaction(ctx, beginView, func(c *pgx.Conn) error {
		_, err := p.checkGuards(ctx, c)
		return err
	})
}

// checkGuards returns the version of the ledger, and an error unless all guards are in place. The error is *Unguarded
// if the ledger lacks only the guard that its version may lack, and holds no remains of it. If another guard is
// missing, the error wraps ErrTampered.
func (p *postgres) checkGuards(ctx context.Context, c *pgx.Conn) (version int, err error) {
	var remains bool // of by_owner: dropping the trigger alone leaves its function
	if err := c.QueryRow(ctx, `SELECT version, EXISTS (SELECT FROM pg_catalog.pg_proc WHERE proname = 'by_owner' AND pronamespace = 'dprelease'::regnamespace)
		FROM dprelease.ledger`).Scan(&version, &remains); err != nil {
		return 0, p.counterError(err)
	}
	lacksOwner := false
	for _, g := range guards {
		ok, err := g.isInPlace(ctx, c, version)
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

// upgrade adds the guards that an earlier version did not create, in one transaction, and describes each in words; it
// returns none if the ledger has the current version. It changes no entry. A ledger that lacks the guards afterwards
// was tampered with, and a dprelease that does not know them refuses it.
func (p *postgres) upgrade(ctx context.Context) (added []string, err error) {
	err = p.inTransaction(ctx, p.toUpdate(), func(c *pgx.Conn) error {
		if err := p.requireOwner(ctx, c); err != nil {
			return err
		}
		written, err := p.takeTurn(ctx, c)
		if err != nil {
			return err
		}
		if _, err := p.loadBook(ctx, c, written); err != nil {
			return err
		}
		version, err := p.checkGuards(ctx, c)
		var lacking *Unguarded
		if errors.As(err, &lacking) {
			added = []string{lacking.Lacks}
		} else if err != nil || version == postgresVersion {
			return err
		}
		if _, err := c.Exec(ctx, upgradeText(lacking != nil)); err != nil {
			return p.explain(err)
		}
		_, err = p.checkGuards(ctx, c)
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
		"SELECT pg_has_role(current_user, relowner, 'USAGE') FROM pg_catalog.pg_class WHERE oid = "+
			"'dprelease.entries'::regclass").Scan(&owner); err != nil {
		return p.explain(err)
	}
	if !owner {
		return fmt.Errorf("ledger %s: it is upgraded by the owner of its tables: run as the one who keeps it", p.name)
	}
	return nil
}

// upgradeText returns the statements that bring a ledger to postgresVersion. Functions of earlier versions looked names
// up wherever the session said, so all are replaced. The guard only_up protects the version: it is disabled for the
// update and enabled again.
func upgradeText(withByOwner bool) string {
	var b strings.Builder
	for _, g := range guards {
		b.WriteString(g.functionSQL())
	}
	if withByOwner {
		b.WriteString(byOwner.triggerSQL())
	}
	fmt.Fprintf(&b, `ALTER TABLE dprelease.ledger DISABLE TRIGGER only_up;
		UPDATE dprelease.ledger SET version = %d;
		ALTER TABLE dprelease.ledger ENABLE ALWAYS TRIGGER only_up;`, postgresVersion)
	return b.String()
}
