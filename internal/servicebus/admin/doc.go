// Package admin creates, changes, describes and deletes queues, topics, subscriptions and rules of Azure Service Bus
// in a virtual host, with the operations of administrators (internal/management). The administration API and the file
// of the emulator use it.
//
//	admin.go: the Manager, errors · read.go: what there is · write.go: entities · rules.go: rules · keys.go: access keys of entities · ensure.go: what a file asks for
//
// Owns: nothing; what is kept is an ordinary queue, exchange, binding, policy or parameter. An entity is looked for
// by its name as it is, then without regard to case. Deadlines: those of the context.
//
// Several steps make an entity, its policy and its queue among them; the queue is last, so that it begins with its
// settings. A step that fails undoes those before it. A crash in between leaves a policy for a queue that is not
// there; creating it again completes it.
package admin
