// Package scenario holds tests in the form of scenes: clients act, time passes, and the observations of all clients
// follow. Each file of testdata is one broker in a synctest bubble, so that days pass in milliseconds and every
// moment is exact.
//
// A file is a list of directives in the form of cockroachdb/datadriven: one or more lines with a client and its
// action, "----", and the observations until the broker is idle:
//
//	alice publish orders a b expiration=500
//	wait 499ms
//	----
//	0s alice: confirmed a, b
//
// A line of the answer has the virtual time since the beginning, the client, and the observation. Lines of several
// clients in the same millisecond are sorted by client, and within one by kind, so that the text is the same each
// time.
//
// The first word is a client, who connects when first named, or one of
//
//	wait 10m                   lets time pass
//	show                       what an operator sees of the queues; renews nothing
//	policy NAME pattern=^o message-ttl=100 priority=1 apply-to=queues
//	operator-policy …          the same for operators
//	clear-policy NAME
//	restart 1h, crash 1h       the broker goes, and is back after that time
//
// The table verbs of verbs_test.go lists the actions of clients. A destination is the name of a queue, or
// EXCHANGE/KEY. Arguments that begin with x- become arguments of what is declared or consumed, and headers of what is
// published: true and false are booleans, digits a long, all else a text. A body is also the name of its message:
// settling "a" settles the delivery with that body. The CC and BCC of a publish are lists: CC=(x,y).
//
// TestDialects plays the files again with clients that publish, receive and settle in AMQP 1.0, to queues as RabbitMQ
// 4 addresses them and to entities of Azure Service Bus, and wants the same answers. A file that has others says why:
// "# Not AMQP 1.0: …", "# Not Service Bus: …".
//
// TestFailoverIsARestart plays the files on a broker alone and on a cluster, with a restart or a failover before every step, and
// compares the answers with each other.
//
// Without a rule in its comments a file fails. With -rewrite, or CANDLEMARK_REWRITE in the environment, the answers
// are written anew.
package scenario
