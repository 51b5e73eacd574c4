package ledger

// The ledger as an auditor gets it: every entry's public body, and of its private part the hash alone.

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

// exportFormat names the form of an export. Its first line is a header, its last the head, each line between an entry.
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
// [ReadExport]. The time of day, salts and commitments stay. It does tell of attempts that failed and of what was only
// reserved: it is for an auditor, not for the public. Errors: wraps ErrTampered.
func (l *Ledger) Export(ctx context.Context, w io.Writer) error {
	b, err := l.view(ctx)
	if err != nil {
		return err
	}
	return b.export(w)
}

func (b *book) export(w io.Writer) error {
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
	Office  sign.PublicKey // whose signature every entry carries; none: nobody's
	Head    string         // hash of the last entry
	Entries int64
	Day     string // YYYY-MM-DD, UTC, of the last entry

	book *book
}

// ReadExport reads an export, and checks that it is one chain, that every entry is signed by the office's key where
// the first one names one, and that every entry is admissible after those before it: no account is overspent, and
// nothing is reserved without the approvals that its accounts ask for. It needs nothing else, and asks no machine.
//
// It cannot tell whether the office's key is the true one, whether the export is the newest, nor what was left out of
// the ledger itself. Errors: *Tampered for the first entry that does not fit; another for what is no export.
func ReadExport(r io.Reader) (*Export, error) {
	lines := &exportLines{scanner: bufio.NewScanner(r)}
	lines.scanner.Buffer(nil, maxExportLine)
	var header exportHeader
	if err := lines.next(&header); err != nil || header.Format != exportFormat {
		return nil, fmt.Errorf("this is not an export of a ledger in the form %s: make one with `dprelease ledger export`",
			exportFormat)
	}
	b := newBook("(export)")
	for {
		last, err := lines.entry(b)
		if err != nil {
			return nil, err
		}
		if last == nil {
			continue
		}
		if last.Head != b.head.String() || last.Entries != b.sequence || header.Office != b.office || lines.more() {
			return nil, &Tampered{Ledger: b.ledger, Reason: "does not end, or begin, as its entries say"}
		}
		if len(b.paths) > 0 {
			b.unwitnessed = "an export does not show it"
		}
		return &Export{Office: b.office, Head: last.Head, Entries: last.Entries, Day: b.day, book: b}, nil
	}
}

// exportLines reads the lines of an export.
type exportLines struct{ scanner *bufio.Scanner }

// more reports whether there is another line.
func (r *exportLines) more() bool { return r.scanner.Scan() || r.scanner.Err() != nil }

// next reads a line into v.
func (r *exportLines) next(v any) error {
	if !r.scanner.Scan() {
		return errors.Join(errors.New("it ends too early"), r.scanner.Err())
	}
	return readCanonical(r.scanner.Text(), v)
}

// entry reads the next line into the book, or returns it if it is the last.
func (r *exportLines) entry(b *book) (*exportEnd, error) {
	if !r.scanner.Scan() {
		return nil, b.broken(errors.Join(errors.New("is missing: the export ends before its last line"), r.scanner.Err()))
	}
	text := r.scanner.Text()
	if strings.HasPrefix(text, `{"head"`) {
		end := &exportEnd{}
		if err := readCanonical(text, end); err != nil {
			return nil, b.broken(err)
		}
		return end, nil
	}
	var x exportEntry
	if err := readCanonical(text, &x); err != nil {
		return nil, b.broken(err)
	}
	sealed, ok := parseDigest(x.Sealed)
	hash, ok2 := parseDigest(x.Hash)
	if !ok || !ok2 {
		return nil, b.broken(errors.New("has a hash that is not 64 lower-case hexadecimal digits"))
	}
	return nil, b.readSealed(line{body: x.Body, hash: hash, signature: x.Signature}, sealed)
}

// Accounts lists the names of the accounts, sorted.
func (x *Export) Accounts() []string { return slices.Sorted(slices.Values(x.book.names)) }

// Statement tells what an account is, holds and has left. Errors: *NoAccount.
func (x *Export) Statement(account string) (Statement, error) { return x.book.statement(account) }

// Contains is [Ledger.Contains] of the ledger that was exported.
func (x *Export) Contains(r Record) error { return x.book.contains(r) }

// Seal is the SHA-256, in hexadecimal, of the seal that a release of the account was finished with; "" if it is not
// finished.
func (x *Export) Seal(account, release string) string {
	a := x.book.accounts[account]
	if a == nil {
		return ""
	}
	if p := a.named(release); p != nil {
		return p.seal
	}
	return ""
}

// DebitEntry is the debit of a release in an export, with where it stands now.
type DebitEntry struct {
	Posting
	Sequence int64  `json:"sequence"` // of the entry of the debit, from 1
	Hash     string `json:"hash"`     // of that entry, SHA-256 in hexadecimal
}

// Debits lists every debit, in the order of its entries, each once whatever accounts it counts in.
func (x *Export) Debits() []DebitEntry {
	entries := make(map[string]int64, len(x.book.lines))
	for _, l := range x.book.lines {
		entries[l.hash.String()] = l.sequence
	}
	var all []DebitEntry
	for name, a := range x.book.accounts {
		for _, p := range a.postings {
			if p.charge.Account == name && p.debited != "" {
				all = append(all, DebitEntry{Posting: p.statement(), Sequence: entries[p.proof.Hash], Hash: p.proof.Hash})
			}
		}
	}
	slices.SortFunc(all, func(a, b DebitEntry) int { return cmp.Compare(a.Sequence, b.Sequence) })
	return all
}

// Events tells of every entry of an account, in order, or of all accounts for "". It knows the days alone.
// Errors: *NoAccount.
func (x *Export) Events(account string) ([]Event, error) { return x.book.history(account) }
