package releasetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/budget/sign"
)

// Signed is a signed and approved release, with what an auditor has of it: the folder, the office's public key and an
// export of its ledger. The approvals of its plan are in the folder of the office.
type Signed struct {
	Office
	Key    sign.Key
	Folder string // the folder
	Public string // file of the public key
	Export string // file of the export
}

// Sign makes such a release on a signed ledger whose account requires an approval. The function run measures and
// publishes it, with its key and its approvals, and returns the folder.
func Sign(t *testing.T, spec, policy, rows string, run func(o Signed) (place string)) Signed {
	t.Helper()
	dir := t.TempDir()
	o := Signed{Public: filepath.Join(dir, "office.pub"), Export: filepath.Join(dir, "export.jsonl"),
		Key: NewKey(t, filepath.Join(dir, "office"))}
	anna := NewKey(t, filepath.Join(dir, "anna"))
	o.Office = in(t, dir, map[string]string{"release.yaml": spec, "t.csv": rows,
		"policy.yaml": policy + "approvals: {methodologist: [anna.pub]}\n"}, nil)
	o.Office = o.withLedger(t, "ledger.db", ledger.OpenOptions{Office: &o.Key})
	approval := ledger.Approval{Plan: o.Plan.Hash(), Words: o.Plan.Release().Words.Hash(), Role: "methodologist",
		Statement: "I have read this plan."}
	if err := os.WriteFile(filepath.Join(dir, o.Plan.Name+".approval.json"), approval.Signed(anna).Encode(),
		0o600); err != nil {
		t.Fatal(err)
	}
	o.Folder = run(o)
	o.ExportTo(t, o.Export)
	return o
}

// TripsTogether returns a spec and a policy of trips whose tables are combined from several measurements.
func TripsTogether() (spec, policy string) {
	return strings.NewReplacer("{epsilon: 1, split: {few: 1/2, many: 1/2}}", "{rho: 1/2}", ", budget: few", "",
		", budget: many", "").Replace(TripSpec), strings.Replace(TripPolicy, "epsilon: 5", "rho: 5", 1)
}

// CopiedFolder returns a copy of the release's folder.
func (o Signed) CopiedFolder(t *testing.T) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "trips")
	if err := os.CopyFS(to, os.DirFS(o.Folder)); err != nil {
		t.Fatal(err)
	}
	return to
}
