// Package filter implements the rules by which a topic of Azure Service Bus selects messages for a subscription: true,
// false, correlation and SQL filters, and the SQL actions that change a copy.
//
//	text ──lex.go──▶ tokens ──parse.go──▶ Expression, Action
//	Expression.Match(message) ──eval.go, like.go──▶ yes, no
//	Action.Run(message) ──action.go──▶ changes
//	rule.go: a Rule ◀─▶ the arguments of a binding · and its validation
//
// Expressions have three truth values: a missing property, a null and a comparison of different kinds are unknown,
// which selects nothing. Names of properties are case-insensitive, text values case-sensitive. It is pure except for
// newid(): no clock.
//
// Bounds: a text has at most MaxLength bytes and MaxDepth levels; one evaluation takes at most MaxSteps and makes texts of at most MaxText
// bytes, beyond which it is unknown. The memory of a parsed text is linear in its length.
package filter
