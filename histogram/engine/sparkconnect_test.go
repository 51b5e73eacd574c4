package engine_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/histogram/internal/histogramtest"

	"github.com/parquet-go/parquet-go"
)

// This file has a Spark Connect server run the job: then the program is only a client, and has no Spark in its process.

// connected runs the program of a folder as whoever runs it does, against a server of Spark Connect that PySpark starts
// on this machine, and then prints what kind of session it had.
const connected = `import runpy, sys
sys.argv = ["dprelease_spark.py", sys.argv[1]]
runpy.run_path(sys.argv[1] + "/dprelease_spark.py", run_name="__main__")
from pyspark.sql import SparkSession
print("session of", type(SparkSession.builder.getOrCreate()).__module__)
`

// runConnected runs the job of a folder by Spark Connect, and returns what is printed.
func runConnected(t *testing.T, folder string) (string, error) {
	t.Helper()
	c := exec.Command("python3", "-W", "ignore", "-c", connected, folder)
	c.Dir = t.TempDir()
	c.Env = append(os.Environ(), "SPARK_REMOTE=local[2]", "SPARK_LOCAL_IP=127.0.0.1", "PYTHONDONTWRITEBYTECODE=1")
	said, err := c.CombinedOutput()
	return string(said), err
}

// connectedPerson is a row of the Parquet file that the server reads.
type connectedPerson struct {
	ID   int64   `parquet:"id"`
	Kind *string `parquet:"kind,optional"`
	Pay  int32   `parquet:"pay"`
}

// A job that is run by Spark Connect gives the answers that files give, and one that must be refused says the same.
func TestSparkConnect(t *testing.T) {
	if os.Getenv("DPRELEASE_SPARK") == "" {
		t.Skip("takes minutes: .ci/engines runs it (DPRELEASE_SPARK=1)")
	}
	if _, err := exec.LookPath("java"); err != nil {
		t.Skip("needs Java 17 for Spark (java on the PATH)")
	}
	if err := exec.Command("python3", "-c", "import pyspark.sql.connect.session, grpc").Run(); err != nil {
		t.Skip("needs Spark for Python with the client of Spark Connect (PyPI: pyspark[connect], 4.0 or later)")
	}
	dir := t.TempDir()
	var rows []connectedPerson
	for i := range 3000 {
		kind := []string{"a", "b", canary, "é", "b"}[i%5]
		row := connectedPerson{ID: int64(i * i % 700), Kind: &kind, Pay: int32(i % 11)}
		if i%17 == 0 {
			row.Kind = nil
		}
		rows = append(rows, row)
	}
	if err := parquet.WriteFile(filepath.Join(dir, "people.parquet"), rows); err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(people, "unknown: UNKNOWN", "unknown: drop, null: drop", 1)
	of := func(from string) string { return strings.Replace(text, "SOURCE", from, 1) }
	want, err := countedBy(t, histogramtest.PlanOf(t, of("{parquet: people.parquet}")), 3, "", dir)
	if err != nil {
		t.Fatal(err)
	}
	parquetIn := "{spark: {parquet: '" + filepath.Join(dir, "people.parquet") + "'}}"
	p, folder := histogramtest.PlanOf(t, of(parquetIn)), filepath.Join(dir, "exchange")
	for round := range 2 {
		emit(t, p, 3, folder, round+1)
		if said, err := runConnected(t, folder); err != nil ||
			!strings.Contains(said, "session of pyspark.sql.connect") {
			t.Fatalf("round %d: %v: %s", round+1, err, said)
		}
	}
	emit(t, p, 3, folder, 0)
	if got, err := countedBy(t, p, 3, folder, dir); err != nil || !slices.Equal(got, want) {
		t.Errorf("its answers are not those of files (%v)", err)
	}
	refused := histogramtest.PlanOf(t, of("{spark: {query: \"SELECT id, kind FROM parquet.`"+
		filepath.Join(dir, "people.parquet")+"`\"}}"))
	folder = filepath.Join(dir, "refused")
	emit(t, refused, 3, folder, 1)
	said, err := runConnected(t, folder)
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) ||
		!strings.Contains(said, "column pay: there is no such column") ||
		strings.Contains(said, canary) {
		t.Errorf("%v: %s", err, said)
	}
}

// refusing has the program give settings to a session of a server that lets nobody set one of them, on which some are
// as they should be already.
const refusing = `import sys
sys.path.insert(0, ".")
import dprelease_spark
class Conf:
    def __init__(self):
        self.all = {"spark.sql.files.ignoreMissingFiles": "FALSE"}
    def get(self, key, default):
        return self.all.get(key, default)
    def set(self, key, value):
        if "ignore" in key:
            raise ValueError("` + canary + `")
        self.all[key] = value
class Spark:
    conf = Conf()
try:
    dprelease_spark.apply_settings(Spark)
except dprelease_spark.Refused as refused:
    print(refused)
print(Spark.conf.all["spark.sql.session.timeZone"])
`

// A server that does not let a setting be changed, as those that others run may not, is refused by its name; one on
// which it is as it should be is not asked to.
func TestSettingsThatSparkRefuses(t *testing.T) {
	if err := exec.Command("python3", "-c", "import pyspark").Run(); err != nil {
		t.Skip("needs Spark for Python (PyPI: pyspark)")
	}
	c := exec.Command("python3", "-W", "ignore", "-c", refusing)
	c.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	said, err := c.CombinedOutput()
	want := "this Spark does not let the program set spark.sql.files.ignoreCorruptFiles to false (ValueError), " +
		"without which values could be read as others; have it set for all, or run the job on a cluster of your own\nUTC\n"
	if err != nil || string(said) != want {
		t.Errorf("%v: %s", err, said)
	}
}
