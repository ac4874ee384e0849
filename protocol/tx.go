package protocol

// Class 90: transactions.

// TxSelect makes the channel transactional [AMQP 1.9.2.1].
type TxSelect struct{ noArguments }

func (*TxSelect) Key() Key { return classTx<<16 | 10 }

// TxSelectOk confirms tx.select [AMQP 1.9.2.2].
type TxSelectOk struct{ noArguments }

func (*TxSelectOk) Key() Key { return classTx<<16 | 11 }

// TxCommit carries out the publishes and acks since the last commit or rollback [AMQP 1.9.2.3].
type TxCommit struct{ noArguments }

func (*TxCommit) Key() Key { return classTx<<16 | 20 }

// TxCommitOk confirms tx.commit [AMQP 1.9.2.4].
type TxCommitOk struct{ noArguments }

func (*TxCommitOk) Key() Key { return classTx<<16 | 21 }

// TxRollback forgets the publishes and acks since the last commit or rollback [AMQP 1.9.2.5].
type TxRollback struct{ noArguments }

func (*TxRollback) Key() Key { return classTx<<16 | 30 }

// TxRollbackOk confirms tx.rollback [AMQP 1.9.2.6].
type TxRollbackOk struct{ noArguments }

func (*TxRollbackOk) Key() Key { return classTx<<16 | 31 }
