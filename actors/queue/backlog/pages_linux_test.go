package backlog

import (
	"errors"
	"slices"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestPopulate: the pages of a new block are mapped at once, if the kernel can.
func TestPopulate(t *testing.T) {
	data, err := unix.Mmap(-1, 0, maxBlock, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(data) }()
	mapped := func() []byte {
		pages := make([]byte, maxBlock/unix.Getpagesize())
		_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&data[0])), maxBlock, uintptr(unsafe.Pointer(&pages[0])))
		if errno != 0 {
			t.Fatal(errno)
		}
		return pages
	}
	if slices.Contains(mapped(), 1) {
		t.Fatal("pages are mapped before they are used")
	}
	if err := populate(data); errors.Is(err, unix.EINVAL) {
		return // a kernel before 5.14
	} else if err != nil || slices.Contains(mapped(), 0) {
		t.Errorf("%v, mapped: %v", err, mapped())
	}
}
