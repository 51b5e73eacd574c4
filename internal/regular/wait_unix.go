//go:build unix

package regular

import "syscall"

// withoutWaiting opens a pipe that nobody writes to at once. It changes nothing about files.
const withoutWaiting = syscall.O_NONBLOCK
