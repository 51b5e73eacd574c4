package engine

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"

	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/spec/domain"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// This file holds the types of PostgreSQL that are read, and how their binary form becomes Arrow values. Every value
// has one: what Arrow cannot hold, such as an infinite date, becomes a value outside every domain.

// postgresColumns returns how the columns of a table are read. Errors are *[source.Error].
func postgresColumns(ctx context.Context, c *pgx.Conn, r request,
	types []pgconn.FieldDescription) (columns []binaryColumn, err error) {
	for i, name := range r.columns {
		read := postgresTypes[types[i].DataTypeOID]
		switch {
		case types[i].DataTypeOID == pgtype.BPCharOID && types[i].TypeModifier < 0 && name == r.table.Unit.ID:
			return nil, &source.Error{Kind: source.WrongType, File: r.name(), Column: name,
				Message: "has the type bpchar, in which texts with other spaces at the end are equal; cast it in a " +
					"query to text, without them"}
		case types[i].DataTypeOID == pgtype.NumericOID:
			columns = append(columns, numericColumn(name, types[i].TypeModifier))
			continue
		case read != nil:
			columns = append(columns, read(name))
			continue
		}
		var kind, of string
		err := c.QueryRow(ctx, "SELECT typtype::pg_catalog.text, pg_catalog.format_type(oid, NULL) FROM "+
			"pg_catalog.pg_type WHERE oid OPERATOR(pg_catalog.=) $1",
			types[i].DataTypeOID).Scan(&kind, &of)
		switch {
		case err != nil:
			return nil, explainPostgres(r, err)
		case kind == "e": // the labels of an enumeration are sent as texts
			columns = append(columns, textColumn(name))
		default:
			return nil, unfitType(r, name, of)
		}
	}
	return columns, nil
}

// The days and microseconds from the epoch of Arrow, 1970, to that of PostgreSQL, 2000.
const (
	epochDays   = 10_957
	epochMicros = epochDays * 86_400_000_000
)

// postgresTypes are the columns by the type of their values, except decimals.
var postgresTypes = map[uint32]func(name string) binaryColumn{
	pgtype.BoolOID: func(name string) binaryColumn {
		return column(name, arrow.FixedWidthTypes.Boolean, func(b *array.BooleanBuilder, value []byte) bool {
			if len(value) != 1 {
				return false
			}
			b.Append(value[0] != 0)
			return true
		})
	},
	pgtype.Int2OID: integerColumn(2, func(b []byte) int64 { return int64(int16(binary.BigEndian.Uint16(b))) }),
	pgtype.Int4OID: integerColumn(4, func(b []byte) int64 { return int64(int32(binary.BigEndian.Uint32(b))) }),
	pgtype.Int8OID: integerColumn(8, func(b []byte) int64 { return int64(binary.BigEndian.Uint64(b)) }),
	pgtype.Float4OID: doubleColumn(4, func(b []byte) float64 {
		return float64(math.Float32frombits(binary.BigEndian.Uint32(b)))
	}),
	pgtype.Float8OID: doubleColumn(8,
		func(b []byte) float64 { return math.Float64frombits(binary.BigEndian.Uint64(b)) }),
	pgtype.TextOID:    textColumn,
	pgtype.VarcharOID: textColumn,
	pgtype.BPCharOID:  textColumn,
	pgtype.NameOID:    textColumn,
	pgtype.UUIDOID: func(name string) binaryColumn {
		c := column(name, &arrow.FixedSizeBinaryType{ByteWidth: 16},
			func(b *array.FixedSizeBinaryBuilder, value []byte) bool {
				if len(value) != 16 {
					return false
				}
				b.Append(value)
				return true
			})
		c.field.Metadata = source.UUIDMetadata
		return c
	},
	pgtype.DateOID: func(name string) binaryColumn {
		return column(name, arrow.FixedWidthTypes.Date32, func(b *array.Date32Builder, value []byte) bool {
			if len(value) != 4 {
				return false
			}
			days := int64(int32(binary.BigEndian.Uint32(value))) + epochDays
			b.Append(arrow.Date32(min(days, math.MaxInt32)))
			return true
		})
	},
	pgtype.TimestampOID:   timestampColumn,
	pgtype.TimestamptzOID: timestampColumn, // sent in UTC
}

func integerColumn(size int, number func([]byte) int64) func(name string) binaryColumn {
	return func(name string) binaryColumn {
		return column(name, arrow.PrimitiveTypes.Int64, func(b *array.Int64Builder, value []byte) bool {
			if len(value) != size {
				return false
			}
			b.Append(number(value))
			return true
		})
	}
}

func doubleColumn(size int, number func([]byte) float64) func(name string) binaryColumn {
	return func(name string) binaryColumn {
		return column(name, arrow.PrimitiveTypes.Float64, func(b *array.Float64Builder, value []byte) bool {
			if len(value) != size {
				return false
			}
			b.Append(number(value))
			return true
		})
	}
}

// timestampColumn reads microseconds. An infinite time becomes the last or the first one that there is.
func timestampColumn(name string) binaryColumn {
	of := &arrow.TimestampType{Unit: arrow.Microsecond}
	return column(name, of, func(b *array.TimestampBuilder, value []byte) bool {
		if len(value) != 8 {
			return false
		}
		micros := int64(binary.BigEndian.Uint64(value))
		b.Append(arrow.Timestamp(min(micros, math.MaxInt64-epochMicros) + epochMicros))
		return true
	})
}

// numericColumn reads decimals. Those of a declared precision and scale are numbers. Others are texts, as in a CSV
// file: each may have another number of digits.
func numericColumn(name string, modifier int32) binaryColumn {
	const header = 4 // of a modifier
	precision, scale := (modifier-header)>>16&0xffff, (modifier-header)&0x7ff
	if modifier >= header && precision <= mostDigits && scale <= precision {
		of := &arrow.Decimal128Type{Precision: mostDigits, Scale: scale}
		return column(name, of, func(b *array.Decimal128Builder, value []byte) bool {
			n, ok := readNumeric(value)
			if !ok {
				return false
			}
			unscaled, ok := n.unscaled(scale)
			b.Append(unscaled)
			return ok
		})
	}
	c := column(name, arrow.BinaryTypes.String, func(b *array.StringBuilder, value []byte) bool {
		n, ok := readNumeric(value)
		b.BinaryBuilder.Append(n.appendText(nil))
		return ok
	})
	c.text, c.field.Metadata = true, source.NumberMetadata
	return c
}

// mostDigits is the largest precision of an Arrow decimal.
const mostDigits = 38

// numeric is a decimal: sign · Σ digits[i]·10000^(weight − i), of which scale decimal places are shown.
type numeric struct {
	digits   []byte // big-endian numbers of 2 bytes
	weight   int
	scale    int
	negative bool
	special  string // the text of what is no number
}

// readNumeric reads the binary form of a decimal.
func readNumeric(b []byte) (n numeric, ok bool) {
	if len(b) < 8 || len(b) != 8+2*int(binary.BigEndian.Uint16(b)) {
		return n, false
	}
	n = numeric{digits: b[8:], weight: int(int16(binary.BigEndian.Uint16(b[2:]))),
		scale: int(binary.BigEndian.Uint16(b[6:]))}
	switch binary.BigEndian.Uint16(b[4:]) {
	case 0:
	case 0x4000:
		n.negative = true
	case 0xC000:
		n.special = "NaN"
	case 0xD000:
		n.special = "Infinity"
	case 0xF000:
		n.special = "-Infinity"
	default:
		return n, false
	}
	return n, true
}

// beyond is a decimal of more than 38 digits: it is outside every domain, as NaN is.
var beyond = decimal128.New(math.MaxInt64, math.MaxUint64)

// unscaled returns the number times 10^scale. It reports false if that is not whole or has more than 38 digits, which
// the column's own precision rules out.
func (n numeric) unscaled(scale int32) (decimal128.Num, bool) {
	if n.special != "" {
		return beyond, true
	}
	if len(n.digits) <= 2*4 && n.weight < 4 { // below 10^16
		if sum, ok := n.smallUnscaled(int(scale)); ok {
			return decimal128.FromI64(sum), true
		}
	}
	whole, shift := n.coefficient()
	shift += int(scale)
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(shift, -shift))), nil)
	if shift >= 0 {
		whole.Mul(whole, ten)
	} else if _, rest := whole.QuoRem(whole, ten, new(big.Int)); rest.Sign() != 0 {
		return decimal128.Num{}, false
	}
	if whole.BitLen() > 126 {
		return decimal128.Num{}, false
	}
	return decimal128.FromBigInt(whole), true
}

// smallUnscaled is unscaled for numbers below 10^16 with a scale that 64 bits hold. It reports false if they do not.
func (n numeric) smallUnscaled(scale int) (sum int64, ok bool) {
	if scale > 2 {
		return 0, false
	}
	for i := 0; i < len(n.digits); i += 2 {
		digit := int64(binary.BigEndian.Uint16(n.digits[i:]))
		switch power := 4*(n.weight-i/2) + scale; {
		case power >= 0:
			sum += digit * tens[power]
		case digit%tens[min(-power, 4)] != 0:
			return 0, false
		default:
			sum += digit / tens[min(-power, 4)]
		}
	}
	if n.negative {
		sum = -sum
	}
	return sum, true
}

// tens are the powers of ten.
var tens = func() (tens [19]int64) {
	tens[0] = 1
	for i := range tens[1:] {
		tens[i+1] = 10 * tens[i]
	}
	return tens
}()

// coefficient returns the number as whole·10^shift.
func (n numeric) coefficient() (whole *big.Int, shift int) {
	whole = new(big.Int)
	base := big.NewInt(10_000)
	for i := 0; i < len(n.digits); i += 2 {
		whole.Mul(whole, base).Add(whole, big.NewInt(int64(binary.BigEndian.Uint16(n.digits[i:]))))
	}
	if n.negative {
		whole.Neg(whole)
	}
	return whole, 4 * (n.weight + 1 - len(n.digits)/2)
}

// appendText appends the canonical text of the number.
func (n numeric) appendText(to []byte) []byte {
	if n.special != "" {
		return append(to, n.special...)
	}
	whole, shift := n.coefficient()
	if text, ok := domain.AppendDecimal(to, whole, int32(-shift)); ok {
		return text
	}
	// A number with so many digits is outside every domain; as an id it is different from every other.
	return fmt.Appendf(to, "%de%d", whole, shift)
}
