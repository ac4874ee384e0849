// Package wheel keeps deadlines: a hierarchical timing wheel without a clock and without a goroutine.
//
// Owns: the slots in which entries wait for their deadline. The entries themselves, their deadlines and the list
// links inside them belong to the caller (Store); the wheel refers to them by uint32 handles, so that neither holds
// pointers.
//
// States: an entry is off the wheel or in exactly one list. Level 0 has one slot per millisecond, each level above
// has slots 64 times as wide. An entry is on the level of the highest 6-bit group in which its deadline differs from
// the base, the time up to which everything has been handled:
//
//	deadline ^ base   0........0 001011 ...... ......      first group that differs: level 2, slot = these 6 bits of the deadline
//
// Therefore all entries of a level are due before the entries of the levels above, and equal deadlines always share a
// list, which keeps them in the order of Add. When the base reaches a slot, Advance opens it: its entries move to lower
// levels, or fire. An opened slot of one ms becomes a separate list, which is emptied before anything else happens, in
// as many calls as the caller's limit requires; entries added between these calls with its deadline are appended, which
// keeps the order.
//
// A list with more than 4096 entries is split: its slot gets its own level, one lower, and the entries move there, as
// they would when the slot is opened; opening the slot then only adopts that level. So a list is short, or all its
// entries are due at the same ms. With the lengths of lists and the numbers of entries of levels, some hundred slots
// and one list have to be examined to count exactly the entries due until a time (Until), or to find the entries due
// next (From, Earliest): no separate histogram with moving horizons is needed.
//
// Deadlines: wall milliseconds of any size up to math.MaxInt64-1 (eleven levels); math.MaxInt64 means never and is not
// added. Nothing fires early. Empty slots are never visited, however far the clock advances: one bitmap per level finds
// the next used slot.
//
// A restart loses everything; the owner adds its entries again.
package wheel
