package protocol

// Class 90: transactions.

// newTxMethod returns an empty method of class tx, nil for an unknown id.
func newTxMethod(method uint16) decoder {
	switch method {
	case 10:
		return &TxSelect{}
	case 11:
		return &TxSelectOk{}
	case 20:
		return &TxCommit{}
	case 21:
		return &TxCommitOk{}
	case 30:
		return &TxRollback{}
	case 31:
		return &TxRollbackOk{}
	}
	return nil
}

// TxSelect makes the channel transactional [AMQP 1.9.2.1].
type TxSelect struct{ noArguments }

func (*TxSelect) ClassID() uint16  { return classTx }
func (*TxSelect) MethodID() uint16 { return 10 }
func (*TxSelect) Name() string     { return "tx.select" }

// TxSelectOk confirms tx.select [AMQP 1.9.2.2].
type TxSelectOk struct{ noArguments }

func (*TxSelectOk) ClassID() uint16  { return classTx }
func (*TxSelectOk) MethodID() uint16 { return 11 }
func (*TxSelectOk) Name() string     { return "tx.select-ok" }

// TxCommit carries out the publishes and acks since the last commit or rollback [AMQP 1.9.2.3].
type TxCommit struct{ noArguments }

func (*TxCommit) ClassID() uint16  { return classTx }
func (*TxCommit) MethodID() uint16 { return 20 }
func (*TxCommit) Name() string     { return "tx.commit" }

// TxCommitOk confirms tx.commit [AMQP 1.9.2.4].
type TxCommitOk struct{ noArguments }

func (*TxCommitOk) ClassID() uint16  { return classTx }
func (*TxCommitOk) MethodID() uint16 { return 21 }
func (*TxCommitOk) Name() string     { return "tx.commit-ok" }

// TxRollback forgets the publishes and acks since the last commit or rollback [AMQP 1.9.2.5].
type TxRollback struct{ noArguments }

func (*TxRollback) ClassID() uint16  { return classTx }
func (*TxRollback) MethodID() uint16 { return 30 }
func (*TxRollback) Name() string     { return "tx.rollback" }

// TxRollbackOk confirms tx.rollback [AMQP 1.9.2.6].
type TxRollbackOk struct{ noArguments }

func (*TxRollbackOk) ClassID() uint16  { return classTx }
func (*TxRollbackOk) MethodID() uint16 { return 31 }
func (*TxRollbackOk) Name() string     { return "tx.rollback-ok" }
