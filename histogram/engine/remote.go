package engine

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/parallel"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// This file holds the table of a PostgreSQL server that is counted there, in temporary tables of one transaction: no
// row leaves the server. What does is the distinct values of each column, and groups with their numbers of rows.
//
// Rows are joined with codes by their values in the binary form in which the server sends them (its functions int8send,
// textsend and so on), after a byte that says whether there is a value. So no collation, no padding and no rounding has
// a say in which values are equal, and they are read as those of rows that are fetched. All hashes are of bytes too.

// Of the columns of temporary tables i is the id, as an integer if it is one or a date, else as text in bytes; k0, k1 …
// are the values of the source's columns; c0, c1 … are the codes of columns; v0, v1 … are values that have a code.

// mostDistinct is the most distinct values of a column, or combinations of the values of several, that are read.
const mostDistinct = 1 << 22

// mostDistinctBytes is the most bytes that these have together.
const mostDistinctBytes = 1 << 30

// remotePostgres is a [scan.Remote]: a table of which the raw rows were made, in a transaction that goes on.
type remotePostgres struct {
	request
	server *pgx.Conn
	types  []pgconn.FieldDescription // of the request's columns
	id     string                    // the letter of the type of ids, "" if each row is a unit
	idText string                    // what gives the text of an id in bytes
	keys   []string                  // of the request's columns, what gives their values in binary form
	joins  []string                  // by column with codes, the join of raw rows with its codes
	codes  []string                  // by column with codes, what gives the code
	rows   int64                     // of the source
	counts string                    // the table of the rows that count
	number int                       // of the table, among those of the server that stay
}

// temporary returns the name of a temporary table of this one: no other session sees it, and no other table of the
// server has it. Of the kinds raw has i and all k of every row, coded i and all c of every row, counted the rows that
// count if not all do, bounded all c of the rows that stay, key the keys of contents and of priorities, and codesN the
// values of column N with their codes.
func (p *remotePostgres) temporary(kind string) string {
	return fmt.Sprintf("pg_temp.dprelease_%s_%d", kind, p.number)
}

// identifier is the name as pgx takes it.
func identifier(temporary string) pgx.Identifier { return strings.Split(temporary, ".") }

// newRemote makes the raw rows of a table, in a transaction that has begun and may write. What reads the source may
// not. The search path is still the user's, by which the table is found; so every function and operator is named with
// its schema, and nobody else's takes its place.
func newRemote(ctx context.Context, c *pgx.Conn, r request, number int) (*remotePostgres, error) {
	p := &remotePostgres{request: r, server: c, number: number, keys: make([]string, len(r.columns))}
	var err error
	if p.types, err = describePostgres(ctx, c, r); err != nil {
		return nil, err
	}
	read, err := postgresColumns(ctx, c, r, p.types) // which refuses types that are not read
	if err != nil {
		return nil, err
	}
	releaseColumns(read)
	id := "NULL::pg_catalog.bytea"
	if !r.table.Unit.Row {
		if id, p.id, err = p.idSQL(); err != nil {
			return nil, err
		}
	}
	if p.idText = "i"; isNumber(p.id) {
		p.idText = "convert_to(i::text, 'UTF8')"
	}
	selected := []string{id + " AS i"}
	for i, name := range r.columns {
		if p.keys[i], err = p.keySQL(ctx, i); err != nil {
			return nil, err
		}
		selected = append(selected, fmt.Sprintf("%s AS k%d", columnSQL(name, p.types[i].DataTypeOID), i))
	}
	raw, query := p.temporary("raw"), "SELECT "+strings.Join(selected, ", ")+" FROM "+r.rowsSQL()
	if err := p.remake(ctx, raw, query+" WITH NO DATA"); err != nil {
		return nil, err
	}
	if err := readOnly(ctx, c, r, func() error {
		tag, err := c.Exec(ctx, "INSERT INTO "+raw+" "+query)
		if p.rows = tag.RowsAffected(); err != nil {
			return explainPostgres(r, err)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	if p.id != "T" {
		return p, nil
	}
	long, err := p.count(ctx, fmt.Sprintf(
		"SELECT pg_catalog.count(*) FROM %s WHERE pg_catalog.octet_length(i) OPERATOR(pg_catalog.>) %d", raw,
		source.MostID))
	if err == nil && long > 0 {
		err = &source.Error{Kind: source.Malformed, File: r.name(), Column: r.table.Unit.ID,
			Message: fmt.Sprintf("an id has more than %d bytes; write it shorter", source.MostID)}
	}
	return p, err
}

// isNumber reports whether ids of the type of a letter are kept as integers.
func isNumber(letter string) bool { return letter == "I" || letter == "D" }

// run runs statements.
func (p *remotePostgres) run(ctx context.Context, statements ...string) error {
	for _, s := range statements {
		if _, err := p.server.Exec(ctx, s); err != nil {
			return explainPostgres(p.request, err)
		}
	}
	return nil
}

// remake makes a temporary table anew from a query. It is not analysed: statistics hold values, and stay in the log of
// the server.
func (p *remotePostgres) remake(ctx context.Context, table, query string) error {
	return p.run(ctx, "DROP TABLE IF EXISTS "+table, "CREATE TEMPORARY TABLE "+table+" ON COMMIT DROP AS "+query)
}

// count returns the number that a query gives.
func (p *remotePostgres) count(ctx context.Context, query string) (n int64, err error) {
	if err = p.server.QueryRow(ctx, query).Scan(&n); err != nil {
		err = explainPostgres(p.request, err)
	}
	return n, err
}

// idSQL returns what gives an id, and the letter of its type ([bounding.IDText]): an integer, of which the text is made
// where it is hashed, or the text as bytes.
func (p *remotePostgres) idSQL() (id, letter string, err error) {
	column := p.table.Unit.ID
	name := quoteName(column)
	switch p.types[slices.Index(p.columns, column)].DataTypeOID {
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID:
		return name + "::pg_catalog.int8", "I", nil
	case pgtype.UUIDOID:
		return "pg_catalog.convert_to(" + name + "::pg_catalog.text, 'UTF8')", "U", nil
	case pgtype.DateOID: // infinite dates have the days that they have when they are read (postgresTypes)
		return fmt.Sprintf(`CASE WHEN pg_catalog.isfinite(%[1]s)
			THEN (%[1]s OPERATOR(pg_catalog.-) '1970-01-01'::pg_catalog.date)::pg_catalog.int8
			WHEN %[1]s OPERATOR(pg_catalog.>) '1970-01-01'::pg_catalog.date THEN '%[2]d'::pg_catalog.int8
			WHEN %[1]s IS NOT NULL THEN '%[3]d'::pg_catalog.int8 END`,
			name, math.MaxInt32, math.MinInt32+epochDays), "D", nil
	case pgtype.TextOID, pgtype.VarcharOID:
		return fmt.Sprintf("pg_catalog.textsend(pg_catalog.left(%s::pg_catalog.text, %d))", name, source.MostID+1),
			"T", nil
	}
	return "", "", &source.Error{Kind: source.WrongType, File: p.name(), Column: column,
		Message: "has a type by which units are not told apart in the database; cast it in a query to text, bigint, " +
			"uuid or date"}
}

// keySQL returns what gives the value of a column of the raw rows in binary form, after a byte that is 0 for null.
func (p *remotePostgres) keySQL(ctx context.Context, column int) (string, error) {
	var send string
	err := p.server.QueryRow(ctx,
		"SELECT pg_catalog.quote_ident(proname) FROM pg_catalog.pg_proc JOIN pg_catalog.pg_type ON typsend "+
			"OPERATOR(pg_catalog.=) pg_proc.oid WHERE pg_type.oid OPERATOR(pg_catalog.=) $1",
		p.types[column].DataTypeOID).Scan(&send)
	if err != nil {
		return "", explainPostgres(p.request, err)
	}
	return fmt.Sprintf(`CASE WHEN k%[1]d IS NULL THEN '\x00'::pg_catalog.bytea ELSE '\x01'::pg_catalog.bytea || pg_catalog.%[2]s(k%[1]d) END`,
		column, send), nil
}

// Encode gives every row a code. Integers of a range are looked up among the codes of the whole range, which are part
// of the statement, as they do not depend on data. Of other columns it reads the distinct values, and joins the rows
// with their codes.
func (p *remotePostgres) Encode(ctx context.Context, number int, made scan.Made, codesOf codesOf) error {
	p.joins, p.codes = p.joins[:number], p.codes[:number]
	columns := made.Columns
	wanted, types := request{table: p.table}, make([]pgconn.FieldDescription, len(columns))
	keys := make([]string, len(columns))
	for i, c := range columns {
		at := slices.Index(p.columns, c.Name)
		wanted.columns, types[i], keys[i] = append(wanted.columns, c.Name), p.types[at], p.keys[at]
		if len(columns) == 1 && isInteger(types[0]) {
			keys[0] = fmt.Sprintf("k%d", at)
		}
	}
	read, err := postgresColumns(ctx, p.server, wanted, types)
	if err != nil {
		return err
	}
	defer releaseColumns(read)
	for i, c := range columns {
		if err := source.CheckField(c, p.name(), read[i].field); err != nil {
			return err
		}
	}
	if r := made.Integers; r != nil && isInteger(types[0]) {
		p.joins, p.codes = append(p.joins, ""),
			append(p.codes, lookupSQL(keys[0], *r, codesOf([]arrow.Array{r.Values()})))
		return nil
	}
	d := &distinctValues{of: wanted, columns: read, codesOf: codesOf, integers: len(columns) == 1 &&
		isInteger(types[0])}
	stream := &binaryStream{fields: len(columns), row: d.add}
	query := "SELECT DISTINCT " + strings.Join(keys, ", ") + " FROM " + p.temporary("raw")
	if err = copyOut(ctx, p.server, p.request, query, stream, stream, stream.finish); err == nil {
		if d.integers { // null has a code whether or not there is one: no statement depends on that
			err = d.add([][]byte{nil})
		}
		if err == nil {
			err = d.encode()
		}
	}
	if err != nil {
		return err
	}
	table, as, entries := p.temporary(fmt.Sprint("codes", number)), fmt.Sprint("d", number), d.entries()
	join, code, keyType := " JOIN ", as+".code", " bytea NOT NULL"
	if d.integers { // of which null is the only value without an entry
		join, keyType = " LEFT JOIN ", " bigint NOT NULL"
		code = fmt.Sprintf("CASE WHEN %s IS NULL THEN %d ELSE %s END", keys[0], d.nullCode, code)
	}
	names, on := make([]string, len(columns)), make([]string, len(columns))
	for i, key := range keys {
		names[i], on[i] = fmt.Sprintf("v%d", i), fmt.Sprintf("%s.v%d = %s", as, i, key)
	}
	err = p.run(ctx, "DROP TABLE IF EXISTS "+table, "CREATE TEMPORARY TABLE "+table+" ("+
		strings.Join(names, keyType+", ")+keyType+", code bigint NOT NULL) ON COMMIT DROP")
	if err != nil {
		return err
	}
	if _, err := p.server.CopyFrom(ctx, identifier(table), append(names, "code"), entries); err != nil {
		return explainPostgres(p.request, err)
	}
	p.joins, p.codes = append(p.joins, join+table+" AS "+as+" ON "+strings.Join(on, " AND ")), append(p.codes, code)
	return nil
}

// lookupSQL returns what gives the code of an integer, from the codes of the values of a range. No case can fail,
// whatever the integer is.
func lookupSQL(key string, r scan.Integers, codes []uint32) string {
	inside := codes[2 : len(codes)-1]
	texts := make([]string, len(inside))
	for i, code := range inside {
		texts[i] = fmt.Sprint(code)
	}
	return fmt.Sprintf(`CASE WHEN %[1]s >= (%[2]d) AND %[1]s <= (%[3]d)
		THEN ('{%[4]s}'::bigint[])[(%[1]s - (%[2]d) + 1)::integer]
		WHEN %[1]s < (%[2]d) THEN %[5]d WHEN %[1]s > (%[3]d) THEN %[6]d ELSE %[7]d END`,
		key, r.Low, r.High, strings.Join(texts, ","), codes[1], codes[len(codes)-1], codes[0])
}

// isInteger reports whether values of a type are joined as the integers that they are.
func isInteger(of pgconn.FieldDescription) bool {
	return of.DataTypeOID == pgtype.Int2OID || of.DataTypeOID == pgtype.Int4OID || of.DataTypeOID == pgtype.Int8OID
}

// distinctValues are the distinct values of a column, or combinations of the values of several, and their codes.
type distinctValues struct {
	of       request
	columns  []binaryColumn
	codesOf  codesOf
	integers bool // of a single column, as they are: null is null
	nullCode uint32
	values   [][]byte // row by row, as the server has them
	codes    []uint32
	pending  int // rows without codes
	bytes    int
}

// add adds a row: of each column a byte, which is 0 for null, and the value; or an integer.
func (d *distinctValues) add(values [][]byte) error {
	for i, value := range values {
		null, rest := value == nil, value
		if !d.integers {
			if len(value) == 0 {
				return errValue
			}
			null, rest = value[0] == 0, value[1:]
		}
		if null {
			d.columns[i].build.AppendNull()
		} else if !d.columns[i].add(rest) {
			return errValue
		}
		d.values = append(d.values, slices.Clone(value))
		d.bytes += len(value)
	}
	if d.pending++; len(d.codes)+d.pending > mostDistinct || d.bytes > mostDistinctBytes {
		return &source.Error{Kind: source.Malformed, File: d.of.name(), Column: strings.Join(d.of.columns, ", "),
			Message: fmt.Sprintf("has more than %d distinct values, or very long ones, the most that are encoded for "+
				"a table that is counted in its database; round them in a query, or take out stay: true",
				mostDistinct)}
	}
	if d.pending == source.MaxRows {
		return d.encode()
	}
	return nil
}

// encode gives codes to the rows that have none.
func (d *distinctValues) encode() error {
	arrays := newArrays(d.columns)
	for i, a := range arrays {
		var err error
		if arrays[i], err = source.Convert(d.of.columns[i], d.of.name(), d.columns[i].field, a); err != nil {
			return err
		}
	}
	if d.pending > 0 {
		d.codes = append(d.codes, d.codesOf(arrays)...)
	}
	d.pending = 0
	return nil
}

// entries returns the rows of the table of codes. Of integers it has no null, whose code is kept.
func (d *distinctValues) entries() pgx.CopyFromSource {
	n := len(d.columns)
	if !d.integers {
		return pgx.CopyFromSlice(len(d.codes), func(i int) ([]any, error) {
			row := make([]any, 0, n+1)
			for _, value := range d.values[i*n : (i+1)*n] {
				row = append(row, value)
			}
			return append(row, int64(d.codes[i])), nil
		})
	}
	var rows [][]any
	for i, value := range d.values {
		if value == nil {
			d.nullCode = d.codes[i]
			continue
		}
		integer := int64(int8(value[0])) // sign, then the bytes from the highest
		for _, b := range value[1:] {
			integer = integer<<8 | int64(b)
		}
		rows = append(rows, []any{integer, int64(d.codes[i])})
	}
	return pgx.CopyFromRows(rows)
}

// Judge counts what does not count, and makes the rows that do.
func (p *remotePostgres) Judge(ctx context.Context, j scan.Judgement) (found scan.Judged, err error) {
	if len(j.Sizes) != len(p.codes) {
		return found, parallel.ErrBug
	}
	codes := []string{"i"}
	for i, code := range p.codes {
		of := "bigint"
		if int64(j.Sizes[i])+int64(j.Kinds[i]) < math.MaxInt16 {
			of = "smallint"
		}
		codes = append(codes, fmt.Sprintf("(%s)::%s AS c%d", code, of, i))
	}
	coded := p.temporary("coded")
	err = p.remake(ctx, coded, "SELECT "+strings.Join(codes, ", ")+" FROM "+p.temporary("raw")+strings.Join(p.joins,
		""))
	if err != nil {
		return found, err
	}
	numbers, stays := judgementSQL(j)
	without := []string{"false"}
	for i := range p.codes {
		without = append(without, fmt.Sprintf("c%d IS NULL", i))
	}
	numbers = append(numbers, "count(*) FILTER (WHERE "+strings.Join(without, " OR ")+")")
	values, err := p.numbers(ctx, "SELECT "+strings.Join(numbers, ", ")+" FROM "+coded)
	if err != nil {
		return found, err
	}
	if len(values) != len(numbers) || values[0] != p.rows || values[len(values)-1] != 0 {
		return found, p.lostRows()
	}
	found = judgedOf(j, values)
	if p.counts = coded; found.Counted == found.Rows {
		return found, nil
	}
	p.counts = p.temporary("counted")
	return found, p.remake(ctx, p.counts, "SELECT * FROM "+coded+" WHERE "+stays)
}

// judgedOf returns the numbers that [judgementSQL] asks for, given in that order.
func judgedOf(j scan.Judgement, values []int64) (found scan.Judged) {
	next := func(n int) (taken []int64) { taken, values = values[:n], values[n:]; return taken }
	found.Rows, found.Inside = next(1)[0], next(1)[0]
	for _, kinds := range j.Kinds {
		found.LeftOut, found.Breaches = append(found.LeftOut, next(1)[0]), append(found.Breaches, next(kinds))
	}
	found.Ruled = next(len(j.Rules))
	found.WithoutID, found.Counted = next(1)[0], next(1)[0]
	return found
}

// judgementSQL returns the numbers that a judgement asks for, in the order of [scan.Judged], and the condition of the
// rows that count.
func judgementSQL(j scan.Judgement) (numbers []string, stays string) {
	outside := "false"
	if j.Where >= 0 {
		outside = fmt.Sprintf("c%d = %d", j.Where, j.Sizes[j.Where])
	}
	left := []string{outside}
	for i, size := range j.Sizes[:j.Columns] {
		left = append(left, fmt.Sprintf("c%d = %d", i, size))
	}
	ofColumns := "NOT (" + strings.Join(left, " OR ") + ")"
	stays = ofColumns
	numbers = []string{"count(*)", "count(*) FILTER (WHERE NOT (" + outside + "))"}
	for i, size := range j.Sizes {
		for kind := range 1 + j.Kinds[i] {
			numbers = append(numbers,
				fmt.Sprintf("count(*) FILTER (WHERE c%d = %d AND NOT (%s))", i, int64(size)+int64(kind), outside))
		}
	}
	for _, rule := range j.Rules {
		met := ruleSQL(rule)
		numbers = append(numbers, "count(*) FILTER (WHERE "+met+" AND "+ofColumns+")")
		if rule.Drop {
			stays += " AND NOT " + met
		}
	}
	numbers = append(numbers, "count(*) FILTER (WHERE i IS NULL AND NOT ("+outside+"))")
	if j.DropsIDless {
		stays += " AND i IS NOT NULL"
	}
	numbers = append(numbers, "count(*) FILTER (WHERE "+stays+")")
	return numbers, stays
}

// ruleSQL returns the condition of rows that meet a rule.
func ruleSQL(rule scan.Ruled) string {
	var conditions []string
	for i, column := range rule.Columns {
		codes := make([]string, len(rule.Codes[i]))
		for at, code := range rule.Codes[i] {
			codes[at] = fmt.Sprint(code)
		}
		conditions = append(conditions, fmt.Sprintf("c%d IN (%s)", column, strings.Join(append(codes, "-1"), ", ")))
	}
	return "(" + strings.Join(conditions, " AND ") + ")"
}

// lostRows returns the error of rows that were there before and are not.
func (p *remotePostgres) lostRows() error {
	return &source.Error{Kind: source.Unreadable, File: p.name(),
		Message: "the server gave another number of rows than before; run again"}
}

// numbers returns the numbers of the one row that a query gives.
func (p *remotePostgres) numbers(ctx context.Context, query string) (all []int64, err error) {
	rows, err := p.server.Query(ctx, query)
	if err != nil {
		return nil, explainPostgres(p.request, err)
	}
	defer rows.Close()
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			return nil, explainPostgres(p.request, err)
		}
		for _, v := range values {
			n, ok := v.(int64)
			if !ok {
				return nil, p.lostRows()
			}
			all = append(all, n)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, explainPostgres(p.request, err)
	}
	return all, nil
}

// Occurring returns the distinct codes of a column in the rows that count.
func (p *remotePostgres) Occurring(ctx context.Context, column int) ([]uint32, error) {
	var all []uint32
	return all, p.eachGroup(ctx, p.counts, []int{column}, func(codes []uint32, _ int64) error {
		all = append(all, codes[0])
		return nil
	})
}

// Bound makes the rows that stay. Rows are sorted by unit once; only those of units with too many are hashed. The keys
// go to the server as data of a COPY, which no log of statements has.
func (p *remotePostgres) Bound(ctx context.Context, b scan.Bound) (int64, error) {
	codes := make([]string, len(p.codes))
	for i := range codes {
		codes[i] = fmt.Sprintf("c%d", i)
	}
	all := strings.Join(codes, ", ")
	if all == "" {
		all = "i"
	}
	bounded, key := p.temporary("bounded"), p.temporary("key")
	if b.MaxRows == 0 {
		if err := p.remake(ctx, bounded, "SELECT "+all+" FROM "+p.counts); err != nil {
			return 0, err
		}
		return p.count(ctx, "SELECT count(*) FROM "+bounded)
	}
	err := p.run(ctx, "DROP TABLE IF EXISTS "+key,
		"CREATE TEMPORARY TABLE "+key+" (contents bytea NOT NULL, priorities bytea NOT NULL) ON COMMIT DROP")
	if err != nil {
		return 0, err
	}
	_, err = p.server.CopyFrom(ctx, identifier(key), []string{"contents", "priorities"},
		pgx.CopyFromRows([][]any{{b.Content[:], b.Row[:]}}))
	if err != nil {
		return 0, explainPostgres(p.request, err)
	}
	content := ""
	for some := range slices.Chunk(b.Contents, 64) { // as a function has at most 100 arguments
		content += "concat_ws(','"
		for _, column := range some {
			content += fmt.Sprintf(", c%d", column)
		}
		content += ", '') || " // with a comma after the last code
	}
	hash := func(message string) string { return "substr(sha256(" + message + "), 1, 16)" }
	err = p.remake(ctx, bounded, fmt.Sprintf(`WITH
sized AS (SELECT *, count(*) OVER (PARTITION BY i) AS size FROM %[1]s),
hashed AS (SELECT sized.*, CASE WHEN size > %[2]d THEN %[3]s END AS content FROM sized CROSS JOIN %[4]s AS key),
numbered AS (SELECT *, row_number() OVER (PARTITION BY i, content) AS number FROM hashed),
ranked AS (SELECT *, row_number() OVER (PARTITION BY i ORDER BY
	CASE WHEN size <= %[2]d OR number = 1 THEN content ELSE %[5]s END) AS rank FROM numbered CROSS JOIN %[4]s AS key)
SELECT %[6]s FROM ranked WHERE rank <= %[2]d`,
		p.counts, b.MaxRows, hash("key.contents || convert_to("+content+"'"+p.id+"', 'UTF8') || "+p.idText), key,
		hash("key.priorities || convert_to('t' || number::text || ':' || encode(content, 'hex'), 'UTF8')"), all))
	if err != nil {
		return 0, err
	}
	if err := p.run(ctx, "DROP TABLE "+key); err != nil {
		return 0, err
	}
	return p.count(ctx, "SELECT count(*) FROM "+bounded)
}

// Groups visits the groups of the rows that stay.
func (p *remotePostgres) Groups(ctx context.Context, columns []int,
	visit func(codes []uint32, rows int64) error) error {
	return p.eachGroup(ctx, p.temporary("bounded"), columns, visit)
}

// eachGroup visits the distinct combinations of codes in a temporary table, with how many rows have each.
func (p *remotePostgres) eachGroup(ctx context.Context, table string, columns []int,
	visit func(codes []uint32, rows int64) error) error {
	var names, selected []string
	for _, c := range columns {
		names, selected = append(names, fmt.Sprintf("c%d", c)), append(selected, fmt.Sprintf("c%d::bigint", c))
	}
	query := "SELECT " + strings.Join(append(selected, "count(*)"), ", ") + " FROM " + table
	if names != nil {
		query += " GROUP BY " + strings.Join(names, ", ")
	}
	codes := make([]uint32, len(columns))
	stream := &binaryStream{fields: len(columns) + 1, row: func(values [][]byte) error {
		for _, value := range values {
			if len(value) != 8 {
				return errValue
			}
		}
		for i := range codes {
			codes[i] = uint32(binary.BigEndian.Uint64(values[i]))
		}
		return visit(codes, int64(binary.BigEndian.Uint64(values[len(columns)])))
	}}
	return copyOut(ctx, p.server, p.request, query, stream, stream, stream.finish)
}
