"""Debian's python3-azure, whose own clock stands: one move of the broker's clock ends locks, delivers scheduled messages, expires others, deletes an idle queue."""
import datetime
import json
import ssl
import sys
import urllib.request

from azure.servicebus import ServiceBusClient, ServiceBusMessage

broker, ca = "https://127.0.0.1:" + sys.argv[1], sys.argv[2]
client = ServiceBusClient.from_connection_string(
    "Endpoint=sb://127.0.0.1;SharedAccessKeyName=any;SharedAccessKey=SAS_KEY_VALUE", custom_endpoint_address=broker, connection_verify=ca)
trusted = ssl.create_default_context(cafile=ca)


def ask(method, path, body=None):
    request = urllib.request.Request(broker + path, body and json.dumps(body).encode(), {"Authorization": "Basic Z3Vlc3Q6Z3Vlc3Q="}, method=method)
    with urllib.request.urlopen(request, context=trusted) as answer:
        return json.loads(answer.read() or "null")


def advance(by):
    assert ask("POST", "/api/x/clock", {"advance": by})["done"]


def one(receiver, body):
    (message,) = receiver.receive_messages(max_message_count=1, max_wait_time=60)
    assert str(message) == body, message
    return message


with client, client.get_queue_sender("orders") as sender, client.get_queue_receiver("orders") as receiver, client.get_queue_receiver("failures") as failures:
    # A lock ends, and its message is delivered again.
    sender.send_messages(ServiceBusMessage("locked"))
    message = one(receiver, "locked")
    advance("61s")
    again = one(receiver, "locked")
    assert again.delivery_count == 1 and again.locked_until_utc > message.locked_until_utc, again
    receiver.complete_message(again)

    # A scheduled message is there after its time, in the broker's time.
    now = datetime.datetime.fromtimestamp(ask("GET", "/api/x/clock")["time_ms"] / 1000, datetime.timezone.utc)
    sender.schedule_messages(ServiceBusMessage("later"), now + datetime.timedelta(hours=2))
    advance("119m")
    assert [m.state.name for m in receiver.peek_messages(10)] == ["SCHEDULED"]
    advance("1m")
    receiver.complete_message(one(receiver, "later"))

    # One move: a message expires and is forwarded, and a queue that nobody uses is deleted.
    ask("PUT", "/api/queues/%2F/idle", {"arguments": {"x-expires": 600_000}})
    sender.send_messages(ServiceBusMessage("short", time_to_live=datetime.timedelta(minutes=5)))
    advance("10m")
    assert receiver.peek_messages(10) == []
    failures.complete_message(one(failures, "short"))
    assert "idle" not in [q["name"] for q in ask("GET", "/api/queues?columns=name")]
