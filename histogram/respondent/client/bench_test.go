package client_test

import (
	"testing"

	"github.com/dprelease/dprelease/histogram/respondent/client"
)

// BenchmarkRandomise draws reports with the system's generator into a buffer: 2 million a second and core are wanted of
// a set of 27 of 100 categories.
func BenchmarkRandomise(b *testing.B) {
	for name, q := range map[string]client.Question{
		"set100":   {Form: client.Set, Categories: 100, Support: 27, Keep: 140737488355328},
		"set2":     {Form: client.Set, Categories: 2, Support: 1, Keep: 247922740009014},
		"permuted": {Form: client.Permuted, Categories: 1009, Support: 120, Keep: 140737488355328},
	} {
		b.Run(name, func(b *testing.B) {
			random, report := client.NewBytes(nil), make([]byte, 0, 64)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := q.Randomise(report, int64(i)%q.Categories, random); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRespond is a device's first response.
func BenchmarkRespond(b *testing.B) {
	for _, asks := range []string{client.One, client.All} {
		c := read(b, textOf(b, threeQuestions(b, asks, "3", "1")))
		b.Run(asks, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Respond(students, new(client.Memo), nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
