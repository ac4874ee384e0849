package topology

// Address is the recipient of a mail. The actor library defines the addresses of actors: packages that only store,
// compare and pass addresses do not import the library.
type Address interface {
	// GetId returns the path of names from the root to the actor. No other living actor has the same.
	GetId() string
}

// Alias is the address of an actor behind a pointer of its own.
type Alias struct{ Address }
