package budget

// Share has the amounts that one queue has added to a Budget, and to the holder of its notes.
type Share struct {
	Bytes    int64 // of contents in memory
	Reading  int64 // of these, what is being read
	Messages int64 // also those whose contents are not in memory
	Notes    int64 // bytes of what the queue keeps besides its messages
}

// Set changes the share to another one. The zero Share gives all of it back.
func (s *Share) Set(to Share, b *Budget, notes *Holder) {
	b.Add(to.Bytes - s.Bytes)
	b.Read(to.Reading - s.Reading)
	b.Count(to.Messages - s.Messages)
	notes.Hold(to.Notes - s.Notes)
	*s = to
}
