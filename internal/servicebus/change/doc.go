// Package change makes the copy of a message that the action of a rule asks for (SBR-6): its properties, of 0-9-1 and in its original, as they
// are to be in the subscription. The body stays. It is pure but for newid().
//
// Bounds: the property list of a copy takes at most message.LargestHeader bytes, and a field of Service Bus 255.
package change
