package topology

import "github.com/asynkron/protoactor-go/actor"

// Address is whom a mail goes to. Whoever only keeps, compares and passes on addresses knows them by this name and not the actor library.
type Address = *actor.PID

// ChildOf returns the address of the actor that an actor starts under a name.
func ChildOf(parent Address, name string) Address {
	return actor.NewPID(parent.Address, parent.Id+"/"+name)
}

// again returns the same address behind a pointer of its own.
func again(a Address) Address { return actor.NewPID(a.Address, a.Id) }
