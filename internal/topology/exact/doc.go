// Package exact encodes values of field tables so that equal bytes mean equal values: of the same type, or as headers exchanges compare
// them. It is pure.
package exact
