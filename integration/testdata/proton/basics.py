"""Qpid Proton, AMQP 1.0: declare, bind, publish over a sender without an address, all outcomes,
messages of all kinds, receive settled and unsettled, priorities, direct replies, temporary queues, delays, purge, delete, refuse."""
import sys
import time
import uuid

from proton import Data, Delivery, Message, PropertyDict, int32, symbol, timestamp, uint, ulong
from proton.reactor import AtMostOnce, LinkOption
from proton.utils import BlockingConnection, LinkDetached, SendException

PATIENCE = 30


class Paired(LinkOption):
    """Makes a link half of a pair for requests and responses."""

    def apply(self, link):
        link.snd_settle_mode = link.SND_SETTLED
        link.properties = PropertyDict({symbol("paired"): True})


def equal(got, want):
    if got != want:
        raise AssertionError(f"{got!r}, not {want!r}")


class Management:
    """A pair of links to /management."""

    def __init__(self, connection):
        self.requests = connection.create_sender("/management", name="pair", options=Paired())
        self.answers = connection.create_receiver("/management", name="pair", credit=1, options=Paired())
        self.serial = 0

    def ask(self, verb, path, body=None):
        """Sends a request and returns status code and body of the response."""
        self.serial += 1
        self.requests.send(Message(id=f"{self.serial}", address=path, subject=verb, reply_to="$me", body=body))
        answer = self.answers.receive(timeout=PATIENCE)
        equal(answer.correlation_id, f"{self.serial}")
        return int(answer.subject), answer.body


def topology(connection):
    m = Management(connection)
    code, queue = m.ask("PUT", "/queues/proton", {"durable": True, "exclusive": False, "arguments": {"x-max-length": 9}})
    equal((code, queue["name"], queue["message_count"], queue["arguments"]["x-max-length"]), (201, "proton", 0, 9))
    equal(m.ask("PUT", "/queues/proton", {"durable": False})[0], 409)
    equal(m.ask("PUT", "/exchanges/proton", {"type": "direct"}), (204, None))
    equal(m.ask("POST", "/bindings", {"source": "proton", "destination_queue": "proton", "binding_key": "k"}), (204, None))
    sender = connection.create_sender("/exchanges/proton/k")
    sender.send(Message(body="m"))
    equal(m.ask("GET", "/queues/proton")[1]["message_count"], 1)
    equal(m.ask("DELETE", "/queues/proton/messages"), (200, {"message_count": 1}))
    equal(m.ask("DELETE", "/bindings/src=proton;dstq=proton;key=k;args="), (204, None))
    try:
        sender.send(Message(body="unroutable"))
        raise AssertionError("an unroutable message was accepted")
    except SendException as e:
        equal(e.state, Delivery.RELEASED)
    equal(m.ask("DELETE", "/queues/proton"), (200, {"message_count": 0}))
    equal(m.ask("DELETE", "/exchanges/proton"), (204, None))
    equal(m.ask("GET", "/queues/proton")[0], 404)


def outcomes(connection):
    m = Management(connection)
    m.ask("PUT", "/queues/dead", {})
    m.ask("PUT", "/queues/q", {"arguments": {"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"}})
    sender = connection.create_sender("/queues/q")
    receiver = connection.create_receiver("/queues/q", credit=1)
    dead = connection.create_receiver("/queues/dead", credit=1)
    for how, where in (("release", receiver), ("modify", receiver), ("reject", dead), ("accept", None)):
        sender.send(Message(body=how, properties={"n": 1}))
        equal(receiver.receive(timeout=PATIENCE).body, how)
        if how == "release":
            receiver.release(delivered=False)
        elif how == "modify":
            receiver.release(delivered=True)
        elif how == "reject":
            receiver.reject()
        else:
            receiver.accept()
        if where is not None:
            again = where.receive(timeout=PATIENCE)
            equal((again.body, again.properties), (how, {"n": 1}))
            where.accept()
    for link in (sender, receiver, dead):
        link.close()  # deleting a queue detaches its links with an error
    m.ask("DELETE", "/queues/q")
    m.ask("DELETE", "/queues/dead")


def settled(connection):
    m = Management(connection)
    m.ask("PUT", "/queues/settled", {})
    sender = connection.create_sender("/queues/settled")
    for body in ("1", "2", "3"):
        sender.send(Message(body=body))
    receiver = connection.create_receiver("/queues/settled", credit=3, options=AtMostOnce())
    for body in ("1", "2", "3"):
        equal(receiver.receive(timeout=PATIENCE).body, body)
    sender.close()
    receiver.close()
    equal(m.ask("DELETE", "/queues/settled"), (200, {"message_count": 0}))


class Dynamic(LinkOption):
    """Makes a source dynamic, with a capability."""

    def __init__(self, capability, volatile):
        self.capability, self.volatile = capability, volatile

    def apply(self, receiver):
        receiver.source.dynamic = True
        receiver.source.capabilities.put_array(False, Data.SYMBOL)
        receiver.source.capabilities.enter()
        receiver.source.capabilities.put_symbol(symbol(self.capability))
        receiver.source.capabilities.exit()
        if self.volatile:
            receiver.snd_settle_mode = receiver.SND_SETTLED
            receiver.source.expiry_policy = receiver.source.EXPIRE_WITH_LINK


class Priority(LinkOption):
    """Gives a receiver a priority."""

    def apply(self, receiver):
        receiver.properties = PropertyDict({symbol("rabbitmq:priority"): int32(7)})


def outcome(sender, message):
    """Sends a message and returns its outcome."""
    try:
        return sender.send(message).remote_state
    except SendException as e:
        return e.state


def routes(connection):
    """Exchanges bound to exchanges, arguments of bindings, and a sender without an address, whose messages name their destinations."""
    m = Management(connection)
    m.ask("PUT", "/queues/r", {})
    m.ask("PUT", "/exchanges/h", {"type": "headers"})
    m.ask("PUT", "/exchanges/f", {"type": "fanout"})
    arguments = {"x-match": "all", "color": "red"}
    equal(m.ask("POST", "/bindings", {"source": "h", "destination_exchange": "f", "binding_key": "", "arguments": arguments})[0], 204)
    equal(m.ask("POST", "/bindings", {"source": "f", "destination_queue": "r", "binding_key": "k"})[0], 204)
    anywhere = connection.create_sender(None)
    for address, color, want in (
            ("/exchanges/h", "red", Delivery.ACCEPTED), ("/exchanges/h", "blue", Delivery.RELEASED), ("/queues/r", "blue", Delivery.ACCEPTED),
            ("/queues/nothing", "blue", Delivery.RELEASED), ("/exchanges/nothing", "blue", Delivery.REJECTED)):
        equal(outcome(anywhere, Message(address=address, body=color, properties={"color": color})), want)
    receiver = connection.create_receiver("/queues/r", credit=2)
    for color in ("red", "blue"):
        equal(receiver.receive(timeout=PATIENCE).body, color)
        receiver.accept()
    code, bindings = m.ask("GET", "/bindings?src=h&dste=f&key=")
    equal((code, len(bindings), bindings[0]["arguments"]), (200, 1, arguments))
    equal(m.ask("DELETE", bindings[0]["location"])[0], 204)
    equal(m.ask("GET", "/bindings?src=h&dste=f&key="), (200, []))
    equal(m.ask("PUT", "/exchanges/h", {"type": "direct"})[0], 409)
    equal(m.ask("DELETE", "/exchanges/amq.topic")[0], 403)


def kinds(connection):
    """Messages are received as they were sent."""
    m = Management(connection)
    m.ask("PUT", "/queues/k", {})
    sender = connection.create_sender("/queues/k")
    receiver = connection.create_receiver("/queues/k", credit=1, options=Priority())
    unique = uuid.uuid4()
    for body in ("text", {"a": [1, True, None]}, b"bytes", ulong(5), [1, "x"]):
        sent = Message(
            body=body, id=unique, correlation_id=ulong(7), subject="s", reply_to="r", content_type=symbol("text/plain"), user_id=b"guest", group_id="g", group_sequence=3,
            reply_to_group_id="h", creation_time=1700000000.0, durable=True, priority=6, ttl=60.0, properties={"n": uint(5), "none": None}, annotations={symbol("x-mine"): "yes"})
        sender.send(sent)
        got = receiver.receive(timeout=PATIENCE)
        for name in ("body", "id", "correlation_id", "subject", "reply_to", "content_type", "user_id", "group_id", "group_sequence", "reply_to_group_id", "creation_time",
                     "durable", "priority", "ttl", "properties"):
            equal((name, getattr(got, name)), (name, getattr(sent, name)))
        equal(got.annotations[symbol("x-mine")], "yes")
        receiver.accept()


def dynamic(connection):
    """Direct replies, and a temporary queue, at addresses generated by the broker."""
    anywhere = connection.create_sender(None)
    for capability, volatile in (("rabbitmq:volatile-queue", True), ("temporary-queue", False)):
        receiver = connection.create_receiver(None, credit=1, options=Dynamic(capability, volatile))
        address = receiver.link.remote_source.address
        equal(address.startswith("/queues/amq."), True)
        equal(outcome(anywhere, Message(address=address, body="answer")), Delivery.ACCEPTED)
        equal(receiver.receive(timeout=PATIENCE).body, "answer")
        if not volatile:
            receiver.accept()
        receiver.close()
        equal(outcome(anywhere, Message(address=address, body="late")), Delivery.RELEASED)


def delays(connection):
    """A delay is honoured by a queue that holds messages, and refused by another."""
    equal("DELAYED_DELIVERY" in connection.conn.remote_offered_capabilities, True)
    m = Management(connection)
    for queue, holds in (("delays", True), ("no-delays", False)):
        m.ask("PUT", f"/queues/{queue}", {"arguments": {"x-delayed-messages": holds}})
        sender, receiver = connection.create_sender(f"/queues/{queue}"), connection.create_receiver(f"/queues/{queue}", credit=1)
        begun = time.time()
        for key, value in (("x-opt-delivery-delay", 300), ("x-opt-delivery-time", timestamp(int(begun * 1000) + 300))):
            try:
                sender.send(Message(body=key, annotations={symbol(key): value}))
            except SendException as e:
                equal((e.state, holds), (Delivery.REJECTED, False))
                continue
            equal(holds, True)
            receiver.receive(timeout=PATIENCE)
            receiver.accept()
            equal(time.time() - begun >= 0.299, True)
        equal(m.ask("GET", f"/queues/{queue}")[1]["message_count"], 0)


def refused(connection):
    for make in (connection.create_receiver, connection.create_sender):
        try:
            make("/queues/nothing")
            raise AssertionError("attached to a missing queue")
        except LinkDetached as e:
            equal(e.condition, "amqp:not-found")


def anonymous(port):
    connection = BlockingConnection(f"127.0.0.1:{port}", timeout=PATIENCE, allowed_mechs="ANONYMOUS")
    equal(Management(connection).ask("GET", "/queues/none")[0], 404)
    connection.close()


if __name__ == "__main__":
    url = f"amqp://guest:guest@127.0.0.1:{sys.argv[1]}"
    for job in (topology, outcomes, settled, routes, kinds, dynamic, delays, refused):
        c = BlockingConnection(url, timeout=PATIENCE, allowed_mechs="PLAIN", allow_insecure_mechs=True)
        job(c)
        c.close()
    anonymous(sys.argv[1])
