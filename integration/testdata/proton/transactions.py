"""Qpid Proton, AMQP 1.0: transactions with sends and accepts, committed and rolled back."""
import sys

from proton import Message
from proton.handlers import MessagingHandler, TransactionHandler
from proton.reactor import Container
from proton.utils import BlockingConnection

PATIENCE = 30


def equal(got, want):
    if got != want:
        raise AssertionError(f"{got!r}, not {want!r}")


class Transactions(MessagingHandler, TransactionHandler):
    """Receives messages one by one, each in a transaction that also sends: aborts the first transaction and commits the others."""

    def __init__(self, url, source, target, messages):
        super().__init__(prefetch=0, auto_accept=False)
        self.url, self.source, self.target, self.messages = url, source, target, messages
        self.seen, self.ends = [], []

    def on_start(self, event):
        self.container = event.container
        self.container.allowed_mechs, self.container.allow_insecure_mechs = "PLAIN", True
        self.connection = event.container.connect(self.url, reconnect=False)
        self.sender = event.container.create_sender(self.connection, self.target)
        self.receiver = event.container.create_receiver(self.connection, self.source)
        self.transaction = None
        event.container.declare_transaction(self.connection, handler=self)

    def on_transaction_declared(self, event):
        self.transaction = event.transaction
        self.receiver.flow(1)

    def on_message(self, event):
        self.seen.append(event.message.body)
        self.transaction.send(self.sender, Message(body=event.message.body + "!"))
        self.transaction.accept(event.delivery)
        if len(self.seen) == 1:
            self.transaction.abort()
        else:
            self.transaction.commit()

    def on_transaction_aborted(self, event):
        self.end("aborted")

    def on_transaction_committed(self, event):
        self.end("committed")

    def on_transaction_declare_failed(self, event):
        self.end("not declared")
        self.connection.close()

    def on_transaction_commit_failed(self, event):
        self.end("not committed")
        self.connection.close()

    def end(self, how):
        self.ends.append(how)
        if self.ends.count("committed") == self.messages:
            self.connection.close()
        else:
            self.container.declare_transaction(self.connection, handler=self)

    def on_transport_error(self, event):
        raise AssertionError(event.transport.condition)

    def on_link_error(self, event):
        raise AssertionError(event.link.remote_condition)

    def on_session_error(self, event):
        raise AssertionError(event.session.remote_condition)


def main(url):
    connection = BlockingConnection(url, timeout=PATIENCE, allowed_mechs="PLAIN", allow_insecure_mechs=True)
    names = {}
    requests = connection.create_sender("/management", name="pair")
    answers = connection.create_receiver("/management", name="pair", credit=10)
    for name in ("in", "out"):
        requests.send(Message(id=name, address=f"/queues/{name}", subject="PUT", reply_to="$me", body={}))
        names[name] = answers.receive(timeout=PATIENCE).subject
    equal(names, {"in": "201", "out": "201"})
    sender = connection.create_sender("/queues/in")
    for body in ("a", "b", "c"):
        sender.send(Message(body=body, durable=True))
    handler = Transactions(url, "/queues/in", "/queues/out", 3)
    Container(handler).run()
    equal(handler.ends, ["aborted", "committed", "committed", "committed"])
    equal(handler.seen, ["a", "a", "b", "c"])
    receiver = connection.create_receiver("/queues/out", credit=3)
    for body in ("a!", "b!", "c!"):
        equal(receiver.receive(timeout=PATIENCE).body, body)
        receiver.accept()
    for name in ("in", "out"):
        requests.send(Message(id=name, address=f"/queues/{name}", subject="GET", reply_to="$me"))
        equal(answers.receive(timeout=PATIENCE).body["message_count"], 0)
    connection.close()


if __name__ == "__main__":
    main(f"amqp://guest:guest@127.0.0.1:{sys.argv[1]}")
