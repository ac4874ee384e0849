// Package canonical encodes values of field tables so that equal values have equal bytes. Append distinguishes all
// types; Value compares as headers exchanges do. It is pure.
package canonical
