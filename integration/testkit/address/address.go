package address

// Named is the address of an actor of that name, which does not exist.
type Named string

// GetId returns the name.
func (n Named) GetId() string { return string(n) }
