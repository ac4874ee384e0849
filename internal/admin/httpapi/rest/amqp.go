package rest

import "candlemark/internal/text/jsonencode"

// ForAMQP turns the result of a handler into the answer to a command over AMQP: a function that writes it as JSON, an
// object with "ok", or the body of an error. Writing may take some 20 MiB and 20 ms, so the caller decides when.
func ForAMQP(v any, err error) func() []byte {
	if err != nil {
		_, no := StatusOf(err)
		return func() []byte { return jsonencode.Marshal(no) }
	}
	return func() []byte {
		const ok = `{"ok":true`
		answer := jsonencode.Append([]byte(ok), Form(v))
		answer[len(ok)] = ',' // replaces the brace at the beginning of v, without a copy
		return answer
	}
}
