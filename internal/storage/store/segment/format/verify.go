package format

import (
	"errors"
	"fmt"
	"io"
	"math"
)

// Verify reads a segment of size bytes, all of which were written once. It returns an error if the header, a batch or a record is damaged.
func Verify(file io.ReaderAt, size int64) error {
	head := make([]byte, HeaderSize)
	if _, err := file.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	seq, salt, _, ok := DecodeHeader(head)
	if !ok {
		return errors.New("the header of a segment is damaged")
	}
	w := NewWalker(file, SeedOf(seq, salt), BatchesFrom, size)
	w.Limit = math.MaxUint64 - 1
	var damage error
	w.Damage = func(at int64, text string) { damage = errors.Join(damage, fmt.Errorf("at %d: %s", at, text)) }
	for number := uint64(0); ok && damage == nil; {
		number, ok = w.Next(number, func(*Entry) {})
	}
	return errors.Join(damage, w.Fault)
}
