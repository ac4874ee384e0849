// Package wheel keeps deadlines: a hierarchical timing wheel without a clock and without a goroutine.
//
// What it owns: the slots in which entries wait for their deadline. The entries themselves, their deadlines and the list
// links inside them belong to the caller (Store); the wheel names them by uint32 handles, so that neither holds pointers.
//
// Its states: an entry is off the wheel or in exactly one list. Level 0 has one slot per millisecond, each level above has
// slots 64 times as wide. An entry stands on the level of the highest 6-bit group in which its deadline differs from the
// base, the time up to which everything has been handled:
//
//	deadline ^ base   0........0 001011 ...... ......      first group that differs: level 2, slot = these 6 bits of the deadline
//
// Therefore all entries of a level are due before those of the levels above, and equal deadlines always share a list, which
// keeps them in the order of Add. When the base reaches a slot, Advance opens it: its entries move to lower levels, or fire.
// A slot one ms wide that is opened is a list of its own, emptied before anything else happens, in as many calls as the caller's
// bound needs; what is added meanwhile with its deadline joins its end, and so the order holds there, too.
//
// A list with more than 4096 entries is split: its slot gets a level of its own, one lower, and the entries move there, as they
// would when the slot is opened, which then only takes that level over. So a list is short, or all of it is due at the same ms, and
// with the length of each list and the number of entries of each level it takes a look at some hundred slots and one list to tell
// how many are due until a moment (Until), exactly, and what is due next (From, Earliest): nobody has to keep a histogram whose
// horizons move with the time.
//
// Its deadlines: wall milliseconds of any size up to math.MaxInt64-1 (eleven levels); math.MaxInt64 means never and is not
// kept. Nothing fires early. Empty slots are never walked over, whatever the clock does: one bitmap per level finds the next.
//
// What a restart loses: everything; the owner adds its entries again.
package wheel
