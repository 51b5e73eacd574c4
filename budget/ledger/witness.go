package ledger

// The witness of a ledger: a file elsewhere that knows the newest head, so that an older copy of the ledger is noticed.

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dprelease/dprelease/internal/regular"
)

// head is a line of a witness, "SEQUENCE HASH": the ledger had this entry.
type head struct {
	sequence int64
	hash     digest
}

// line is h as it stands in the file.
func (h head) line() string { return fmt.Sprintf("%d %s\n", h.sequence, h.hash) }

// parseHeads reads the lines of a witness. A line that is no head, or the last without its newline, was left by a write
// that was cut off: its update did not return, so nothing was drawn for it, and it counts for nothing.
func parseHeads(text []byte) []head {
	var heads []head
	for line := range bytes.Lines(text) {
		number, hash, _ := strings.Cut(string(line), " ")
		sequence, err := strconv.ParseInt(number, 10, 64)
		digest, ok := parseDigest(strings.TrimSuffix(hash, "\n"))
		if h := (head{sequence, digest}); err == nil && ok && h.line() == string(line) {
			heads = append(heads, h)
		}
	}
	return heads
}

// beginning is the line that a witness is made with, before any entry: so one that was emptied is told from a new one.
func beginning() head { return head{0, genesis()} }

// readHeads is parseHeads of a file that was written by record: any other is an error, and nothing may be appended to
// it.
func readHeads(path string, text []byte) ([]head, error) {
	heads := parseHeads(text)
	if len(heads) == 0 && (len(text) > 200 || bytes.Contains(text, []byte("\n"))) {
		return nil, fmt.Errorf("the file %s is not the witness of a ledger: name another in the policy, or put the witness back", path)
	}
	return heads, nil
}

// witness is a witness of one update, open for appending.
type witness struct {
	path  string
	file  *os.File
	heads []head
}

// witnesses of one update.
//
// Guarantee: what [store.update] returned is in the ledger and at every witness that a policy names, so an older copy
// of the ledger is noticed by the next view and update of it.
//
// Argument: a head is appended and synced after COMMIT and before update returns, and noise is drawn only on a receipt,
// so only after update returned: an entry whose head did not get so far was never drawn for, and a ledger without it
// forgets no loss. Before COMMIT would be too early: a crash between the two would leave a head that no ledger holds,
// and with it an alarm that never ends. Whoever is killed in between, or finds the witness full, calls again with the
// same charge: that writes no entry, appends the head that is missing, and returns the same receipt. Appends of several
// processes may come in any order, as each head is in the chain that all of them extend; two heads of one number, of
// copies that went on apart, cannot both be in it, so every head is looked for and not the newest alone.
type witnesses []*witness

// summon opens the witnesses that b names and that are not among ws, whose files must be there unless create, and
// checks that b holds all that they saw. Errors: *Tampered; another where one cannot be read or written.
func (ws *witnesses) summon(b *book, create bool) error {
	for _, path := range b.witnesses() {
		if slices.ContainsFunc(*ws, func(w *witness) bool { return w.path == path }) {
			continue
		}
		if isLedger(b, path) { // and is not even opened: closing it would drop the locks on it
			return fmt.Errorf("ledger %s: nothing was written: the witness %s is the ledger itself: name a file on another volume in the policy", b.ledger, path)
		}
		inFolder, err := b.place(path)
		if err == nil && inFolder {
			err = fmt.Errorf("the witness %s lies in the folder of the ledger, and would be restored with it: put it on another volume or host", path)
		}
		var w *witness
		if err == nil {
			w, err = openWitness(path, create)
		}
		if err != nil {
			return fmt.Errorf("ledger %s: nothing was written: %w", b.ledger, err)
		}
		*ws = append(*ws, w)
		if err := b.holds(path, w.heads); err != nil {
			return err
		}
	}
	return nil
}

// isLedger reports whether path is the file of b.
func isLedger(b *book, path string) bool {
	ledger, err := os.Stat(b.ledger)
	if err != nil {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && os.SameFile(ledger, info)
}

// place notes whether a witness lies on the disk of the ledger, and reports whether it lies even in its folder. A
// ledger of PostgreSQL lies nowhere here.
func (b *book) place(path string) (inFolder bool, err error) {
	ledger, err := filepath.EvalSymlinks(b.ledger)
	if err != nil {
		return false, nil
	}
	folders := []string{filepath.Dir(ledger), filepath.Dir(path)}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		folders[1] = filepath.Dir(real)
	}
	var of [2]fs.FileInfo
	for i, folder := range folders {
		if of[i], err = os.Stat(folder); err != nil {
			return false, fmt.Errorf("the witness %s cannot be looked for: %w", path, err)
		}
	}
	if onOneDisk(folders, of) {
		b.near[path] = true
	}
	return os.SameFile(of[0], of[1]), nil
}

// onOneDisk is a variable for tests alone.
var onOneDisk = areOnOneDisk

// knows is the number of the newest entry whose head is among these.
func knows(heads []head) (newest int64) {
	for _, h := range heads {
		newest = max(newest, h.sequence)
	}
	return newest
}

// holds returns *Tampered unless b has all the heads that its witness saw.
func (b *book) holds(path string, heads []head) error {
	for _, h := range heads {
		if hash, ok := b.hashAt(h.sequence); h != beginning() && (!ok || hash != h.hash) {
			return &Tampered{Ledger: b.ledger, Sequence: h.sequence,
				Reason: fmt.Sprintf("is missing or another one: this ledger is older than its witness %s, or not the one that it witnesses", path)}
		}
	}
	return nil
}

// record appends the head of b where it is missing.
func (ws witnesses) record(b *book) error {
	for _, w := range ws {
		if err := w.record(head{b.sequence, b.head}); err != nil {
			return fmt.Errorf("ledger %s: the entry is written, but its witness %s was not told (%w): see to that, and run again: the same charge again tells, and costs nothing more",
				b.ledger, w.path, err)
		}
	}
	return nil
}

// dismiss closes the files.
func (ws witnesses) dismiss() {
	for _, w := range ws {
		w.file.Close() // what was written is synced
	}
}

// mostWitness bounds the bytes of a witness: some ten million heads.
const mostWitness = 1 << 30

// openWitness opens the witness at path and reads it.
func openWitness(path string, create bool) (*witness, error) {
	file, err := regular.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if errors.Is(err, fs.ErrNotExist) && create {
		if file, err = createWitness(path); err != nil && !errors.Is(err, regular.ErrNotRegular) {
			return nil, fmt.Errorf("the witness %s cannot be created: %w", path, err)
		}
	}
	switch {
	case errors.Is(err, regular.ErrNotRegular):
		return nil, fmt.Errorf("the witness %s is not a file", path)
	case errors.Is(err, fs.ErrNotExist):
		return nil, goneWitness(path)
	case err != nil:
		return nil, fmt.Errorf("the witness %s cannot be appended to, so nothing may be spent: %w", path, err)
	}
	text, err := regular.ReadAll(file, mostWitness)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the witness %s cannot be read, so nothing may be spent: %w", path, err),
			file.Close())
	}
	w := &witness{path: path, file: file}
	if w.heads, err = readHeads(path, text); err == nil && len(w.heads) == 0 {
		err = w.begin(create)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return w, nil
}

// begin writes the first line of a new witness. Any other that has none was emptied.
func (w *witness) begin(create bool) error {
	if !create {
		return fmt.Errorf("the witness %s is empty, so nothing may be spent: put back what was in it; %s", w.path,
			lostWitness)
	}
	if err := w.record(beginning()); err != nil {
		return fmt.Errorf("the witness %s cannot be appended to, so nothing may be spent: %w", w.path, err)
	}
	w.heads = []head{beginning()}
	return nil
}

// lostWitness says how a witness begins again: with an entry that a person vouches for.
const lostWitness = "if that is lost for good, make sure that the ledger is the newest (`dprelease ledger verify --against` what was published), and put there the line \"NUMBER HEAD\" of the last entry that you know of, as `dprelease ledger show` gives them or the minutes do"

// goneWitness never makes a new file by itself: where a volume is not mounted, its folder looks empty.
func goneWitness(path string) error {
	return fmt.Errorf("the witness %s is gone, so nothing may be spent: mount the volume that it lies on; %s", path,
		lostWitness)
}

// createWitness makes an empty file, for this user alone: how many entries there are depends on attempts that failed.
func createWitness(path string) (*os.File, error) {
	file, err := regular.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(file.Sync(), syncFolder(filepath.Dir(path))); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// record appends h, unless it is there, and syncs it.
func (w *witness) record(h head) error {
	if slices.Contains(w.heads, h) {
		return nil
	}
	unlock, err := lockAppend(w.file)
	if err != nil {
		return err
	}
	defer unlock()
	text := h.line()
	if whole, err := endsLine(w.file); err != nil {
		return err
	} else if !whole {
		text = "\n" + text
	}
	if _, err := w.file.WriteString(text); err != nil {
		return err
	}
	return w.file.Sync()
}

// endsLine reports whether what is appended begins a line.
func endsLine(file *os.File) (bool, error) {
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return true, err
	}
	var last [1]byte
	_, err = file.ReadAt(last[:], info.Size()-1)
	return last[0] == '\n', err
}
