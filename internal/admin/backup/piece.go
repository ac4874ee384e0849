package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// Piece is the first Size bytes of something.
type Piece struct {
	io.ReaderAt
	Size int64
}

// WriteTo implements io.WriterTo: a megabyte at a time.
func (p *Piece) WriteTo(w io.Writer) (n int64, err error) {
	buf := make([]byte, min(p.Size, 1<<20))
	for n < p.Size {
		buf = buf[:min(int64(len(buf)), p.Size-n)]
		if got, err := p.ReadAt(buf, n); got < len(buf) {
			return n, fmt.Errorf("at %d: %w", n, errors.Join(err, io.ErrUnexpectedEOF))
		}
		if _, err := w.Write(buf); err != nil {
			return n, err
		}
		n += int64(len(buf))
	}
	return n, nil
}

// stopped is a writer until ctx ends.
type stopped struct {
	ctx context.Context
	io.Writer
}

// Write implements io.Writer.
func (s *stopped) Write(b []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.Writer.Write(b)
}
