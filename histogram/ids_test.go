package histogram

import (
	"context"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/spec"
)

func TestSmoke(t *testing.T) {
	for _, mem := range []int64{1 << 30, 1} {
		b, err := newBounding(spec.Unit{ID: "id", MaxRows: 2}, noise.NewStreams(noise.Key{1}, "plan").Bounding("t"), boundOptions{memory: mem, workers: 2, rows: -1, dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		w := b.worker()
		ids := array.NewInt64Builder(memory.DefaultAllocator)
		for i := range 300000 {
			ids.Append(int64(i % 100000))
		}
		if err := w.add(3, 0, ids.NewArray(), nil); err != nil {
			t.Fatal(err)
		}
		k, err := b.finish(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		n := [100000]int{}
		h := 0
		for i := range 300000 {
			if k.of(3)[i>>6]>>(i&63)&1 == 1 {
				n[i%100000]++
				h = h*31 + i
			}
		}
		for i := range n {
			if n[i] != 2 {
				t.Fatal(mem, i, n[i])
			}
		}
		t.Log(h)
	}
}
