package main

import "candlemark/protocol"

// The methods as scripts write them. All wait for their answer unless the method has none.

func declare(q string, options ...option) step {
	return call(&protocol.QueueDeclare{Queue: q}, options...)
}

func bind(q, x, key string, options ...option) step {
	return call(&protocol.QueueBind{Queue: q, Exchange: x, RoutingKey: key}, options...)
}

func unbind(q, x, key string, options ...option) step {
	return call(&protocol.QueueUnbind{Queue: q, Exchange: x, RoutingKey: key}, options...)
}

func purge(q string, options ...option) step {
	return call(&protocol.QueuePurge{Queue: q}, options...)
}

func deleteQueue(q string, options ...option) step {
	return call(&protocol.QueueDelete{Queue: q}, options...)
}

func exchange(x, kind string, options ...option) step {
	return call(&protocol.ExchangeDeclare{Exchange: x, Type: kind}, options...)
}

func deleteExchange(x string, options ...option) step {
	return call(&protocol.ExchangeDelete{Exchange: x}, options...)
}

func bindExchange(to, from, key string, options ...option) step {
	return call(&protocol.ExchangeBind{Destination: to, Source: from, RoutingKey: key}, options...)
}

func unbindExchange(to, from, key string, options ...option) step {
	return call(&protocol.ExchangeUnbind{Destination: to, Source: from, RoutingKey: key}, options...)
}

func get(q string, options ...option) step {
	return call(&protocol.BasicGet{Queue: q}, options...)
}

// drain takes n messages that need no ack.
func drain(q string, n int) step {
	steps := make([]step, n)
	for i := range steps {
		steps[i] = get(q, noAck)
	}
	return do(steps...)
}

func consume(q, tag string, options ...option) step {
	return call(&protocol.BasicConsume{Queue: q, ConsumerTag: tag}, options...)
}

func cancel(tag string, options ...option) step {
	return call(&protocol.BasicCancel{ConsumerTag: tag}, options...)
}

func qos(count uint16, options ...option) step {
	return call(&protocol.BasicQos{PrefetchCount: count}, options...)
}

func ack(tag uint64, options ...option) step {
	return send(&protocol.BasicAck{DeliveryTag: tag}, options...)
}

func nack(tag uint64, options ...option) step {
	return send(&protocol.BasicNack{DeliveryTag: tag}, options...)
}

func reject(tag uint64, options ...option) step {
	return send(&protocol.BasicReject{DeliveryTag: tag}, options...)
}

func recoverAll() step { return call(&protocol.BasicRecover{Requeue: true}) }

func confirms(options ...option) step { return call(&protocol.ConfirmSelect{}, options...) }

func txSelect() step   { return call(&protocol.TxSelect{}) }
func txCommit() step   { return call(&protocol.TxCommit{}) }
func txRollback() step { return call(&protocol.TxRollback{}) }

func openChannel() step { return bare(call(&protocol.ChannelOpen{})) }

func closeChannel() step {
	return call(&protocol.ChannelClose{ReplyCode: 200, ReplyText: "bye"})
}

func closeConnection() step {
	return bare(call(&protocol.ConnectionClose{ReplyCode: 200, ReplyText: "bye"}))
}
