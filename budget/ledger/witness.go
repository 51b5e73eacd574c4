package ledger

// The witness of a ledger: a file elsewhere that holds the newest heads, so that an older copy of the ledger is
// noticed.

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

// head is a line of a witness, "SEQUENCE HASH". It proves that the ledger had this entry.
type head struct {
	sequence int64
	hash     digest
}

// fileLine returns h as a line of the file.
func (h head) fileLine() string { return fmt.Sprintf("%d %s\n", h.sequence, h.hash) }

// parseHeads reads the lines of a witness. It skips a line that is not a head, and a last line without its newline: an
// interrupted write left it. The update of that write did not return, so no noise was drawn for it.
func parseHeads(text []byte) []head {
	var heads []head
	for line := range bytes.Lines(text) {
		number, hash, _ := strings.Cut(string(line), " ")
		sequence, err := strconv.ParseInt(number, 10, 64)
		digest, ok := parseDigest(strings.TrimSuffix(hash, "\n"))
		if h := (head{sequence, digest}); err == nil && ok && h.fileLine() == string(line) {
			heads = append(heads, h)
		}
	}
	return heads
}

// initialHead returns the head that a new witness starts with, before any entry. It distinguishes a new witness from
// one that was emptied.
func initialHead() head { return head{0, genesisHash()} }

// readHeads returns the heads in a witness file. A file with other content is an error, and nothing may be appended to
// it.
func readHeads(path string, text []byte) ([]head, error) {
	heads := parseHeads(text)
	if len(heads) == 0 && (len(text) > 200 || bytes.Contains(text, []byte("\n"))) {
		return nil, fmt.Errorf("the file %s is not the witness of a ledger: name another in the policy, or put the "+
			"witness back", path)
	}
	return heads, nil
}

// witness is a witness file that is open for appending during one update.
type witness struct {
	path  string
	file  *os.File
	heads []head
}

// witnesses are the witness files that one update has opened.
//
// Guarantee: whatever [store.update] returned is in the ledger, and its head is in every witness that a policy names.
// The next view or update of an older copy of the ledger therefore notices that the copy is older.
//
// Argument: update appends and syncs the head after COMMIT and before it returns, and noise is drawn only on a receipt,
// which update returns. Noise was therefore never drawn for an entry whose head is missing, and a ledger without that
// entry forgets no loss. Appending before COMMIT would be too early: a crash between the two would leave a head that is
// in no ledger, and every later use would report tampering. A caller that is killed in between, or finds the disk of
// the witness full, repeats the charge: no entry is written again, the missing head is appended, and the same receipt
// is returned. Processes may append in any order, because every head is in the chain that all of them extend. If two
// copies of the ledger have diverged, they have different heads with the same number, and one chain cannot contain
// both; that is why every head is compared, and not only the newest.
type witnesses []*witness

// openMissing opens the witnesses that the book names and that are not open yet, and checks that the book contains
// every head in them. Unless create is set, their files must exist. It returns *Tampered if the book lacks a head, and
// another error if a witness cannot be read or written.
func (ws *witnesses) openMissing(b *book, create bool) error {
	for _, path := range b.witnessPaths() {
		if slices.ContainsFunc(*ws, func(w *witness) bool { return w.path == path }) {
			continue
		}
		if isLedger(b, path) { // do not even open it: closing it would drop the locks on it
			return fmt.Errorf("ledger %s: nothing was written: the witness %s is the ledger itself: name a file on "+
				"another volume in the policy", b.ledger, path)
		}
		inFolder, err := b.locateWitness(path)
		if err == nil && inFolder {
			err = fmt.Errorf("the witness %s lies in the folder of the ledger, and would be restored with it: put it "+
				"on another volume or host", path)
		}
		var w *witness
		if err == nil {
			w, err = openWitness(path, create)
		}
		if err != nil {
			return fmt.Errorf("ledger %s: nothing was written: %w", b.ledger, err)
		}
		*ws = append(*ws, w)
		if err := b.checkHeads(path, w.heads); err != nil {
			return err
		}
	}
	return nil
}

// isLedger reports whether path is the ledger file of b.
func isLedger(b *book, path string) bool {
	ledger, err := os.Stat(b.ledger)
	if err != nil {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && os.SameFile(ledger, info)
}

// locateWitness records whether a witness lies on the disk of the ledger, and reports whether it lies in the folder of
// the ledger. For a PostgreSQL ledger it does nothing.
func (b *book) locateWitness(path string) (inFolder bool, err error) {
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
		b.witnessesOnDisk[path] = true
	}
	return os.SameFile(of[0], of[1]), nil
}

// onOneDisk is a variable only so that tests can replace it.
var onOneDisk = areOnOneDisk

// newestSequence returns the number of the newest entry among the heads.
func newestSequence(heads []head) (newest int64) {
	for _, h := range heads {
		newest = max(newest, h.sequence)
	}
	return newest
}

// checkHeads returns a *Tampered unless b has all the heads of its witness.
func (b *book) checkHeads(path string, heads []head) error {
	for _, h := range heads {
		if hash, ok := b.hashAt(h.sequence); h != initialHead() && (!ok || hash != h.hash) {
			return &Tampered{Ledger: b.ledger, Sequence: h.sequence,
				Reason: fmt.Sprintf("is missing or another one: this ledger is older than its witness %s, or not the "+
					"one that it witnesses", path)}
		}
	}
	return nil
}

// recordHead appends the head of b to each witness that lacks it.
func (ws witnesses) recordHead(b *book) error {
	for _, w := range ws {
		if err := w.appendHead(head{b.sequence, b.head}); err != nil {
			return fmt.Errorf("ledger %s: the entry is written, but its witness %s was not told (%w): see to that, "+
				"and run again: the same charge again tells, and costs nothing more",
				b.ledger, w.path, err)
		}
	}
	return nil
}

// closeAll closes the files.
func (ws witnesses) closeAll() {
	for _, w := range ws {
		w.file.Close() // what was written is synced
	}
}

// maxWitnessBytes bounds the bytes of a witness: some ten million heads.
const maxWitnessBytes = 1 << 30

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
	text, err := regular.ReadAll(file, maxWitnessBytes)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the witness %s cannot be read, so nothing may be spent: %w", path, err),
			file.Close())
	}
	w := &witness{path: path, file: file}
	if w.heads, err = readHeads(path, text); err == nil && len(w.heads) == 0 {
		err = w.writeFirstHead(create)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return w, nil
}

// writeFirstHead writes the first line of a new witness. An existing witness without a head was emptied, which is an
// error.
func (w *witness) writeFirstHead(create bool) error {
	if !create {
		return fmt.Errorf("the witness %s is empty, so nothing may be spent: put back what was in it; %s", w.path,
			lostWitness)
	}
	if err := w.appendHead(initialHead()); err != nil {
		return fmt.Errorf("the witness %s cannot be appended to, so nothing may be spent: %w", w.path, err)
	}
	w.heads = []head{initialHead()}
	return nil
}

// lostWitness explains how to restart a witness: with an entry that a person confirms.
const lostWitness = "if that is lost for good, make sure that the ledger is the newest (`dprelease ledger verify " +
	"--against` what was published), and put there the line \"NUMBER HEAD\" of the last entry that you know of, as " +
	"`dprelease ledger show` gives them or the minutes do"

// goneWitness returns the error for a missing witness. No new file is created: if a volume is not mounted, its folder
// looks empty.
func goneWitness(path string) error {
	return fmt.Errorf("the witness %s is gone, so nothing may be spent: mount the volume that it lies on; %s", path,
		lostWitness)
}

// createWitness creates an empty file that only this user may read, since the number of entries reveals failed
// attempts.
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

// appendHead appends h and syncs it, unless it is already there.
func (w *witness) appendHead(h head) error {
	if slices.Contains(w.heads, h) {
		return nil
	}
	unlock, err := lockAppend(w.file)
	if err != nil {
		return err
	}
	defer unlock()
	text := h.fileLine()
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

// endsLine reports whether the file is empty or ends with a newline.
func endsLine(file *os.File) (bool, error) {
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return true, err
	}
	var last [1]byte
	_, err = file.ReadAt(last[:], info.Size()-1)
	return last[0] == '\n', err
}
