package histogramtest

import (
	"encoding/binary"

	"github.com/dprelease/dprelease/histogram/respondent/client"
)

// Holds reports whether a valid report holds a category of a question.
func Holds(q *client.Question, report []byte, category int64) bool {
	if q.Form == client.Permuted {
		a, b := binary.BigEndian.Uint32(report), binary.BigEndian.Uint32(report[4:])
		return (int64(a)*category+int64(b))%q.Categories < q.Support
	}
	return report[category/8]>>(category%8)&1 == 1
}
