package bounding

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// stretchesOf puts random stretches aside and returns what each partition got.
func stretchesOf(t testing.TB, s *spill, parts, n int) [][]byte {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	want := make([][]byte, parts)
	for range n {
		p, part := random.IntN(parts), make([]byte, 1+random.IntN(100))
		for i := range part {
			part[i] = byte(random.Uint32())
		}
		want[p] = append(want[p], part...)
		if _, err := s.put(p, part); err != nil {
			t.Fatal(err)
		}
	}
	return want
}

// What is put aside comes back, from memory, from disk and from both.
func TestSpillGivesBackWhatItTook(t *testing.T) {
	for _, limit := range []int64{0, 2000, 1 << 20} {
		s := newSpill(t.TempDir(), limit, 5)
		for p, want := range stretchesOf(t, s, 5, 200) {
			var visited []byte
			if err := s.eachStretch(p, func(b []byte) error {
				visited = append(visited,
					b...)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			got, err := s.takeAll(p, make([]byte, 10))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) || !bytes.Equal(visited, want) {
				t.Errorf("limit %d: partition %d came back as other bytes", limit, p)
			}
		}
		if s.held != 0 {
			t.Errorf("limit %d: %d bytes are held behind taking all", limit, s.held)
		}
		if (s.file == nil) != (limit == 1<<20) {
			t.Errorf("limit %d: on disk: %v", limit, s.file != nil)
		}
		if err := s.close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Nobody who looks into the folder finds anything, while it is open or later.
func TestSpillLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	s := newSpill(dir, 0, 1)
	if _, err := s.put(0, make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	if found := namesIn(t, dir); runtime.GOOS == "linux" && len(found) > 0 {
		t.Errorf("an open file has the name %v", found)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	if found := namesIn(t, dir); len(found) > 0 {
		t.Errorf("closing leaves %v", found)
	}
	if err := s.close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
}

// someID is what tests store.
var someID = []byte("a person's id, in full")

// What stands on disk is no plain text, and not the same cipher at two places.
func TestSpillIsEnciphered(t *testing.T) {
	s := newSpill(t.TempDir(), 0, 1)
	defer s.close()
	for range 2 {
		if _, err := s.put(0, bytes.Clone(someID)); err != nil {
			t.Fatal(err)
		}
	}
	first, second := make([]byte, len(someID)), make([]byte, len(someID))
	for i, raw := range [][]byte{first, second} {
		if _, err := s.file.ReadAt(raw, int64(s.parts[0].stretches[i].page)*pageBytes); err != nil {
			t.Fatal(err)
		}
	}
	if bytes.Contains(first, someID[:8]) || bytes.Contains(second, someID[:8]) || bytes.Equal(first, second) {
		t.Error("the file shows what was put aside")
	}
}

// A folder that cannot be used is an error that says what to do, with nothing
// left behind.
func TestSpillWithoutAFolder(t *testing.T) {
	s := newSpill(filepath.Join(t.TempDir(), "none"), 0, 1)
	if _, err := s.put(0, make([]byte, 1)); err == nil {
		t.Error("bytes were put aside in a folder that is not there")
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
}

func namesIn(t testing.TB, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// A partition that was on disk keeps nothing once it is forgotten. If more is stored for it, its key stream is another.
func TestForgottenPartitionsKeepNothing(t *testing.T) {
	s := newSpill(t.TempDir(), 0, 1)
	defer s.close()
	var onDisk [2][]byte
	for i := range onDisk {
		if _, err := s.put(0, bytes.Clone(someID)); err != nil {
			t.Fatal(err)
		}
		onDisk[i] = make([]byte, len(someID))
		if _, err := s.file.ReadAt(onDisk[i], int64(s.parts[0].stretches[0].page)*pageBytes); err != nil {
			t.Fatal(err)
		}
		if got, err := s.takeAll(0, nil); err != nil || !bytes.Equal(got, someID) {
			t.Fatal("a partition came back as other bytes:", err)
		}
		if s.parts[0] != nil {
			t.Error("a forgotten partition keeps something")
		}
	}
	if bytes.Equal(onDisk[0], onDisk[1]) {
		t.Error("a key stream was used twice")
	}
}
