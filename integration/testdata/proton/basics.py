"""Qpid Proton, AMQP 1.0: declare, publish, all outcomes, receive settled and unsettled, purge, delete, refuse."""
import sys

from proton import Delivery, Message, PropertyDict, symbol
from proton.reactor import AtMostOnce, LinkOption
from proton.utils import BlockingConnection, SendException

PATIENCE = 30


class Paired(LinkOption):
    """Makes a link half of a pair."""

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
        """Returns code and body of the answer."""
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
        link.close()  # a queue that is deleted detaches its links
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


def anonymous(port):
    connection = BlockingConnection(f"127.0.0.1:{port}", timeout=PATIENCE, allowed_mechs="ANONYMOUS")
    equal(Management(connection).ask("GET", "/queues/none")[0], 404)
    connection.close()




if __name__ == "__main__":
    url = f"amqp://guest:guest@127.0.0.1:{sys.argv[1]}"
    for job in (topology, outcomes, settled):
        c = BlockingConnection(url, timeout=PATIENCE, allowed_mechs="PLAIN", allow_insecure_mechs=True)
        job(c)
        c.close()
    anonymous(sys.argv[1])
