package rest

import "candlemark/internal/jsonencode"

// ForAMQP makes of what a handler returns the answer to a command over AMQP: a function that writes it as JSON, an object with
// "ok", or the body of an error. That may take some 20 MiB and 20 ms, so it is for the caller to say when.
func ForAMQP(v any, err error) func() []byte {
	if err != nil {
		_, no := StatusOf(err)
		return func() []byte { return jsonencode.Marshal(no) }
	}
	return func() []byte {
		const ok = `{"ok":true`
		answer := jsonencode.Append([]byte(ok), Form(v))
		answer[len(ok)] = ',' // in place of the brace that v begins with, without a copy
		return answer
	}
}
