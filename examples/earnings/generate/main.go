// Command generate writes the made-up payroll of the earnings example: 200 000 jobs of
// about 160 000 persons, the same file every time.
//
//	go run ./examples/earnings/generate examples/earnings/data/payroll.parquet
package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// jobs in the payroll.
const jobs = 200_000

// job is one row of the payroll: a job of a person in one month.
type job struct {
	Person   int64   `parquet:"person,delta"`
	Industry string  `parquet:"industry,dict"`
	Region   string  `parquet:"region,dict"`
	Size     string  `parquet:"size,dict"` // of the enterprise
	Sex      string  `parquet:"sex,dict"`
	Pay      float64 `parquet:"pay"` // of the month
	Hours    int32   `parquet:"hours"`
	Weight   float64 `parquet:"weight"` // of the survey: how many jobs it stands for
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: generate FILE.parquet")
		os.Exit(2)
	}
	b, err := payroll(rand.New(rand.NewPCG(2026, 3)))
	if err == nil {
		err = os.MkdirAll(filepath.Dir(os.Args[1]), 0o755)
	}
	if err == nil {
		err = os.WriteFile(os.Args[1], b, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// payroll is the whole file.
func payroll(r *rand.Rand) ([]byte, error) {
	all := make([]job, 0, jobs)
	for person := int64(500_000); len(all) < jobs; person++ {
		sex := pick(r, []string{"female", "male"}, []float64{48, 52})
		region := pick(r, regions, regionWeight)
		for range 1 + pickPlace(r, []float64{80, 16, 3, 1}) {
			all = append(all, newJob(r, person, sex, region))
		}
	}
	all = all[:jobs]
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	var b bytes.Buffer
	w := parquet.NewGenericWriter[job](&b, parquet.Compression(&zstd.Codec{}),
		parquet.CreatedBy("dprelease examples", "", ""))
	if _, err := w.Write(all); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

var (
	regions      = []string{"north", "east", "south", "west", "islands"}
	regionWeight = []float64{31, 24, 27, 17, 1}
	industries   = []string{"agriculture", "manufacturing", "construction", "trade", "transport", "hospitality",
		"information", "finance", "public", "education", "health", "other"}
	industryWeight = []float64{2, 16, 7, 17, 6, 6, 6, 4, 9, 9, 13, 5}
	// median of a full month
	industryPay = []float64{2100, 3300, 2900, 2500, 2700, 1900, 4400, 4800, 3500, 3300, 3000, 2400}
	women       = []float64{.30, .28, .12, .50, .25, .55, .32, .48, .52, .70, .76, .52}
	sizes       = []string{"micro", "small", "medium", "large"}
	sizeWeight  = []float64{22, 24, 21, 33}
	sizePay     = []float64{.82, .93, 1.02, 1.14}
)

// newJob draws a job with the dependences that tables should show.
func newJob(r *rand.Rand, person int64, sex, region string) job {
	i := pickPlace(r, industryWeight)
	// jobs go to whom industries employ
	if female := r.Float64() < women[i]; female != (sex == "female") && r.Float64() < .8 {
		i = pickPlace(r, industryWeight)
	}
	s := pickPlace(r, sizeWeight)
	hours := min(max(160+r.NormFloat64()*15, 8), 220)
	if part := map[string]float64{"female": .42, "male": .12}[sex]; r.Float64() < part {
		hours = min(max(80+r.NormFloat64()*25, 8), 140)
	}
	pay := industryPay[i] * sizePay[s] * hours / 160 * math.Exp(r.NormFloat64()*.35)
	if sex == "female" {
		pay *= .93
	}
	if s == 3 && r.Float64() < .004 { // a few at the top of large enterprises
		pay *= 8
	}
	return job{
		Person: person, Industry: industries[i], Region: region, Size: sizes[s], Sex: sex,
		Pay: math.Round(pay*100) / 100, Hours: int32(hours), Weight: math.Round((8+4*r.Float64()+float64(3-s)*3)*2) / 2,
	}
}

// pick draws one of the options with the given weights.
func pick(r *rand.Rand, options []string, weight []float64) string {
	return options[pickPlace(r, weight)]
}

// pickPlace draws a place with the given weights.
func pickPlace(r *rand.Rand, weight []float64) int {
	var sum float64
	for _, w := range weight {
		sum += w
	}
	u := r.Float64() * sum
	for i, w := range weight {
		if u < w {
			return i
		}
		u -= w
	}
	return len(weight) - 1
}
