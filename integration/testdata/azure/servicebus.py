"""Debian's python3-azure: send, peek, receive with locks, renew, abandon, defer, schedule, cancel, delay, complete, dead-letter, receive and delete, over WebSocket."""
import datetime
import sys

from azure.servicebus import ServiceBusClient, ServiceBusMessage, ServiceBusReceiveMode, ServiceBusSubQueue
from azure.servicebus.amqp import AmqpAnnotatedMessage
from azure.servicebus.exceptions import ServiceBusAuthenticationError, ServiceBusError

QUEUE = "failures"
client = ServiceBusClient.from_connection_string(
    "Endpoint=sb://127.0.0.1;SharedAccessKeyName=any;SharedAccessKey=SAS_KEY_VALUE",
    custom_endpoint_address="https://127.0.0.1:" + sys.argv[1], connection_verify=sys.argv[2])


def one(receiver, body):
    (message,) = receiver.receive_messages(max_message_count=1, max_wait_time=20)
    assert str(message) == body, message
    return message


with client, client.get_queue_sender(QUEUE) as sender, client.get_queue_receiver(QUEUE) as receiver:
    sender.send_messages([ServiceBusMessage("one", application_properties={"n": 1}), ServiceBusMessage("two")])
    assert [str(m) for m in receiver.peek_messages(10)] == ["one", "two"]
    message = one(receiver, "one")
    assert message.locked_until_utc > message.enqueued_time_utc and message.sequence_number
    assert receiver.renew_message_lock(message) >= message.enqueued_time_utc
    receiver.abandon_message(message)
    message = one(receiver, "one")
    assert message.delivery_count == 1 and message.application_properties == {b"n": 1}, message
    receiver.defer_message(message)
    (late,) = receiver.receive_deferred_messages(message.sequence_number)
    assert str(late) == "one"
    receiver.complete_message(late)
    at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)
    numbers = sender.schedule_messages([ServiceBusMessage("later"), ServiceBusMessage("latest")], at)
    assert len(numbers) == 2
    sender.cancel_scheduled_messages(numbers)
    receiver.dead_letter_message(one(receiver, "two"), reason="bad", error_description="why")
    with client.get_queue_receiver(QUEUE, sub_queue=ServiceBusSubQueue.DEAD_LETTER,
                                   receive_mode=ServiceBusReceiveMode.RECEIVE_AND_DELETE) as dead:
        message = one(dead, "two")
        assert (message.dead_letter_reason, message.dead_letter_error_description, message.dead_letter_source) == ("bad", "why", QUEUE), message
    assert receiver.peek_messages(10) == []
    due = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=1)
    later = AmqpAnnotatedMessage(data_body=[b"later"], annotations={"x-opt-delivery-delay": 2000})
    sender.send_messages([ServiceBusMessage("due", scheduled_enqueue_time_utc=due)])
    sender.send_messages(later)
    for body, seconds in ("due", 0), ("later", 1):
        message = one(receiver, body)
        assert datetime.datetime.now(datetime.timezone.utc) >= due + datetime.timedelta(seconds=seconds), body
        receiver.complete_message(message)
    try:
        sender.send_messages(AmqpAnnotatedMessage(data_body=[b"never"], annotations={"x-opt-delivery-delay": -1}))
        raise AssertionError("an invalid delay is accepted")
    except ServiceBusError as refused:
        assert "x-opt-delivery-delay" in str(refused), refused

try:
    with client.get_queue_sender("none") as sender:
        sender.send_messages(ServiceBusMessage("lost"))
    raise AssertionError("sent to a missing queue")
except ServiceBusAuthenticationError as refused:  # the SDK raises it for any refused token, with the status code in its text
    assert "404" in str(refused), refused
