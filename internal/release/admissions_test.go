package release

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/internal/verify"
)

// This file holds the admissions: several stays a patient, with columns that are made of others.

// stay is a hospital stay. Those of one patient are in different blocks, so that no bound on his groups takes any away.
type stay struct {
	patient, hospital      int
	icd                    string
	admitted, left, born   time.Time
	atHome                 bool // not discharged
	nights, age            int
	hospitalName, icdBlock string
}

// hospitalStays returns the stays of so many patients, one to three each.
func hospitalStays(patients int) []stay {
	var all []stay
	day := func(year, month, day int) time.Time {
		return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	}
	for p := range patients {
		for k := range 1 + p%3 {
			s := stay{patient: p, hospital: (p + k) % 2, icd: []string{"R69", "A00", "B20"}[(p+k)%3]}
			s.born = day(1930+p*37%90, 1+p%12, 1+p*11%28)
			s.admitted = day(2025, 1+(p+4*k)%12, 1+p*13%28)
			s.nights = (p*7 + k) % 20
			s.left = s.admitted.AddDate(0, 0, s.nights)
			s.atHome = p%50 == 49
			// A year is complete on the day of the month that one was born on.
			s.age = s.admitted.Year() - s.born.Year()
			if s.born.AddDate(s.age, 0, 0).After(s.admitted) {
				s.age--
			}
			s.hospitalName, s.icdBlock = []string{"h1", "h2"}[s.hospital],
				map[string]string{"R69": "R50-R69", "A00": "A00-A09",
					"B20": "B20-B24"}[s.icd]
			all = append(all, s)
		}
	}
	return all
}

func zipText(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestTheAdmissionsRunFromEndToEnd runs a shared spec as it stands, and once more of those born before a day with a
// budget under which noise is nearly nothing: then counts are those of the rows to within 2: σ is below 0.4, and there
// are 35 of them.
func TestTheAdmissionsRunFromEndToEnd(t *testing.T) {
	const condition = "born < 2015-01-01"
	text, err := os.ReadFile(testkit.Shared(t, "specs/admissions.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	all := hospitalStays(1500)
	var parts [2]strings.Builder
	for i := range parts {
		parts[i].WriteString("born;patient;hospital;icd;admitted;discharged\n")
	}
	for i, s := range all {
		left := s.left.Format("2006-01-02")
		if s.atHome {
			left = ""
		}
		code := s.icd
		if i%40 == 0 && s.icd == "R69" {
			code = "Z99" // is not in the book, and counts as R69
		}
		fmt.Fprintf(&parts[i%2], "%s;p%d;%s;%s;%s;%s\n", s.born.Format("2006-01-02"), s.patient, s.hospitalName, code,
			s.admitted.Format("2006-01-02"), left)
	}
	files := map[string]string{
		"adm/2025-01.csv.gz": zipText(t, parts[0].String()), "adm/2025-02.csv.gz": zipText(t, parts[1].String()),
		"hospitals.csv": "code,label,region\nh1,General,east\nh2,St Mary,west\n",
		"icd10.csv": "code,label,block,chapter\nR69,Illness,R50-R69,XVIII\nA00,Cholera,A00-A09,I\n" +
			"B20,HIV,B20-B24,I\n",
		"policy.yaml": "account: hospital-patients\nprotects: patient\nneighbours: add-remove\ncap: {rho: 1000000000}\n",
	}
	for budget, exactly := range map[string]bool{"rho: 1/8": false, "rho: 100": true} {
		t.Run(budget, func(t *testing.T) {
			files["release.yaml"] = strings.Replace(string(text), "rho: 1/8", budget, 1)
			if exactly {
				files["release.yaml"] = strings.Replace(files["release.yaml"], "    columns:", "    where: "+condition+
					"\n    columns:", 1)
			}
			o := releasetest.WithParams(t, files, map[string]string{"year": "2025"})
			_, place := runRelease(t, o)
			assertVerifies(t, place, verify.Options{})
			if !exactly {
				return
			}
			for _, name := range []string{"report.md", "report.html", "report.json"} {
				page, err := os.ReadFile(filepath.Join(place, name))
				if err != nil || !strings.Contains(strings.NewReplacer("\\", "", "&lt;", "<", "u003c",
					"<").Replace(string(page)),
					condition) {
					t.Errorf("%s does not say which rows count (%v)", name, err)
				}
			}
			counted := slices.DeleteFunc(slices.Clone(all),
				func(s stay) bool { return s.atHome || !s.born.Before(time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC)) })
			for i, hospital := range []string{"h1", "h2"} {
				var seen []int
				for _, s := range counted {
					if s.hospitalName == hospital && !slices.Contains(seen, s.patient) {
						seen = append(seen, s.patient)
					}
				}
				if got := readFigure(t, filepath.Join(place, "tables", "patients.parquet"), int64(i),
					"units"); got.value == nil ||
					math.Abs(*got.value-float64(len(seen))) > 2 {
					t.Errorf("units of %s: %v, want %d", hospital, got.value, len(seen))
				}
			}
			for i, block := range []string{"A00-A09", "B20-B24", "R50-R69"} {
				for band := range 12 {
					n := 0
					for _, s := range counted {
						if s.icdBlock == block && s.age/10 == band {
							n++
						}
					}
					at := int64([]int{1, 2, 0}[i]*12 + band) // blocks in the order of the code book
					if band == 11 {
						continue // [110, 110] of its own
					}
					if got := readFigure(t, filepath.Join(place, "tables", "diagnosis.parquet"), at,
						"count"); got.value == nil ||
						math.Abs(*got.value-float64(n)) > 2 {
						t.Errorf("stays of %s at %d0: %v, want %d", block, band, *got.value, n)
					}
				}
			}
		})
	}
}
