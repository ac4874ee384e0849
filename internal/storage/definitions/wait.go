package definitions

// Wait stores a change and waits until it is durable. It is not for actors.
func Wait(m Store, c Change) (revision uint64, err error) {
	ended := make(chan struct{})
	m.Apply(c, func(r uint64, e error) {
		revision, err = r, e
		close(ended)
	})
	<-ended
	return revision, err
}
