package source

import (
	"os"
	"syscall"
	"time"
)

// changeTime returns when the file was last changed in any way, including a change of its times. Unlike the other
// times, nobody can set it.
func changeTime(info os.FileInfo) time.Time {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(stat.Ctim.Unix())
	}
	return time.Time{}
}
