package bounding

// This file decides for units that are too large to be sorted: those whose rows alone are more than a partition may
// hold.

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"
)

// decideLarge decides for a partition with a single word that is too large to be sorted, unit by unit: ids of one word
// are one unit, or long ids with one hash. Groups cannot be chosen in this way: that is ErrMemory. Total releases have
// no bounds on groups.
func (s *sorter) decideLarge(p int) error {
	units := map[string]*uint64{} // rows by long id, or by ""
	err := s.eachRow(p, func(_, _ uint64, m tupleRest) error {
		id := s.longID(m)
		rows := units[string(id)]
		if rows == nil {
			rows = new(uint64)
			units[string(id)] = rows
		}
		*rows++
		return nil
	})
	if err != nil {
		return err
	}
	if s.chooses && s.caps.Grouped() {
		return ErrMemory
	}
	left := uint64(0)
	release := s.takeBits()
	err = s.eachRow(p, func(_, place uint64, m tupleRest) error {
		stays := bitOf(*units[string(s.longID(m))] <= s.mostRows())
		left |= stays ^ 1
		s.kept.setBit(place, stays)
		return nil
	})
	release()
	if err != nil {
		return err
	}
	if !s.chooses {
		s.noteLeft(left)
		return nil
	}
	for id, rows := range units {
		if *rows > s.mostRows() {
			if err := s.chooseLarge(p, []byte(id)); err != nil {
				return err
			}
		}
	}
	s.spill.forget(p)
	return nil
}

// longID returns the id of a row if ids are long, and nil if not.
func (s *sorter) longID(m tupleRest) []byte {
	if s.longIDs {
		return s.idOf(m)
	}
	return nil
}

// priorityBits is the number of bits of a priority by which the rows of a large unit are counted.
const priorityBits = 16

// rowRank is the priority of one of the rows of a unit with the same content.
type rowRank struct {
	priority, content Hash
	number            uint64
}

func (r rowRank) compare(other rowRank) int {
	return cmp.Or(r.priority.compare(other.priority), r.content.compare(other.content),
		cmp.Compare(r.number, other.number))
}

// chooseLarge chooses among the rows of one unit of a partition. Its rows are first partitioned by their contents.
// Then they are read three times: to count them by the first bits of their priorities, to find the largest priority
// that stays among those with the same first bits, and to record which rows stay.
func (s *sorter) chooseLarge(p int, id []byte) error {
	if s.caps.Rows == 0 {
		return nil
	}
	leaves, err := s.partitionByContent(p, 0, id)
	if err != nil {
		return err
	}
	defer func() {
		for _, leaf := range leaves {
			s.spill.forget(leaf)
		}
	}()
	counts := make([]uint64, 1<<priorityBits)
	err = s.eachRank(leaves, func(r rowRank) { counts[r.priority[0]>>(64-priorityBits)]++ })
	if err != nil {
		return err
	}
	first, open := uint64(0), s.caps.Rows
	for counts[first] < open {
		open -= counts[first]
		first++
	}
	var among []rowRank
	err = s.eachRank(leaves, func(r rowRank) {
		if r.priority[0]>>(64-priorityBits) == first {
			among = append(among, r)
		}
	})
	if err != nil {
		return err
	}
	slices.SortFunc(among, rowRank.compare)
	return s.keepUpTo(leaves, among[open-1])
}

// partitionByContent partitions the rows of a unit of a partition by their contents, whose first skip bits are equal,
// until each partition can be sorted or has a single content. It returns the partitions.
func (s *sorter) partitionByContent(p, skip int, id []byte) (leaves []int, err error) {
	const ways = 64
	r := newRouter(s.spill, s.spill.addParts(ways), skip, ways, leastChunk)
	err = s.eachRow(p, func(_, place uint64, m tupleRest) error {
		if s.longIDs && !bytes.Equal(s.idOf(m), id) {
			return nil
		}
		to, err := r.addRow(m.contentOf()[0], place, len(m))
		copy(to, m)
		return err
	})
	if err != nil {
		return nil, err
	}
	r.flushAll()
	skip += bits.Len(ways - 1)
	for leaf := r.base; leaf < r.base+ways; leaf++ {
		isOneWord := true // of contents
		if s.spill.size(leaf) > s.sortLimit && skip+bits.Len(ways-1) <= 64 {
			if isOneWord, err = s.haveOneWord(leaf); err != nil {
				return nil, err
			}
		}
		if isOneWord {
			leaves = append(leaves, leaf)
			continue
		}
		more, err := s.partitionByContent(leaf, skip, id)
		if err != nil {
			return nil, err
		}
		s.spill.forget(leaf)
		leaves = append(leaves, more...)
	}
	return leaves, nil
}

// contentsOf counts the rows of a partition by their contents.
func (s *sorter) contentsOf(leaf int) (map[Hash]uint64, error) {
	rows := map[Hash]uint64{}
	return rows, s.eachRow(leaf, func(_, _ uint64, m tupleRest) error {
		rows[m.contentOf()]++
		return nil
	})
}

// eachRank visits the rank of every row of a unit that is partitioned by content.
func (s *sorter) eachRank(leaves []int, visit func(rowRank)) error {
	for _, leaf := range leaves {
		rows, err := s.contentsOf(leaf)
		if err != nil {
			return err
		}
		for content, n := range rows {
			for number := range n {
				if number%ranksBetweenChecks == 0 && s.ctx.Err() != nil {
					return s.ctx.Err()
				}
				visit(rowRank{s.priorityOf(inUnit, content, number+1), content, number + 1})
			}
		}
	}
	return nil
}

// ranksBetweenChecks is the number of rows that are ranked between two looks at the context.
const ranksBetweenChecks = 1 << 16

// keepUpTo keeps the rows of a unit whose rank is at most last. Rows with the same content are interchangeable: as many
// of them stay as have such a rank.
func (s *sorter) keepUpTo(leaves []int, last rowRank) error {
	defer s.takeBits()()
	for _, leaf := range leaves {
		rows, err := s.contentsOf(leaf)
		if err != nil {
			return err
		}
		for content, n := range rows {
			stay := uint64(0)
			for number := range n {
				if number%ranksBetweenChecks == 0 && s.ctx.Err() != nil {
					return s.ctx.Err()
				}
				r := rowRank{s.priorityOf(inUnit, content, number+1), content, number + 1}
				stay += bitOf(r.compare(last) <= 0)
			}
			rows[content] = stay
		}
		err = s.eachRow(leaf, func(_, place uint64, m tupleRest) error {
			if content := m.contentOf(); rows[content] > 0 {
				rows[content]--
				s.kept.setBit(place, 1)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
