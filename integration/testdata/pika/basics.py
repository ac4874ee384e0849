"""Publish, confirm, get, consume, acknowledge, requeue, return."""
import common
import pika


def confirmed(ch):
    ch.confirm_delivery()
    queue = common.queue(ch)
    for i in range(100):
        ch.basic_publish("", queue, str(i))  # raises an exception if the publish is refused
    common.equal([int(b) for b in common.drain(ch, queue)], list(range(100)))


def properties(ch):
    queue = common.queue(ch)
    sent = pika.BasicProperties(
        content_type="text/plain", correlation_id="c", reply_to="r", message_id="m", type="t", app_id="a",
        priority=3, timestamp=1700000000, delivery_mode=2,
        headers={"text": "ä", "number": 2**40, "flag": True, "none": None, "list": [1, "x"], "table": {"deep": -1}},
    )
    ch.basic_publish("", queue, b"body", sent)
    method, got, body = ch.basic_get(queue, auto_ack=True)
    common.equal(body, b"body")
    common.equal(got, sent)
    common.equal((method.routing_key, method.exchange, method.redelivered, method.message_count), (queue, "", False, 0))


def acknowledged(ch):
    queue = common.queue(ch)
    for body in "abcd":
        ch.basic_publish("", queue, body)
    ch.basic_qos(prefetch_count=2)
    seen = []
    for method, _, body in ch.consume(queue, inactivity_timeout=common.PATIENCE):
        seen.append((body, method.redelivered))
        if body == b"b" and not method.redelivered:
            ch.basic_nack(method.delivery_tag, requeue=True)
            continue
        ch.basic_ack(method.delivery_tag)
        if len(seen) == 5:
            break
    ch.cancel()
    common.equal(sorted(seen), [(b"a", False), (b"b", False), (b"b", True), (b"c", False), (b"d", False)])
    common.equal(common.drain(ch, queue), [])


def returned(ch):
    ch.confirm_delivery()
    try:
        ch.basic_publish("amq.direct", "nobody", b"back", mandatory=True)
    except pika.exceptions.UnroutableError as e:
        common.equal([(m.method.reply_code, m.body) for m in e.messages], [(312, b"back")])
    else:
        raise AssertionError("nothing came back")


def large(ch):
    queue = common.queue(ch)
    body = bytes(i * 7 % 251 for i in range(1_000_003))
    ch.basic_publish("", queue, body)
    common.equal(ch.basic_get(queue, auto_ack=True)[2] == body, True)


def purged(ch):
    queue = common.queue(ch)
    ch.basic_publish("", queue, b"before")
    common.equal(ch.queue_purge(queue).method.message_count, 1)
    common.equal(ch.queue_delete(queue).method.message_count, 0)


common.run(confirmed, properties, acknowledged, returned, large, purged)
