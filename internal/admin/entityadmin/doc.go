// Package entityadmin creates, changes, describes and deletes queues, topics, subscriptions and rules of Azure Service Bus
// in a virtual host, with the operations of administrators (internal/admin/management). The administration API and the file
// of the emulator use it.
//
//	admin.go: the Manager, errors · read.go: what there is · write.go: entities · rules.go: rules · keys.go: access keys of entities · ensure.go: what a file asks for
//
// Owns: nothing; entities are stored as ordinary queues, exchanges, bindings, policies and parameters. An entity is
// searched by its exact name, then case-insensitively. Deadlines: the context's.
//
// Several steps make an entity, its policy and its queue among them; the queue is last, so that it starts with its
// settings. If a step fails, earlier ones are undone. A crash in between leaves a policy without its queue; creating
// the entity again completes it.
package entityadmin
