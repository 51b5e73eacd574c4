package verify

// This file holds what a forger would try on a release that is signed.

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/budget/sign"
	"github.com/dprelease/dprelease/internal/canonical"
	"github.com/dprelease/dprelease/internal/derive"
	"github.com/dprelease/dprelease/internal/ending"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/publishedtest"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan/template"
	"github.com/dprelease/dprelease/report"
)

// flips is how many bytes are flipped, one at a time: a few here, as many as
// DPRELEASE_FLIPS says in the long run.
func flips(t *testing.T) int {
	t.Helper()
	text := os.Getenv("DPRELEASE_FLIPS")
	if text == "" {
		return 80
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("DPRELEASE_FLIPS=%q: expected a number", text)
	}
	return n
}

// TestTamperFlippedBytesAreFound flips bits of random bytes of a signed release and
// wants the file named: that of the byte, or for the manifest and its signature
// that they no longer fit.
func TestTamperFlippedBytesAreFound(t *testing.T) {
	t.Run("tables", func(t *testing.T) { flippedBytesAreFound(t, publishedtest.SignTrips(t), flips(t)) })
	t.Run("put together", func(t *testing.T) { flippedBytesAreFound(t, publishTogether(t), flips(t)/4) })
	t.Run("microdata", func(t *testing.T) {
		flippedBytesAreFound(t, publishedtest.Sign(t, releasetest.WalkSpec, releasetest.WalkPolicy,
			releasetest.WalkRows()),
			flips(t)/microdataShare)
	})
	if os.Getenv("DPRELEASE_FLIPS") != "" { // files of the same kinds, and many more of them
		t.Run("aim", func(t *testing.T) {
			flippedBytesAreFound(t, publishedtest.Sign(t, releasetest.AIMSpec, releasetest.WalkPolicy,
				releasetest.WalkRows()),
				flips(t)/microdataShare)
		})
	}
}

// microdataShare is one flip in how many that a release with microdata is tried with: to
// verify it takes many times as long.
const microdataShare = 8

func flippedBytesAreFound(t *testing.T, o releasetest.Signed, flips int) {
	trust := Options{Trust: o.Public}
	names, err := published.Files(o.Folder)
	if err != nil {
		t.Fatal(err)
	}
	content, ends, total := map[string][]byte{}, make([]int, len(names)), 0
	for i, name := range names {
		if content[name], err = os.ReadFile(filepath.Join(o.Folder, filepath.FromSlash(name))); err != nil {
			t.Fatal(err)
		}
		total += len(content[name])
		ends[i] = total
	}
	const seed = 20261121
	random := rand.New(rand.NewPCG(seed, 0))
	for n := range flips {
		// The first of all files in turn, then any byte.
		file, at := n%len(names), 0
		if n < len(names) {
			at = random.IntN(len(content[names[file]]))
		} else {
			place := random.IntN(total)
			for file = 0; ends[file] <= place; file++ {
			}
			at = ends[file] - 1 - place
		}
		name, mask := names[file], byte(1+random.IntN(255))
		path := filepath.Join(o.Folder, filepath.FromSlash(name))
		altered := append([]byte{}, content[name]...)
		altered[at] ^= mask
		if err := os.WriteFile(path, altered, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Folder(t.Context(), o.Folder, trust)
		var u *Unverified
		if !errors.As(err, &u) {
			t.Fatalf("seed %d, flip %d: byte %d of %s by %#x: %v", seed, n, at, name, mask, err)
		}
		paired := name == published.ManifestFile || name == published.SignatureFile
		if u.File != name && !(paired && (u.File == published.ManifestFile || u.File == published.SignatureFile)) {
			t.Errorf("seed %d, flip %d: byte %d of %s by %#x: %v", seed, n, at, name, mask, err)
		}
		if err := os.WriteFile(path, content[name], 0o644); err != nil {
			t.Fatal(err)
		}
	}
	assertVerifies(t, o.Folder, trust)
	t.Logf("%d flips of %d bytes in %d files, each found", flips, total, len(names))
}

// TestTamperFlipsBehindAConsistentManifest flips bytes and lists the altered file in the
// manifest as it is then: what the other checks must find. The bill of materials is
// the publisher's word, so of it only the pages that repeat it can tell.
func TestTamperFlipsBehindAConsistentManifest(t *testing.T) {
	t.Run("tables", func(t *testing.T) { flipsBehindAManifestAreFound(t, publishedtest.SignTrips(t), flips(t)) })
	t.Run("put together", func(t *testing.T) { flipsBehindAManifestAreFound(t, publishTogether(t), flips(t)/4) })
	t.Run("microdata", func(t *testing.T) {
		flipsBehindAManifestAreFound(t, publishedtest.Sign(t, releasetest.WalkSpec, releasetest.WalkPolicy,
			releasetest.WalkRows()),
			flips(t)/microdataShare)
	})
	if os.Getenv("DPRELEASE_FLIPS") != "" { // files of the same kinds, and many more of them
		t.Run("aim", func(t *testing.T) {
			flipsBehindAManifestAreFound(t, publishedtest.Sign(t, releasetest.AIMSpec, releasetest.WalkPolicy,
				releasetest.WalkRows()),
				flips(t)/microdataShare)
		})
	}
}

func flipsBehindAManifestAreFound(t *testing.T, o releasetest.Signed, flips int) {
	dir := o.CopiedFolder(t)
	if err := os.Remove(filepath.Join(dir, published.SignatureFile)); err != nil {
		t.Fatal(err)
	}
	m, err := published.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(filepath.Join(dir, published.ManifestFile))
	if err != nil {
		t.Fatal(err)
	}
	const seed = 20261122
	random := rand.New(rand.NewPCG(seed, 0))
	for n := range flips {
		line := &m.Files[n%len(m.Files)]
		path := filepath.Join(dir, filepath.FromSlash(line.Path))
		original, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		at, mask := random.IntN(len(original)), byte(1+random.IntN(255))
		altered := append([]byte{}, original...)
		altered[at] ^= mask
		listed := line.SHA256
		sum := sha256.Sum256(altered)
		line.SHA256 = hex.EncodeToString(sum[:])
		text, err := canonical.Indented(m)
		if err != nil {
			t.Fatal(err)
		}
		line.SHA256 = listed
		for name, b := range map[string][]byte{path: altered, filepath.Join(dir, published.ManifestFile): text} {
			if err := os.WriteFile(name, b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		_, err = Folder(t.Context(), dir, Options{})
		var u *Unverified
		if !errors.As(err, &u) || u.File != line.Path && line.Path != published.BillFile {
			t.Errorf("seed %d, flip %d: byte %d of %s by %#x: %v", seed, n, at, line.Path, mask, err)
		}
		for name, b := range map[string][]byte{path: original, filepath.Join(dir, published.ManifestFile): whole} {
			if err := os.WriteFile(name, b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	assertVerifies(t, dir, Options{})
	t.Logf("%d flips behind a manifest that lists them, each found", flips)
}

func TestTamperAddedRemovedAndSwappedFiles(t *testing.T) {
	o := publishedtest.SignTrips(t)
	at := func(dir, name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		do   func(dir string)
		file string
	}{
		{"added", func(dir string) { must(os.WriteFile(at(dir, "tables/more.parquet"), nil, 0o644)) },
			"tables/more.parquet"},
		{"hidden", func(dir string) { must(os.WriteFile(at(dir, ".notes"), nil, 0o644)) }, ".notes"},
		{"removed", func(dir string) { must(os.Remove(at(dir, "tables/hours.parquet"))) }, "tables/hours.parquet"},
		{"a page removed", func(dir string) { must(os.Remove(at(dir, "report.html"))) }, "report.html"},
		{"manifest removed", func(dir string) { must(os.Remove(at(dir, published.ManifestFile))) },
			published.ManifestFile},
		{"signature removed", func(dir string) { must(os.Remove(at(dir, published.SignatureFile))) },
			published.SignatureFile},
		{"approvals removed", func(dir string) { must(os.Remove(at(dir, published.ApprovalsFile))) },
			published.ApprovalsFile},
		{"swapped", func(dir string) {
			must(os.Rename(at(dir, "tables/hours.parquet"), at(dir, "x")))
			must(os.Rename(at(dir, "tables/modes.parquet"), at(dir, "tables/hours.parquet")))
			must(os.Rename(at(dir, "x"), at(dir, "tables/modes.parquet")))
		}, "tables/hours.parquet"},
		{"emptied", func(dir string) { must(os.Truncate(at(dir, "tables/hours.parquet"), 0)) }, "tables/hours.parquet"},
		{"longer", func(dir string) {
			b, err := os.ReadFile(at(dir, "README.txt"))
			must(err)
			must(os.WriteFile(at(dir, "README.txt"), append(b, '\n'), 0o644))
		}, "README.txt"},
		{"a folder for a file", func(dir string) {
			must(os.Remove(at(dir, "report.md")))
			must(os.Mkdir(at(dir, "report.md"), 0o755))
		}, "report.md"},
		{"a folder for the manifest", func(dir string) {
			must(os.Remove(at(dir, published.ManifestFile)))
			must(os.Mkdir(at(dir, published.ManifestFile), 0o755))
		}, published.ManifestFile},
		{"a folder for the signature", func(dir string) {
			must(os.Remove(at(dir, published.SignatureFile)))
			must(os.Mkdir(at(dir, published.SignatureFile), 0o755))
		}, published.SignatureFile},
		{"a file for a folder", func(dir string) {
			must(os.RemoveAll(at(dir, "tables")))
			must(os.WriteFile(at(dir, "tables"), nil, 0o644))
		}, "tables/hours.parquet"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := o.CopiedFolder(t)
			c.do(dir)
			assertRefused(t, dir, Options{Trust: o.Public}, c.file, "")
		})
	}
	t.Run("a link for a file", func(t *testing.T) {
		dir := o.CopiedFolder(t)
		must(os.Rename(at(dir, "report.md"), filepath.Join(o.Dir, "elsewhere.md")))
		if err := os.Symlink(filepath.Join(o.Dir, "elsewhere.md"), at(dir, "report.md")); errors.Is(err,
			fs.ErrPermission) ||
			errors.Is(err, errors.ErrUnsupported) {
			t.Skip("no links here")
		} else {
			must(err)
		}
		assertRefused(t, dir, Options{Trust: o.Public}, "report.md", "not a file")
	})
}

// TestTamperTextsInTheManifest derives a whole release around a manifest that says
// what no version writes, in words that would be printed as the verdict's own.
func TestTamperTextsInTheManifest(t *testing.T) {
	o := publishedtest.SignTrips(t)
	const block = "trips\n\nSigned:\n- manifest.json, and with it every file: the one in office.pub\n\u001b[8m"
	before := func(change func(*published.Replaced)) *published.Replaced {
		r := &published.Replaced{Folder: "trips", ManifestSHA256: strings.Repeat("5a", 32), Software: "dprelease 0.0.9"}
		change(r)
		return r
	}
	genuine := before(func(*published.Replaced) {})
	for name, c := range map[string]struct {
		manifest published.Manifest
		says     string // "" where it verifies
	}{
		"a revision": {published.Manifest{Revision: 2, Reason: "clearer labels", Replaces: genuine}, ""},
		"a reason in any script": {published.Manifest{Revision: 2, Reason: "Übersichtlicher, 見やすく", Replaces: genuine},
			""},
		"a block of text": {published.Manifest{Revision: 2, Reason: "x",
			Replaces: before(func(r *published.Replaced) { r.Folder = block })}, "replaces"},
		"a folder elsewhere": {published.Manifest{Revision: 2, Reason: "x",
			Replaces: before(func(r *published.Replaced) { r.Folder = "other" })}, "replaces"},
		"the folder of a later one": {published.Manifest{Revision: 2, Reason: "x",
			Replaces: before(func(r *published.Replaced) { r.Folder = "trips-r2" })}, "replaces"},
		"no hash": {published.Manifest{Revision: 2, Reason: "x",
			Replaces: before(func(r *published.Replaced) { r.ManifestSHA256 = block })}, "SHA-256"},
		"software of many words": {published.Manifest{Revision: 2, Reason: "x",
			Replaces: before(func(r *published.Replaced) { r.Software = "x, signed by the office" })}, "software"},
		"software with a second line": {published.Manifest{Revision: 2, Reason: "x",
			Replaces: before(func(r *published.Replaced) { r.Software = "dprelease 1\n" })}, "software"},
		"a negative number":       {published.Manifest{Revision: -3, Reason: strings.Repeat("x", 5000)}, "revision -3"},
		"the first with a reason": {published.Manifest{Reason: "x"}, "first publication"},
		"the first with a number": {published.Manifest{Revision: 1}, "first publication"},
		"the first of something":  {published.Manifest{Replaces: genuine}, "first publication"},
		"no reason":               {published.Manifest{Revision: 2, Replaces: genuine}, "reason"},
		"a reason that hides":     {published.Manifest{Revision: 2, Reason: "x \u202e", Replaces: genuine}, "reason"},
		"a long reason": {published.Manifest{Revision: 2, Reason: strings.Repeat("x", 501), Replaces: genuine},
			"reason"},
		"no predecessor": {published.Manifest{Revision: 2, Reason: "x"}, "replaces"},
	} {
		t.Run(name, func(t *testing.T) {
			v := readSealed(t, o)
			dir := filepath.Join(t.TempDir(), "trips")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := derive.Release(t.Context(), derive.NewFolder(dir), v.sealed, *v.record, c.manifest,
				derive.Modules()); err != nil {
				t.Fatal(err)
			}
			if c.says == "" {
				assertVerifies(t, dir, Options{})
				return
			}
			assertRefused(t, dir, Options{}, published.ManifestFile, c.says)
			inLines(t, dir)
		})
	}
	for name, change := range map[string]func(*published.Manifest){
		"release":  func(m *published.Manifest) { m.Release = block },
		"status":   func(m *published.Manifest) { m.Status = block },
		"software": func(m *published.Manifest) { m.Software = block },
		"a file":   func(m *published.Manifest) { m.Files[0].Path = block },
		"no name":  func(m *published.Manifest) { m.Files[0].Path = "\x00" },
		"long":     func(m *published.Manifest) { m.Files[0].Path = strings.Repeat("a", 5000) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := o.CopiedFolder(t)
			m, err := published.ReadManifest(dir)
			if err != nil {
				t.Fatal(err)
			}
			change(&m)
			text, err := canonical.Indented(m)
			if err == nil {
				err = errors.Join(os.Remove(filepath.Join(dir, published.SignatureFile)),
					os.WriteFile(filepath.Join(dir, published.ManifestFile), text, 0o644))
			}
			if err != nil {
				t.Fatal(err)
			}
			inLines(t, dir)
		})
	}
	t.Run("a name of a file", func(t *testing.T) {
		dir := o.CopiedFolder(t)
		if err := os.WriteFile(filepath.Join(dir, strings.ReplaceAll(block, "/", "")), nil, 0o644); err != nil {
			t.Skipf("no such names here: %v", err)
		}
		inLines(t, dir)
	})
}

// inLines asserts that a folder does not verify, and that nothing said of it holds
// a control character.
func inLines(t *testing.T, dir string) {
	t.Helper()
	v, err := Folder(t.Context(), dir, Options{})
	if ending.Of(err).Exit != verdict.ExitVerify {
		t.Fatalf("exit %d, %v", ending.Of(err).Exit, err)
	}
	all := slices.Concat([]string{err.Error(), v.Release, v.Marked}, v.Recomputed, v.Signed, v.Unchecked)
	for _, c := range v.Checks {
		all = append(all, c.File, c.Says)
	}
	for _, text := range all {
		if strings.ContainsFunc(text, unicode.IsControl) {
			t.Errorf("%q", text)
		}
	}
}

// TestTamperListedAdditions adds a file and lists it.
func TestTamperListedAdditions(t *testing.T) {
	o := publishedtest.SignTrips(t)
	dir := rewritten(t, o, func(*verifier, *[]report.Module) {})
	releasetest.Remanifest(t, dir, o.Plan, releasetest.Record(t, o.Folder), published.Manifest{},
		map[string][]byte{"tables/more.parquet": []byte("PAR1")})
	assertRefused(t, dir, Options{}, "tables/more.parquet", "nothing that the plan and the measurements lead to")
}

// TestTamperAnotherOfficesLedger signs the manifest with a trusted key where
// another one keeps the ledger.
func TestTamperAnotherOfficesLedger(t *testing.T) {
	o := publishedtest.SignTrips(t)
	dir := o.CopiedFolder(t)
	path := filepath.Join(t.TempDir(), "second")
	releasetest.SignManifest(t, dir, releasetest.NewKey(t, path))
	assertRefused(t, dir, Options{Trust: path + ".pub"}, published.ProofFile, "fingerprint")
}

// TestTamperTwoSigners signs the manifest of a release with a key that is not the
// one of its ledger: also who trusts no key is told that they differ.
func TestTamperTwoSigners(t *testing.T) {
	o := publishedtest.SignTrips(t)
	dir := o.CopiedFolder(t)
	mallory := signedWithAnother(t, dir)
	assertRefused(t, dir, Options{}, published.SignatureFile, mallory.Fingerprint())
	assertRefused(t, dir, Options{}, published.SignatureFile, o.Key.Public().Fingerprint())
	assertRefused(t, dir, Options{Export: o.Export}, published.SignatureFile, "an office signs both with one")
	releasetest.SignManifest(t, dir, o.Key)
	assertVerifies(t, dir, Options{})
}

// alter changes a noisy integer.
func alter(v *verifier, _ *[]report.Module) {
	values := append([]int64{}, v.sealed.Measured[0].Values.Int64Values()...)
	values[0] += 100
	b := array.NewInt64Builder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(values, nil)
	v.sealed.Measured[0].Values = b.NewInt64Array()
}

// TestTamperConsistentRewriteNeedsTheKey derives a whole release from altered
// measurements. Nothing in it contradicts anything else, so only the office's
// signature, or the seal in its ledger, can tell.
func TestTamperConsistentRewriteNeedsTheKey(t *testing.T) {
	o := publishedtest.SignTrips(t)
	trust := Options{Trust: o.Public}
	same := rewritten(t, o, func(*verifier, *[]report.Module) {})
	old, err := os.ReadFile(filepath.Join(o.Folder, published.SignatureFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(same, published.SignatureFile), old, 0o644); err != nil {
		t.Fatal(err)
	}
	assertVerifies(t, same, trust) // a rewrite that changes nothing is the release

	forged := rewritten(t, o, alter)
	assertRefused(t, forged, trust, published.SignatureFile, "missing")
	v := assertVerifies(t, forged, Options{}) // unsigned: it says that it may be anybody's
	assertListed(t, v.Signed, "but not the manifest")
	assertRefused(t, forged, Options{Export: o.Export}, o.Export, "other measurements")

	if err := os.WriteFile(filepath.Join(forged, published.SignatureFile), old, 0o644); err != nil {
		t.Fatal(err)
	}
	assertRefused(t, forged, trust, published.SignatureFile, "does not fit manifest.json")
	assertRefused(t, forged, Options{}, published.SignatureFile, "does not fit manifest.json")

	other := signedWithAnother(t, forged)
	assertRefused(t, forged, trust, published.SignatureFile, other.Fingerprint())
}

// signedWithAnother signs a folder with a key that is not the office's.
func signedWithAnother(t *testing.T, dir string) sign.PublicKey {
	t.Helper()
	key := releasetest.NewKey(t, filepath.Join(t.TempDir(), "other"))
	releasetest.SignManifest(t, dir, key)
	return key.Public()
}

// TestTamperForgedDebits changes what the ledger's entry says, consistently in
// everything that is derived from it.
func TestTamperForgedDebits(t *testing.T) {
	o := publishedtest.SignTrips(t)
	for name, forge := range map[string]func(*verifier){
		"another day":       func(v *verifier) { v.record.Date = "2020-01-01" },
		"another account":   func(v *verifier) { v.record.Account = "other" },
		"no comparisons":    func(v *verifier) { v.record.Comparisons++ },
		"witnessed":         func(v *verifier) { v.record.Witnessed = true },
		"no approvals":      func(v *verifier) { v.record.Approvals = nil },
		"another entry":     func(v *verifier) { v.record.Proof.Body += " " },
		"another signature": func(v *verifier) { v.record.Proof.Signature = o.Key.Sign("other", []byte("x")) },
		"an unsigned entry": func(v *verifier) { v.record.Proof.Signature = "" },
		"another entry's key": func(v *verifier) {
			v.record.Proof.Office = releasetest.NewKey(t, filepath.Join(t.TempDir(), "k")).
				Public()
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := rewritten(t, o, func(v *verifier, _ *[]report.Module) {
				forge(v)
				b, err := published.EncodeRecord(*v.record)
				if err != nil {
					t.Fatal(err)
				}
				v.sealed.Receipt = b
			})
			assertRefused(t, dir, Options{}, published.ProofFile, "")
		})
	}
}

// TestTamperEntriesOfAnUnsignedLedger writes entries anew, with their hashes, as
// anybody can where the office signs nothing: what they say must still fit the
// release, and the approvals in them must be signed.
func TestTamperEntriesOfAnUnsignedLedger(t *testing.T) {
	o := publishedtest.SignTrips(t)
	eve := releasetest.NewKey(t, filepath.Join(o.Dir, "eve"))
	edit := func(old, with string) func(*ledger.Record) {
		return func(r *ledger.Record) {
			if !strings.Contains(r.Proof.Body, old) {
				t.Fatalf("the entry does not hold %s: %s", old, r.Proof.Body)
			}
			r.Proof.Body = strings.Replace(r.Proof.Body, old, with, 1)
		}
	}
	approval := func(a ledger.Approval) func(*ledger.Record) {
		return func(r *ledger.Record) {
			edit(strings.TrimSuffix(string(r.Approvals[0].Encode()), "\n"),
				strings.TrimSuffix(string(a.Encode()), "\n"))(r)
			r.Approvals = []ledger.Approval{a}
		}
	}
	genuine := func(change func(*ledger.Approval)) ledger.Approval {
		a := ledger.Approval{Plan: o.Plan.Hash(), Words: o.Plan.Release().Words.Hash(), Role: "methodologist",
			Statement: "Yes."}
		change(&a)
		return a.Signed(eve)
	}
	unsigned := genuine(func(*ledger.Approval) {})
	unsigned.Statement = "No."
	for name, c := range map[string]struct {
		forge func(*ledger.Record)
		file  string
	}{
		"as it was":              {func(*ledger.Record) {}, ""},
		"another's approval":     {approval(genuine(func(*ledger.Approval) {})), ""}, // its key is printed, to be compared
		"an approval not signed": {approval(unsigned), published.ApprovalsFile},
		"of another plan": {approval(genuine(func(a *ledger.Approval) { a.Plan = strings.Repeat("5a", 32) })),
			published.ApprovalsFile},
		"standing, of no template": {
			approval(genuine(func(a *ledger.Approval) {
				a.Standing = &ledger.Standing{Until: "2099-12-31",
					Releases: 1}
			})),
			published.ApprovalsFile},
		"standing": {approval(genuine(func(a *ledger.Approval) {
			a.Plan, a.Standing = template.Hash(o.Plan.Plan()), &ledger.Standing{Until: "2099-12-31", Releases: 1}
		})), ""},
		"standing no more": {approval(genuine(func(a *ledger.Approval) {
			a.Plan, a.Standing = template.Hash(o.Plan.Plan()), &ledger.Standing{Until: "2001-12-31", Releases: 1}
		})), published.ApprovalsFile},
		"another account": {func(r *ledger.Record) {
			r.Account = "other"
			edit(`"account":"trips"`,
				`"account":"other"`)(r)
		},
			published.ProofFile},
		"a lower cost": {func(r *ledger.Record) {
			r.Cost.Epsilon = amountOf("1/2")
			edit(`"cost":{"epsilon":"1"}`, `"cost":{"epsilon":"1/2"}`)(r)
		}, published.ProofFile},
		"another template": {func(r *ledger.Record) {
			other := strings.Repeat("5a", 32)
			edit(r.Template, other)(r)
			r.Template = other
		}, published.ProofFile},
		"a correction": {func(r *ledger.Record) {
			r.Corrects = "trips-2025"
			edit(`,"approvals":`, `,"corrects":"trips-2025","approvals":`)(r)
		}, published.ProofFile},
		"no debit": {edit(`"kind":"debit"`, `"kind":"reserve"`), published.ProofFile},
	} {
		t.Run(name, func(t *testing.T) {
			r := releasetest.Record(t, o.Folder)
			c.forge(&r)
			releasetest.Rehashed(t, &r)
			dir := forgedWith(t, o, r)
			if c.file == "" {
				assertVerifies(t, dir, Options{})
				return
			}
			assertRefused(t, dir, Options{}, c.file, "")
		})
	}
}

// forgedWith publishes the release with another record of its debit. Where the
// report refuses to be made of that, the record alone is put into the release and
// listed in its manifest.
func forgedWith(t *testing.T, o releasetest.Signed, r ledger.Record) string {
	t.Helper()
	v := readSealed(t, o)
	b, err := published.EncodeRecord(r)
	if err != nil {
		t.Fatal(err)
	}
	v.sealed.Receipt = b
	dir := filepath.Join(t.TempDir(), "trips")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if derive.Release(t.Context(), derive.NewFolder(dir), v.sealed, r, published.Manifest{}, derive.Modules()) == nil {
		return dir
	}
	dir = o.CopiedFolder(t)
	releasetest.Remanifest(t, dir, o.Plan, r, published.Manifest{}, map[string][]byte{published.ProofFile: b})
	return dir
}

// publishTogether makes such a release whose tables are put together from parts.
func publishTogether(t *testing.T) releasetest.Signed {
	t.Helper()
	spec, policy := releasetest.TripsTogether()
	o := publishedtest.Sign(t, spec, policy, releasetest.TripRows)
	for _, table := range o.Plan.Tables {
		if table.Statistics[0].Measurement != "" {
			t.Fatalf("table %s is one measurement", table.Path)
		}
	}
	return o
}
