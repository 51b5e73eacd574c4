package ledger

// The ledger as an auditor gets it: the public body of every entry, and only the hash of its private part.

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget/sign"
	"github.com/dprelease/dprelease/internal/canonical"
)

// exportFormat names the format of an export: a header line, one line for each entry, and a last line with the head.
const exportFormat = "dprelease.ledger/1"

// maxExportLine bounds a line of an export, in bytes.
const maxExportLine = 1 << 26

type exportHeader struct {
	Format string         `json:"format"`
	Office sign.PublicKey `json:"office,omitzero"` // who signs every entry; none where the ledger is not signed
}

type exportEntry struct {
	Body      string `json:"body"`   // canonical JSON
	Sealed    string `json:"sealed"` // SHA-256 of the private part
	Hash      string `json:"hash"`   // SHA-256(hash before ‖ sealed ‖ body)
	Signature string `json:"signature,omitempty"`
}

type exportEnd struct {
	Head    string `json:"head"`
	Entries int64  `json:"entries"`
}

// Export writes the public part of every entry, with what is needed to check the chain, as JSON lines; see
// [ReadExport]. The time of day, salts and commitments are left out. An export does show attempts that failed and
// charges that were only reserved: it is for an auditor, not for the public. Errors: wraps ErrTampered.
func (l *Ledger) Export(ctx context.Context, w io.Writer) error {
	b, err := l.view(ctx)
	if err != nil {
		return err
	}
	return b.writeExport(w)
}

func (b *book) writeExport(w io.Writer) error {
	buffered := bufio.NewWriter(w)
	put := func(v any) error {
		text, err := canonical.Line(v)
		if err == nil {
			_, err = buffered.WriteString(text + "\n")
		}
		return err
	}
	err := put(exportHeader{exportFormat, b.office})
	for _, l := range b.lines {
		err = errors.Join(err, put(exportEntry{l.body, digestOf(l.private).String(), l.hash.String(), l.signature}))
	}
	err = errors.Join(err, put(exportEnd{b.head.String(), b.sequence}), buffered.Flush())
	if err != nil {
		return fmt.Errorf("ledger %s: exporting: %w", b.ledger, err)
	}
	return nil
}

// Export is a ledger read from what [Ledger.Export] wrote, checked from beginning to end.
type Export struct {
	Office  sign.PublicKey // the key that signs every entry; zero if none does
	Head    string         // hash of the last entry
	Entries int64
	Day     string // YYYY-MM-DD, UTC, of the last entry

	book *book
}

// ReadExport reads an export. It checks that the entries form one chain, that the office's key signs every entry if the
// first one names a key, and that every entry is admissible after those before it: no account is overspent, and nothing
// is reserved without the approvals that its accounts require. It needs nothing but the export.
//
// It cannot check whether the office's key is the true one, whether the export is the newest, or what was left out of
// the ledger itself. Errors: *Tampered for the first entry that does not fit; another error if r does not hold an
// export.
func ReadExport(r io.Reader) (*Export, error) {
	lines := &exportLines{scanner: bufio.NewScanner(r)}
	lines.scanner.Buffer(nil, maxExportLine)
	var header exportHeader
	if err := lines.readInto(&header); err != nil || header.Format != exportFormat {
		return nil, fmt.Errorf("this is not an export of a ledger in the form %s: make one with `dprelease ledger export`",
			exportFormat)
	}
	b := newBook("(export)")
	for {
		last, err := lines.readEntry(b)
		if err != nil {
			return nil, err
		}
		if last == nil {
			continue
		}
		if last.Head != b.head.String() || last.Entries != b.sequence || header.Office != b.office || lines.hasMore() {
			return nil, &Tampered{Ledger: b.ledger, Reason: "does not end, or begin, as its entries say"}
		}
		if len(b.namedWitnesses) > 0 {
			b.unwitnessed = "an export does not show it"
		}
		return &Export{Office: b.office, Head: last.Head, Entries: last.Entries, Day: b.day, book: b}, nil
	}
}

// exportLines reads the lines of an export.
type exportLines struct{ scanner *bufio.Scanner }

// hasMore reports whether there is another line.
func (r *exportLines) hasMore() bool { return r.scanner.Scan() || r.scanner.Err() != nil }

// readInto reads a line into v.
func (r *exportLines) readInto(v any) error {
	if !r.scanner.Scan() {
		return errors.Join(errors.New("it ends too early"), r.scanner.Err())
	}
	return readCanonical(r.scanner.Text(), v)
}

// readEntry reads the next entry into the book. It returns the end of the export if the line is the last.
func (r *exportLines) readEntry(b *book) (*exportEnd, error) {
	if !r.scanner.Scan() {
		missing := errors.New("is missing: the export ends before its last line")
		return nil, b.tamperedNext(errors.Join(missing, r.scanner.Err()))
	}
	text := r.scanner.Text()
	if strings.HasPrefix(text, `{"head"`) {
		end := &exportEnd{}
		if err := readCanonical(text, end); err != nil {
			return nil, b.tamperedNext(err)
		}
		return end, nil
	}
	var x exportEntry
	if err := readCanonical(text, &x); err != nil {
		return nil, b.tamperedNext(err)
	}
	sealed, ok := parseDigest(x.Sealed)
	hash, ok2 := parseDigest(x.Hash)
	if !ok || !ok2 {
		return nil, b.tamperedNext(errors.New("has a hash that is not 64 lower-case hexadecimal digits"))
	}
	return nil, b.readSealed(line{body: x.Body, hash: hash, signature: x.Signature}, sealed)
}

// Accounts lists the names of the accounts, sorted.
func (x *Export) Accounts() []string { return slices.Sorted(slices.Values(x.book.names)) }

// Statement returns the statement of an account. Errors: *NoAccount.
func (x *Export) Statement(account string) (Statement, error) { return x.book.statement(account) }

// Contains does what [Ledger.Contains] does, for the ledger that was exported.
func (x *Export) Contains(r Record) error { return x.book.checkContains(r) }

// Seal returns the SHA-256, in hexadecimal, of the seal that a release of the account was finished with; "" if it is
// not finished.
func (x *Export) Seal(account, release string) string {
	a := x.book.accounts[account]
	if a == nil {
		return ""
	}
	if p := a.activeCharge(release); p != nil {
		return p.seal
	}
	return ""
}

// DebitEntry is the debit of a release in an export, with the current state of the release.
type DebitEntry struct {
	StatementRelease
	Sequence int64  `json:"sequence"` // of the entry of the debit, from 1
	Hash     string `json:"hash"`     // of that entry, SHA-256 in hexadecimal
}

// Debits returns every debit once, in the order of the entries, however many accounts it counts in.
func (x *Export) Debits() []DebitEntry {
	entries := make(map[string]int64, len(x.book.lines))
	for _, l := range x.book.lines {
		entries[l.hash.String()] = l.sequence
	}
	var all []DebitEntry
	for name, a := range x.book.accounts {
		for _, p := range a.charges {
			if p.charge.Account == name && p.debited != "" {
				all = append(all, DebitEntry{StatementRelease: p.inStatement(), Sequence: entries[p.proof.Hash],
					Hash: p.proof.Hash})
			}
		}
	}
	slices.SortFunc(all, func(a, b DebitEntry) int { return cmp.Compare(a.Sequence, b.Sequence) })
	return all
}

// Events returns the entries of an account in words, in order, or the entries of all accounts for "". An export has
// days and no times. Errors: *NoAccount.
func (x *Export) Events(account string) ([]Event, error) { return x.book.history(account) }
