// Package configfile reads the Config.json of the emulator of Azure Service Bus: queues, topics, subscriptions and rules that are to be there when
// the broker starts. Comments are allowed; unknown keys are errors, with their names; the emulator's limits do not count. It is pure but for
// Apply, which has a Manager create what is missing and change what differs. A file has at most MaxFile bytes.
package configfile
