package topology

import "github.com/asynkron/protoactor-go/actor"

// Address is the recipient of a mail. Packages that only store, compare and pass addresses use this name and do not
// import the actor library.
type Address = *actor.PID

// ChildOf returns the address of the actor that an actor starts under a name.
func ChildOf(parent Address, name string) Address {
	return actor.NewPID(parent.Address, parent.Id+"/"+name)
}

// again returns the same address behind a pointer of its own.
func again(a Address) Address { return actor.NewPID(a.Address, a.Id) }
