// Package configfile reads the Config.json of the emulator of Azure Service Bus: queues, topics, subscriptions and
// rules that the broker creates when it starts. Comments are allowed; unknown keys are errors, with their names; the
// emulator's limits do not apply. It is pure except for Apply, which makes a Manager create missing entities and change
// different ones. A file has at most MaxFile bytes.
package configfile
