// Command generate writes the quickstart's made-up labour force survey:
// 50 000 rows, about 49 500 persons, the same file every time.
//
//	go run ./examples/quickstart/generate examples/quickstart/data/lfs-2026q1.parquet
package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// rows of the survey; every hundredth repeats the person before.
const rows = 50000

// answer is one row of the survey.
type answer struct {
	PersonID    int64   `parquet:"person_id,delta"`
	Age         int32   `parquet:"age"`
	Sex         string  `parquet:"sex,dict"`
	Region      string  `parquet:"region,dict"`
	Education   *string `parquet:"education,optional,dict"`
	Status      string  `parquet:"status,dict"`
	Hours       *int32  `parquet:"hours,optional"`
	Interviewed int32   `parquet:"interviewed,date"`
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: generate FILE.parquet")
		os.Exit(2)
	}
	b, err := survey(rand.New(rand.NewPCG(2026, 1)))
	if err == nil {
		err = os.WriteFile(os.Args[1], b, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// survey is the whole file.
func survey(r *rand.Rand) ([]byte, error) {
	answers := make([]answer, rows)
	for i := range answers {
		answers[i] = person(r, int64(100000+i))
		if i%100 == 99 {
			answers[i] = again(r, answers[i-1])
		}
	}
	r.Shuffle(len(answers), func(i, j int) { answers[i], answers[j] = answers[j], answers[i] })
	var b bytes.Buffer
	w := parquet.NewGenericWriter[answer](&b, parquet.Compression(&zstd.Codec{}),
		parquet.CreatedBy("dprelease examples", "", ""))
	if _, err := w.Write(answers); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// again is a second interview of the same person, some weeks later.
func again(r *rand.Rand, a answer) answer {
	a.Interviewed = min(a.Interviewed+7*int32(1+r.IntN(4)), lastDay)
	return a
}

// The first quarter of 2026, in days since 1970-01-01.
const (
	firstDay = 20454
	lastDay  = firstDay + 89
)

var (
	regions        = []string{"N1", "N2", "N3", "M1", "M2", "M3", "M4", "S1", "S2", "S3"}
	regionWeight   = []float64{9, 4, 3, 24, 15, 11, 6, 10, 13, 5}
	levels         = []string{"primary", "lower secondary", "upper secondary", "bachelor", "master", "doctorate"}
	levelWeight    = []float64{6, 18, 41, 21, 12, 2}
	unemploymentBy = map[byte]float64{'N': .05, 'M': .07, 'S': .11}
)

// person draws one person with the dependences that tables should show.
func person(r *rand.Rand, id int64) answer {
	a := answer{
		PersonID:    id,
		Age:         age(r),
		Sex:         pick(r, []string{"female", "male"}, []float64{51, 49}),
		Region:      pick(r, regions, regionWeight),
		Interviewed: firstDay + int32(r.IntN(lastDay-firstDay+1)),
	}
	if a.Age >= 6 {
		level := education(r, a.Age)
		a.Education = &level
	}
	a.Status = status(r, a)
	if a.Status == "employed" {
		hours := int32(min(max(37+r.NormFloat64()*9, 1), 80))
		a.Hours = &hours
	}
	return a
}

// age follows a rough pyramid.
func age(r *rand.Rand) int32 {
	for {
		y := int32(r.IntN(105))
		if r.Float64() < 1-float64(max(y-50, 0))/58 {
			return y
		}
	}
}

// education grows with age until thirty.
func education(r *rand.Rand, age int32) string {
	switch {
	case age < 12:
		return "primary"
	case age < 17:
		return pick(r, levels[:2], []float64{2, 8})
	case age < 22:
		return pick(r, levels[:4], []float64{2, 20, 70, 8})
	default:
		return pick(r, levels, levelWeight)
	}
}

// status depends on age, region and education.
func status(r *rand.Rand, a answer) string {
	if a.Age < 16 || a.Age > 74 {
		return "inactive"
	}
	active := .82
	switch {
	case a.Age < 25:
		active = .55
	case a.Age > 64:
		active = .12
	}
	if r.Float64() > active {
		return "inactive"
	}
	unemployed := unemploymentBy[a.Region[0]]
	if a.Education != nil && (*a.Education == "primary" || *a.Education == "lower secondary") {
		unemployed *= 2
	}
	if r.Float64() < unemployed {
		return "unemployed"
	}
	return "employed"
}

// pick draws one of the options with the given weights.
func pick(r *rand.Rand, options []string, weight []float64) string {
	var sum float64
	for _, w := range weight {
		sum += w
	}
	u := r.Float64() * sum
	for i, w := range weight {
		if u < w {
			return options[i]
		}
		u -= w
	}
	return options[len(options)-1]
}
