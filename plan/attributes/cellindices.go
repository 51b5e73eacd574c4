package attributes

import (
	"github.com/dprelease/dprelease/spec"
)

// CellIndices returns, for each cell of a marginal, the sum of its categories' contributions: the index in of, times
// the stride; a nil list contributes nothing.
func CellIndices(confidential *spec.Table, by []spec.Attribute, of [][]int, strides []int) []int32 {
	places := []int32{0}
	for l, a := range by {
		level, _ := confidential.Column(a.Column).Domain.Level(a.Level)
		next := make([]int32, 0, len(places)*level.Size())
		for _, before := range places {
			for c := range level.Size() {
				if of[l] == nil {
					next = append(next, before)
				} else {
					next = append(next, before+int32(of[l][c]*strides[l]))
				}
			}
		}
		places = next
	}
	return places
}
