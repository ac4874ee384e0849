//go:build !linux

package vfs

import (
	"math"
	"os"
)

func preallocate(f *os.File, size int64) error { return fill(f, size) }

func syncData(f *os.File) error { return f.Sync() }

// Free returns the largest number, because the free space is not known here.
func (disk) Free(string) (uint64, error) { return math.MaxUint64, nil }
