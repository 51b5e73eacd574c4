// Package memory computes how much memory a plan needs and how much the machine has.
//
// It reads no file of a release: the need depends on the plan and on the number of processors, and the machine's
// memory on what the system reports.
package memory

import (
	"bytes"
	"fmt"
	"math"
	"math/bits"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"

	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
	"github.com/dprelease/dprelease/plan/compiled"
)

// Available returns how many bytes may be used under a limit, 0 for none: then it is the limit of the Go runtime, and
// at most half of the machine's memory, or all that is free if that is less.
func Available(limit int64) int64 {
	if limit > 0 {
		return limit
	}
	return min(debug.SetMemoryLimit(-1), machineLimit())
}

// machineLimit returns half of the machine's memory or, if that is less, its free memory: MemTotal and MemAvailable of
// Linux, in bytes. On other systems it is unknown and nothing is refused.
func machineLimit() int64 {
	least := int64(math.MaxInt64)
	info, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return least
	}
	for line := range bytes.Lines(info) {
		fields := bytes.Fields(line)
		if len(fields) < 2 {
			continue
		}
		kib, err := strconv.ParseInt(string(fields[1]), 10, 64)
		switch name := string(fields[0]); {
		case err != nil:
		case name == "MemTotal:":
			least = min(least, kib<<10/2)
		case name == "MemAvailable:":
			least = min(least, kib<<10)
		}
	}
	return least
}

// Bytes returns the memory that measuring p takes in addition to the rows that bounding holds: every count twice
// (exact and noisy), the memory of adaptive methods ([adaptive.Memory]), and the records in flight, one per processor.
// It depends on the plan and the machine alone.
func Bytes(p *plan.Plan) int64 {
	total := uint64(0)
	add := func(n, each uint64) {
		high, low := bits.Mul64(n, each)
		sum, carry := bits.Add64(total, low, 0)
		if high != 0 || carry != 0 {
			sum = math.MaxUint64
		}
		total = sum
	}
	attributes := map[string]bool{}
	for _, m := range p.Measurements {
		add(countCells(p, m), 16)
		add(markedCells(m), 1)
		for _, f := range m.Query.Factors {
			attributes[m.Query.Table+"."+f.Attribute+"."+f.Level] = true
		}
		for _, name := range m.Query.Counted.Operands() { // a summed value takes 8 more bytes, and so does its square
			attributes[m.Query.Table+"#"+name] = true
		}
	}
	columns := len(attributes)
	for _, s := range p.Synthetic { // its attributes are measured one by one in any case
		if each, err := adaptive.Cells(p, s); err == nil { // counting refuses it otherwise
			add(1, uint64(adaptive.Memory(s, each)))
		}
	}
	for _, t := range p.Release().Tables {
		if t.Expect != nil {
			columns += len(t.Expect.Every)
		}
	}
	for _, entry := range p.Release().Impossible {
		columns += len(entry.Where)
	}
	// A raw value, its code and its part of the codes that are counted.
	add(source.MaxRows*uint64(runtime.GOMAXPROCS(0)), uint64(columns)*(16+4+4))
	return int64(min(total, math.MaxInt64))
}

// countCells returns how many counts a measurement has before they become integers: one more along ranges.
func countCells(p *plan.Plan, m plan.Measurement) uint64 {
	n := uint64(max(compiled.IntegersInMemory(p, m), 0))
	levels, err := m.Query.Levels(p.Release())
	if err != nil {
		return n // counting refuses it
	}
	for i, f := range m.Query.Factors {
		if size := uint64(levels[i].Size()); f.Basis == plan.Ranges && size > 1 {
			high, low := bits.Mul64(n/(size-1), size)
			if high != 0 {
				return math.MaxUint64
			}
			n = low
		}
	}
	return n
}

// Check returns an *[Error] if need exceeds have, both in bytes.
func Check(need, have int64) error {
	if need > have {
		return &Error{Need: need, Have: have}
	}
	return nil
}

// Error reports that the counts of a plan do not fit into memory. Nothing has been debited when it is found, and
// unless Need is 0 nothing has been read. If Need is 0, what had to be held of the rows did not fit: the cells of a
// sparse table, the groups of one unit or the rows of a parent. How much that is is confidential.
type Error struct {
	Need, Have int64 // bytes
}

// Error returns a sentence that says what to do.
func (e *Error) Error() string {
	if e.Need == 0 {
		return fmt.Sprintf("what must be held of the rows (the cells of sparse tables that rows fall into, the "+
			"values of columns that nobody listed, the groups of one unit, or the rows that rows of linked microdata "+
			"belong to) does not fit into the %d bytes of memory left for it; "+
			"use a machine with more memory, give more of it (--memory), or ask for fewer or coarser sparse tables",
			e.Have)
	}
	return fmt.Sprintf("the plan needs %d bytes of memory and %d are available; use a machine with more memory, give "+
		"more of it (--memory), or ask for fewer or coarser tables, or for fewer rows of microdata",
		e.Need, e.Have)
}
