package main

// This file holds who lives in a block: households, and group quarters.

// kinds is the number of kinds of quarters: 0 is a household, 1 to 7 are the types of group quarters.
const kinds = 8

// person is a person of a block.
type person struct {
	quarters, age uint8
	origin
}

// isAdult reports whether a person may vote by age.
func (p person) isAdult() bool { return p.age >= 18 }

// people is who lives in a block, and in what.
type people struct {
	persons []person
	units   [kinds]int // housing units, occupied or vacant, and facilities by type
}

// facility describes a type of group quarters.
type facility struct {
	name       string
	share      float64 // of all facilities
	most       int     // persons in the largest
	from, upTo int     // ages
}

// facilities are the types of group quarters, from 1. Prisons, colleges and barracks can have thousands of persons.
var facilities = [kinds]facility{
	1: {"Correctional facilities for adults", .08, 20_000, 18, 70},
	2: {"Juvenile facilities", .03, 500, 10, 17},
	3: {"Nursing facilities", .12, 500, 60, 99},
	4: {"Other institutional facilities", .03, 500, 5, 85},
	5: {"College housing", .25, 20_000, 18, 24},
	6: {"Military quarters", .02, 20_000, 18, 45},
	7: {"Other noninstitutional facilities", .47, 500, 15, 75},
}

const (
	withFacility     = .033 // of blocks with housing units
	facilitySize     = 42   // persons, on average, and one more
	facilitySpread   = 1.2
	keepsOrigin      = .85 // of the members of a household
	vacant           = .097
	reservationBonus = 2 // of the logarithm of the factor of American Indians and Alaska Natives
)

var (
	// householdSizes holds the shares of households with one person, two persons and so on.
	householdSizes = []float64{.276, .345, .153, .129, .060, .023, .014}

	// adultAges holds the shares of ages among adults.
	adultAges = []struct {
		from, upTo int
		share      float64
	}{{18, 24, .12}, {25, 34, .178}, {35, 44, .165}, {45, 54, .158}, {55, 64, .165}, {65, 74, .125}, {75, 84, .063},
		{85, 99, .026}}
)

// people draws who lives in a block. It appends the persons to into, so that callers can use its memory again.
func (n nation) people(b area, into []person) people {
	p := people{persons: into}
	if b.settled == 0 {
		return p
	}
	r := n.streamOf(&b)
	if b.reservation {
		b.composition[2] += reservationBonus
	}
	o := newOrigins(b.composition)
	for left := b.persons; left > 0; p.units[0]++ {
		size := min(r.householdSize(), left)
		p.persons = r.household(p.persons, size, o)
		left -= size
	}
	p.units[0] = max(p.units[0], 1)
	for range p.units[0] {
		for r.chance(vacant) {
			p.units[0]++
		}
	}
	if b.persons > 0 && r.chance(withFacility) {
		kind := r.facility()
		p.units[kind] = 1
		p.persons = r.groupQuarters(p.persons, kind, o)
	}
	return p
}

func (s *stream) householdSize() int {
	u := s.Float64()
	for i, share := range householdSizes {
		if u -= share; u < 0 {
			return i + 1
		}
	}
	return len(householdSizes)
}

// household draws the members of a household. The first is an adult.
func (s *stream) household(into []person, size int, o *origins) []person {
	common := o.draw(s)
	minor := .47
	if size == 2 {
		minor = .09
	}
	for i := range size {
		p := person{origin: common}
		if !s.chance(keepsOrigin) {
			p.origin = o.draw(s)
		}
		if i > 0 && s.chance(minor) {
			p.age = uint8(s.IntN(18))
		} else {
			p.age = s.adultAge()
		}
		into = append(into, p)
	}
	return into
}

func (s *stream) adultAge() uint8 {
	u := s.Float64()
	for _, g := range adultAges {
		if u -= g.share; u < 0 {
			return s.age(g.from, g.upTo)
		}
	}
	return s.age(18, 99)
}

func (s *stream) age(from, upTo int) uint8 { return uint8(from + s.IntN(upTo-from+1)) }

func (s *stream) facility() int {
	u := s.Float64()
	for kind, f := range facilities {
		if u -= f.share; u < 0 {
			return kind
		}
	}
	return len(facilities) - 1
}

// groupQuarters draws the persons in a facility.
func (s *stream) groupQuarters(into []person, kind int, o *origins) []person {
	f := facilities[kind]
	size := min(1+int(facilitySize*s.lognormal(facilitySpread)), f.most)
	for range size {
		into = append(into, person{quarters: uint8(kind), age: s.age(f.from, f.upTo), origin: o.draw(s)})
	}
	return into
}
