package protocol

// Key is the identity of a method: its class and its number in that.
type Key uint32

// Class returns the id of the class [AMQP 1.3].
func (k Key) Class() uint16 { return uint16(k >> 16) }

// Method returns the id of the method in its class.
func (k Key) Method() uint16 { return uint16(k) }

// String returns the name as the specification writes it, "basic.publish"; "" for a method that there is not.
func (k Key) String() string { return kinds[k].name }

// NameOf returns the name of the method with these numbers; "" for one that there is not.
func NameOf(class, method uint16) string { return Key(uint32(class)<<16 | uint32(method)).String() }

// kind has the name of a method and makes an empty one.
type kind struct {
	name  string
	empty func() decoder
}

// kinds has all methods that RabbitMQ supports, including deprecated ones.
var kinds = func() map[Key]kind {
	all := map[Key]kind{}
	for _, k := range []kind{
		{"connection.start", func() decoder { return &ConnectionStart{} }},
		{"connection.start-ok", func() decoder { return &ConnectionStartOk{} }},
		{"connection.secure", func() decoder { return &ConnectionSecure{} }},
		{"connection.secure-ok", func() decoder { return &ConnectionSecureOk{} }},
		{"connection.tune", func() decoder { return &ConnectionTune{} }},
		{"connection.tune-ok", func() decoder { return &ConnectionTuneOk{} }},
		{"connection.open", func() decoder { return &ConnectionOpen{} }},
		{"connection.open-ok", func() decoder { return &ConnectionOpenOk{} }},
		{"connection.close", func() decoder { return &ConnectionClose{} }},
		{"connection.close-ok", func() decoder { return &ConnectionCloseOk{} }},
		{"connection.blocked", func() decoder { return &ConnectionBlocked{} }},
		{"connection.unblocked", func() decoder { return &ConnectionUnblocked{} }},
		{"connection.update-secret", func() decoder { return &ConnectionUpdateSecret{} }},
		{"connection.update-secret-ok", func() decoder { return &ConnectionUpdateSecretOk{} }},
		{"channel.open", func() decoder { return &ChannelOpen{} }},
		{"channel.open-ok", func() decoder { return &ChannelOpenOk{} }},
		{"channel.flow", func() decoder { return &ChannelFlow{} }},
		{"channel.flow-ok", func() decoder { return &ChannelFlowOk{} }},
		{"channel.close", func() decoder { return &ChannelClose{} }},
		{"channel.close-ok", func() decoder { return &ChannelCloseOk{} }},
		{"access.request", func() decoder { return &AccessRequest{} }},
		{"access.request-ok", func() decoder { return &AccessRequestOk{} }},
		{"exchange.declare", func() decoder { return &ExchangeDeclare{} }},
		{"exchange.declare-ok", func() decoder { return &ExchangeDeclareOk{} }},
		{"exchange.delete", func() decoder { return &ExchangeDelete{} }},
		{"exchange.delete-ok", func() decoder { return &ExchangeDeleteOk{} }},
		{"exchange.bind", func() decoder { return &ExchangeBind{} }},
		{"exchange.bind-ok", func() decoder { return &ExchangeBindOk{} }},
		{"exchange.unbind", func() decoder { return &ExchangeUnbind{} }},
		{"exchange.unbind-ok", func() decoder { return &ExchangeUnbindOk{} }},
		{"queue.declare", func() decoder { return &QueueDeclare{} }},
		{"queue.declare-ok", func() decoder { return &QueueDeclareOk{} }},
		{"queue.bind", func() decoder { return &QueueBind{} }},
		{"queue.bind-ok", func() decoder { return &QueueBindOk{} }},
		{"queue.purge", func() decoder { return &QueuePurge{} }},
		{"queue.purge-ok", func() decoder { return &QueuePurgeOk{} }},
		{"queue.delete", func() decoder { return &QueueDelete{} }},
		{"queue.delete-ok", func() decoder { return &QueueDeleteOk{} }},
		{"queue.unbind", func() decoder { return &QueueUnbind{} }},
		{"queue.unbind-ok", func() decoder { return &QueueUnbindOk{} }},
		{"basic.qos", func() decoder { return &BasicQos{} }},
		{"basic.qos-ok", func() decoder { return &BasicQosOk{} }},
		{"basic.consume", func() decoder { return &BasicConsume{} }},
		{"basic.consume-ok", func() decoder { return &BasicConsumeOk{} }},
		{"basic.cancel", func() decoder { return &BasicCancel{} }},
		{"basic.cancel-ok", func() decoder { return &BasicCancelOk{} }},
		{"basic.publish", func() decoder { return &BasicPublish{} }},
		{"basic.return", func() decoder { return &BasicReturn{} }},
		{"basic.deliver", func() decoder { return &BasicDeliver{} }},
		{"basic.get", func() decoder { return &BasicGet{} }},
		{"basic.get-ok", func() decoder { return &BasicGetOk{} }},
		{"basic.get-empty", func() decoder { return &BasicGetEmpty{} }},
		{"basic.ack", func() decoder { return &BasicAck{} }},
		{"basic.reject", func() decoder { return &BasicReject{} }},
		{"basic.recover-async", func() decoder { return &BasicRecoverAsync{} }},
		{"basic.recover", func() decoder { return &BasicRecover{} }},
		{"basic.recover-ok", func() decoder { return &BasicRecoverOk{} }},
		{"basic.nack", func() decoder { return &BasicNack{} }},
		{"confirm.select", func() decoder { return &ConfirmSelect{} }},
		{"confirm.select-ok", func() decoder { return &ConfirmSelectOk{} }},
		{"tx.select", func() decoder { return &TxSelect{} }},
		{"tx.select-ok", func() decoder { return &TxSelectOk{} }},
		{"tx.commit", func() decoder { return &TxCommit{} }},
		{"tx.commit-ok", func() decoder { return &TxCommitOk{} }},
		{"tx.rollback", func() decoder { return &TxRollback{} }},
		{"tx.rollback-ok", func() decoder { return &TxRollbackOk{} }},
	} {
		all[k.empty().Key()] = k
	}
	return all
}()
