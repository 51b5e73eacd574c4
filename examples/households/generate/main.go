// Command generate writes the made-up register of the households example: 40 000 households and the persons in them,
// the same files every time.
//
//	go run ./examples/households/generate examples/households/data
package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// households in the register.
const households = 40_000

// household is one row of the households.
type household struct {
	ID     int64  `parquet:"household"`
	Region string `parquet:"region,dict"`
	Tenure string `parquet:"tenure,dict"`
	Rooms  int32  `parquet:"rooms"`
}

// person is one row of the persons.
type person struct {
	Household int64  `parquet:"household"`
	Sex       string `parquet:"sex,dict"`
	Age       int32  `parquet:"age"`
	Work      string `parquet:"work,dict"`
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: generate FOLDER")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// write writes both files.
func write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	homes, people := register(rand.New(rand.NewPCG(2026, 11)))
	if err := parquet.WriteFile(filepath.Join(dir, "households.parquet"), homes,
		parquet.Compression(&zstd.Codec{})); err != nil {
		return err
	}
	return parquet.WriteFile(filepath.Join(dir, "persons.parquet"), people, parquet.Compression(&zstd.Codec{}))
}

// register is all households and persons, each in an order of its own.
func register(r *rand.Rand) (homes []household, people []person) {
	for i := range households {
		h, living := newHousehold(r, int64(300_000+i))
		homes, people = append(homes, h), append(people, living...)
	}
	r.Shuffle(len(homes), func(i, j int) { homes[i], homes[j] = homes[j], homes[i] })
	r.Shuffle(len(people), func(i, j int) { people[i], people[j] = people[j], people[i] })
	return homes, people
}

// newHousehold draws a household with the dependences that microdata should show: old people live alone and own,
// families have rooms, and towns rent.
func newHousehold(r *rand.Rand, id int64) (household, []person) {
	h := household{ID: id, Region: pick(r, []string{"north", "east", "south", "west"}, []float64{31, 24, 28, 17})}
	owns := map[string]float64{"north": .35, "east": .55, "south": .65, "west": .6}[h.Region]
	var people []person
	switch kind := pick(r, []string{"young", "old", "couple", "family", "shared"}, []float64{17, 16, 28, 33, 6}); kind {
	case "young":
		people, owns = []person{adult(r, 19, 45)}, owns*.4
	case "old":
		people, owns = []person{adult(r, 64, 97)}, owns*1.2
	case "couple":
		age := 22 + r.IntN(65)
		people = []person{adult(r, age, age+8), adult(r, age, age+8)}
	case "family":
		age := 24 + r.IntN(26)
		people, owns = []person{adult(r, age, age+6)}, owns*1.1
		if r.Float64() < .82 {
			people = append(people, adult(r, age, age+6))
		}
		for range 1 + r.IntN(2) + r.IntN(2)*r.IntN(3) {
			people = append(people, newPerson(r, max(0, age-24-r.IntN(18))))
		}
	case "shared":
		owns = .05
		for range 2 + r.IntN(5) {
			people = append(people, adult(r, 18, 32))
		}
	}
	h.Tenure, h.Rooms = "rented", int32(1+r.IntN(2))
	if r.Float64() < owns {
		h.Tenure, h.Rooms = "owned", h.Rooms+1
	}
	h.Rooms = min(h.Rooms+int32(len(people)*3/4), 8)
	for i := range people {
		people[i].Household = id
	}
	return h, people
}

// adult draws a person of an age between two.
func adult(r *rand.Rand, from, to int) person { return newPerson(r, from+r.IntN(to-from)) }

// newPerson draws a person of an age.
func newPerson(r *rand.Rand, age int) person {
	p := person{Sex: pick(r, []string{"female", "male"}, []float64{51, 49}), Age: int32(min(age, 99))}
	switch working := map[string]float64{"female": .72, "male": .81}[p.Sex]; {
	case age < 16:
		p.Work = "child"
	case age >= 66:
		p.Work = "retired"
	case age < 22 && r.Float64() < .7:
		p.Work = "studying"
	case r.Float64() < working:
		p.Work = "working"
	default:
		p.Work = "not_working"
	}
	return p
}

// pick draws one of the options with the given weights.
func pick(r *rand.Rand, options []string, weight []float64) string {
	var sum float64
	for _, w := range weight {
		sum += w
	}
	u := r.Float64() * sum
	for i, w := range weight[:len(weight)-1] {
		if u < w {
			return options[i]
		}
		u -= w
	}
	return options[len(options)-1]
}
