package ledger

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	address "github.com/dprelease/dprelease/internal/postgres"
)

// row is a row of the table of entries.
type row struct {
	sequence                       int64
	body, private, hash, signature string
}

const selectRows = "SELECT sequence, body, private, hash, signature FROM {entries} ORDER BY sequence"

// rowsOf reads the table of entries without the ledger's code.
func rowsOf(t testing.TB, place string) []row {
	t.Helper()
	var all []row
	if address.IsAddress(place) {
		ctx := context.Background()
		c, err := pgx.Connect(ctx, place)
		must(t, err)
		defer c.Close(ctx)
		rows, err := c.Query(ctx, below(place, selectRows))
		must(t, err)
		defer rows.Close()
		for rows.Next() {
			var r row
			must(t, rows.Scan(&r.sequence, &r.body, &r.private, &r.hash, &r.signature))
			all = append(all, r)
		}
		must(t, rows.Err())
		return all
	}
	rows, err := raw(t, place).Query(below(place, selectRows))
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var r row
		must(t, rows.Scan(&r.sequence, &r.body, &r.private, &r.hash, &r.signature))
		all = append(all, r)
	}
	must(t, rows.Err())
	return all
}

// below returns a statement on the tables {entries} and {counter} ({count}) for the place.
func below(place, statement string) string {
	words := strings.NewReplacer("{entries}", "entries", "{counter}", "sqlite_sequence", "{count}", "seq")
	if address.IsAddress(place) {
		words = strings.NewReplacer("{entries}", "dprelease.entries", "{counter}", "dprelease.ledger", "{count}",
			"written")
	}
	return words.Replace(statement)
}

// alter runs statements without the ledger's knowledge, with the guards of the entries disabled.
func alter(t testing.TB, place string, statements ...string) {
	t.Helper()
	var words []string
	for _, s := range statements {
		words = append(words, below(place, s))
	}
	if address.IsAddress(place) {
		before := []string{"ALTER TABLE dprelease.entries DISABLE TRIGGER kept",
			"ALTER TABLE dprelease.ledger DISABLE TRIGGER only_up", "ALTER TABLE dprelease.ledger DISABLE TRIGGER kept"}
		server(t, place, append(before, words...)...)
		return
	}
	db, err := openSQLite(place, url.Values{"mode": {"rw"}})
	must(t, err)
	defer db.Close()
	execute(t, db, append([]string{"DROP TRIGGER IF EXISTS entries_are_never_changed",
		"DROP TRIGGER IF EXISTS entries_are_never_removed"}, words...)...)
}

// busyAt returns a ledger of nine entries: init, then reserve and debit of a and b, reserve and cancel of c, reserve d
// and e.
func busyAt(t testing.TB, place, witness string) *Ledger {
	ctx := context.Background()
	l := openAt(t, place)
	must(t, l.Init(ctx, witnessedBy(witness)))
	debit(t, l, charge("a", "aa", "1"))
	debit(t, l, charge("b", "bb", "1"))
	must(t, l.Reserve(ctx, charge("c", "cc", "1")))
	must(t, l.Cancel(ctx, charge("c", "cc", "1")))
	must(t, l.Reserve(ctx, charge("d", "dd", "1")))
	must(t, l.Reserve(ctx, charge("e", "ee", "1")))
	return l
}

// putBack restores the tables.
func putBack(t testing.TB, place string, rows []row) {
	t.Helper()
	statements := []string{"DELETE FROM {entries}"}
	for _, r := range rows {
		statements = append(statements, fmt.Sprintf("INSERT INTO {entries} VALUES (%d, '%s', '%s', '%s', '%s')",
			r.sequence,
			r.body, r.private, r.hash, r.signature))
	}
	counted := fmt.Sprintf("INSERT INTO {counter} VALUES ('entries', %d)", len(rows))
	if address.IsAddress(place) {
		counted = fmt.Sprintf("INSERT INTO {counter} VALUES (true, %d, %d)", postgresVersion, len(rows))
	}
	alter(t, place, append(statements, "DELETE FROM {counter}", counted)...)
}

func TestTamperingFromBelow(t *testing.T) {
	ctx := context.Background()
	cases := map[string]struct {
		statements []string
		sequence   int64
	}{
		"cheaper": {[]string{
			`UPDATE {entries} SET body = replace(body, '"epsilon":"1"', '"epsilon":"0.1"') WHERE sequence = 3`}, 3},
		"other time": {[]string{`UPDATE {entries} SET private = replace(private, ':', ';') WHERE sequence = 9`}, 9},
		"other commitment": {[]string{
			`UPDATE {entries} SET private = replace(private, '}', ',"commitment":"00"}') WHERE sequence = 5`}, 5},
		"other hash": {[]string{
			`UPDATE {entries} SET hash = CASE WHEN hash LIKE 'f%' THEN 'e' ELSE 'f' END || substr(hash, 2) WHERE sequence = 4`},
			4},
		"no hash":          {[]string{`UPDATE {entries} SET hash = '' WHERE sequence = 4`}, 4},
		"signed":           {[]string{`UPDATE {entries} SET signature = 'AAAA' WHERE sequence = 4`}, 4},
		"removed first":    {[]string{"DELETE FROM {entries} WHERE sequence = 1"}, 1},
		"removed":          {[]string{"DELETE FROM {entries} WHERE sequence = 5"}, 5},
		"removed last":     {[]string{"DELETE FROM {entries} WHERE sequence = 9"}, 9},
		"removed last two": {[]string{"DELETE FROM {entries} WHERE sequence > 7"}, 8},
		"removed all":      {[]string{"DELETE FROM {entries}"}, 1},
		"count taken back": {[]string{"UPDATE {counter} SET {count} = 7"}, 8},
		"count raised":     {[]string{"UPDATE {counter} SET {count} = 10"}, 10},
		"count removed":    {[]string{"DELETE FROM {counter}"}, 1},
		"removed and counted down, with a witness": {[]string{"DELETE FROM {entries} WHERE sequence > 7",
			"UPDATE {counter} SET {count} = 7"}, 8},
		// 2 and 3 came in one update, with one head
		"all removed and counted down": {[]string{"DELETE FROM {entries} WHERE sequence > 1",
			"UPDATE {counter} SET {count} = 1"}, 3},
		"removed and closed up": {[]string{"DELETE FROM {entries} WHERE sequence = 8",
			"UPDATE {entries} SET sequence = 8 WHERE sequence = 9",
			"UPDATE {counter} SET {count} = 8"}, 8},
		"swapped": {[]string{"UPDATE {entries} SET sequence = 100 WHERE sequence = 4",
			"UPDATE {entries} SET sequence = 4 WHERE sequence = 5",
			"UPDATE {entries} SET sequence = 5 WHERE sequence = 100"}, 4},
		"contents swapped": {[]string{
			"UPDATE {entries} SET body = (SELECT body FROM {entries} AS other WHERE other.sequence = 2) WHERE " +
				"sequence = 4"}, 4},
		"repeated": {[]string{
			"INSERT INTO {entries} SELECT 10, body, private, hash, signature FROM {entries} WHERE sequence = 9",
			"UPDATE {counter} SET {count} = 10"}, 10},
		"not an entry": {[]string{"INSERT INTO {entries} VALUES (10, 'x', 'y', 'z', '')",
			"UPDATE {counter} SET {count} = 10"}, 10},
	}
	atEveryPlace(t, func(t *testing.T, place string) {
		l := busyAt(t, place, t.TempDir()+"/heads")
		rows := rowsOf(t, place)
		for name, c := range cases {
			alter(t, place, c.statements...)
			_, debitErr := l.Debit(ctx, charge("z", "ff", "1"))
			_, againErr := l.Debit(ctx, charge("a", "aa", "1"))
			_, showErr := l.Show(ctx, "people")
			for what, err := range map[string]error{"Verify": l.Verify(ctx), "Debit": debitErr, "Debit again": againErr,
				"Show": showErr} {
				var tampered *Tampered
				if !errors.As(err, &tampered) || !errors.Is(err, ErrTampered) {
					t.Errorf("%s: %s: got %v; want ErrTampered", name, what, err)
					continue
				}
				if tampered.Sequence != c.sequence {
					t.Errorf("%s: %s names entry %d; want %d (%v)", name, what, tampered.Sequence, c.sequence, err)
				}
			}
			putBack(t, place, rows)
			show(t, l) // as before
		}
	})
}

// Removing entries from the end, and setting back the count, makes an older copy, which only a witness detects.
func TestTakenOffAndCountedDownWithoutAWitness(t *testing.T) {
	atEveryPlace(t, func(t *testing.T, place string) {
		l := freshAt(t, place, "10")
		debit(t, l, charge("a", "aa", "1"))
		alter(t, place, "DELETE FROM {entries} WHERE sequence > 1", "UPDATE {counter} SET {count} = 1")
		assertBalance(t, l, "0", "0", "10")
	})
}

// TestFlippedBits flips one bit of what one row holds: each is noticed, at that row.
func TestFlippedBits(t *testing.T) {
	atEveryPlace(t, func(t *testing.T, place string) {
		l := busyAt(t, place, t.TempDir()+"/heads")
		rows := rowsOf(t, place)
		for range 30 {
			r := rows[rand.IntN(len(rows))]
			column := []string{"body", "private", "hash"}[rand.IntN(3)]
			was := map[string]string{"body": r.body, "private": r.private, "hash": r.hash}[column]
			spoiled := []byte(was)
			spoiled[rand.IntN(len(was))] ^= 1 << rand.IntN(5) // of the low five bits: what stays is text
			if strings.ContainsRune(string(spoiled), 0) {
				continue
			}
			set := func(text string) {
				alter(t, place, fmt.Sprintf("UPDATE {entries} SET %s = '%s' WHERE sequence = %d", column,
					strings.ReplaceAll(text, "'", "''"), r.sequence))
			}
			set(string(spoiled))
			var tampered *Tampered
			if err := l.Verify(context.Background()); !errors.As(err, &tampered) || tampered.Sequence != r.sequence {
				t.Errorf("%s of entry %d was changed from\n%s to\n%s: %v", column, r.sequence, was, spoiled, err)
			}
			set(was)
		}
		if address.IsAddress(place) {
			server(t, place, "ALTER TABLE dprelease.entries ENABLE ALWAYS TRIGGER kept",
				"ALTER TABLE dprelease.ledger ENABLE ALWAYS TRIGGER kept",
				"ALTER TABLE dprelease.ledger ENABLE ALWAYS TRIGGER only_up")
		}
		must(t, l.Verify(context.Background()))
	})
}
