// Package ruleaction applies the action of a rule to the subscription's copy of a message (SBR-6). It changes the
// properties, in 0-9-1 form and in the original, and keeps the body. It is pure except for newid().
//
// Bounds: the property list of a copy takes at most message.MaxHeader bytes, and a field of Service Bus at most
// 255.
package ruleaction
