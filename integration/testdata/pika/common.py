"""Functions shared by the scripts. Each script gets the port of a broker as its argument and runs its jobs one after the other."""
import sys
import time

import pika

PATIENCE = 20


def connect():
    return pika.BlockingConnection(pika.ConnectionParameters(
        "127.0.0.1", int(sys.argv[1]), blocked_connection_timeout=PATIENCE, socket_timeout=PATIENCE))


def run(*jobs):
    for job in jobs:
        connection = connect()
        job(connection.channel())
        if connection.is_open:
            connection.close()
        print("ok", job.__name__, flush=True)


def queue(ch, name="", **arguments):
    arguments = {"x-" + k.replace("_", "-"): v for k, v in arguments.items()}
    return ch.queue_declare(name, exclusive=True, arguments=arguments).method.queue


def drain(ch, queue):
    got = []
    while True:
        method, _, body = ch.basic_get(queue, auto_ack=True)
        if method is None:
            return got
        got.append(body)


def wait(ch, queue, count):
    """Returns the next deliveries, each with its time of arrival."""
    got = []
    for method, properties, body in ch.consume(queue, auto_ack=True, inactivity_timeout=PATIENCE):
        if method is None:
            raise AssertionError(f"{len(got)} of {count} came")
        got.append((time.monotonic(), method, properties, body))
        if len(got) == count:
            ch.cancel()
            return got


def equal(got, want):
    if got != want:
        raise AssertionError(f"got {got!r}, want {want!r}")


def refused(code, text, f, *args, **kwargs):
    """Checks that the broker closes the channel of the call with this error."""
    try:
        f(*args, **kwargs)
    except pika.exceptions.ChannelClosedByBroker as e:
        if e.reply_code != code or text not in e.reply_text:
            raise AssertionError(f"{e.reply_code} {e.reply_text}, want {code} {text}") from e
    else:
        raise AssertionError(f"not refused: {code} {text}")
