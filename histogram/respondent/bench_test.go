package respondent

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/dprelease/dprelease/histogram/respondent/client"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/files"
)

// benchQuestions returns the question of a collector with so many categories at ε = 1.
func benchQuestions(b *testing.B, categories int64) *questions {
	b.Helper()
	reports, err := counted.NewReports(big.NewRat(1, 1), categories)
	if err != nil {
		b.Fatal(err)
	}
	column := client.Column{Name: "x"}
	for i := range categories {
		column.Categories = append(column.Categories, strconv.FormatInt(i, 10))
	}
	c := client.Collector{Format: collectorFormat, Release: "bench", Collection: "answers", Epsilon: "1",
		Asks: client.All,
		Questions: []client.Question{{Name: "x", Columns: []client.Column{column}, Epsilon: "1",
			Form:       string(reports.Form),
			Categories: reports.Categories, Support: reports.Support, Keep: reports.Keep}}}
	return newQuestions(readCollector(b, c))
}

// BenchmarkCounting counts reports in memory, on one core: a report is an operation.
func BenchmarkCounting(b *testing.B) {
	for _, categories := range []int64{2, 100, 512, 1000} {
		b.Run(fmt.Sprint(categories), func(b *testing.B) {
			q := benchQuestions(b, categories)
			reports := make([]string, 1000)
			random := client.NewBytes(nil)
			for i := range reports {
				report, err := q.Questions[0].Randomise(nil, int64(i)%categories, random)
				if err != nil {
					b.Fatal(err)
				}
				reports[i] = string(report)
			}
			counter := newCounters(q, newTally(q))[0]
			b.ResetTimer()
			for i := range b.N {
				counter.count(reports[i%len(reports)])
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mreports/s")
		})
	}
}

// BenchmarkFiles counts a file of shuffled reports of 100 categories; DPRELEASE_REPORTS says of how many million.
func BenchmarkFiles(b *testing.B) {
	millions, err := strconv.Atoi(os.Getenv("DPRELEASE_REPORTS"))
	if err != nil {
		millions = 1
	}
	q := benchQuestions(b, 100)
	dir := b.TempDir()
	writeBenchReports(b, q, filepath.Join(dir, "r.parquet"), millions*1_000_000)
	table := &spec.Table{Name: "t", Source: spec.TableSource{Format: files.Parquet, Paths: []string{"r.parquet"}}}
	b.ResetTimer()
	for range b.N {
		if _, err := countAll(context.Background(), source.Data{Dir: dir}, table, q, false, 0); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*float64(millions)/b.Elapsed().Seconds(), "Mreports/s")
}

// writeBenchReports writes a file of reports without tokens.
func writeBenchReports(b *testing.B, q *questions, path string, n int) {
	b.Helper()
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	w, random := NewWriter(f), client.NewBytes(nil)
	var seed [8]byte
	if _, err := rand.Read(seed[:]); err != nil {
		b.Fatal(err)
	}
	at := binary.LittleEndian.Uint64(seed[:])
	for i := range n {
		report, err := q.Questions[0].Randomise(nil, int64((at+uint64(i))%100), random)
		if err == nil {
			err = w.Write(client.Report{Collector: q.ID(), Question: "x", Bytes: report}, true)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
}

// readCollector reads a collector as devices do.
func readCollector(tb testing.TB, c client.Collector) *client.Collector {
	tb.Helper()
	read, err := client.Read(encodeCollector(c))
	if err != nil {
		tb.Fatal(err)
	}
	return read
}
