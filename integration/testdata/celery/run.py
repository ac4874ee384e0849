"""Celery: a worker in its own process, results over rpc://, control, ETA, expiry, warm shutdown."""
import os
import signal
import subprocess
import sys
import tempfile
import time

os.environ["BROKER"] = f"amqp://guest:guest@127.0.0.1:{sys.argv[1]}//"
os.environ["C_FORCE_ROOT"] = "1"
os.chdir(os.path.dirname(os.path.abspath(__file__)))

from celery import group  # noqa: E402 the broker's address must be set first
from tasks import add, app, fail, now, third_time_lucky  # noqa: E402

PATIENCE = 120
HOUR = 3600
HELD = 12  # six times the prefetch


def equal(got, want):
    if got != want:
        raise AssertionError(f"got {got!r}, want {want!r}")


def eventually(what, f):
    """Calls a function until it returns something true, and returns that."""
    end = time.monotonic() + PATIENCE
    while not (got := f()):
        if time.monotonic() > end:
            raise AssertionError("waited in vain: " + what)
        time.sleep(0.05)
    return got


def asked():
    """Returns an inspector of workers that takes the first answer. A busy machine may answer later than its timeout."""
    return app.control.inspect(timeout=2, limit=1)


def waiting(queue):
    """Returns the number of tasks ready in a queue."""
    with app.connection_for_write() as connection:
        return connection.default_channel.queue_declare(queue, passive=True).message_count


def controlled():
    eventually("the worker answers a ping", lambda: asked().ping())
    stats, = eventually("the worker reports statistics", lambda: asked().stats()).values()
    equal(stats["prefetch_count"], 2)
    queues, = eventually("the worker lists its queues", lambda: asked().active_queues()).values()
    equal([q["name"] for q in queues], ["celery"])


def results():
    equal(add.delay(2, 3).get(PATIENCE), 5)
    equal(group(add.s(i, i) for i in range(100))().get(PATIENCE), [2 * i for i in range(100)])
    equal(third_time_lucky.delay().get(PATIENCE), 2)
    try:
        fail.delay("as told").get(PATIENCE)
    except ValueError as e:
        equal(str(e), "as told")
    else:
        raise AssertionError("nothing was raised")


def countdown():
    """The worker holds tasks until they are due, more than its prefetch, and other tasks do not wait for them."""
    for _ in range(HELD):
        now.apply_async(countdown=HOUR)
    eventually("the worker holds all", lambda: [
        len(held) for held in (asked().scheduled() or {}).values()] == [HELD])
    equal(add.delay(20, 30).get(PATIENCE), 50)
    due = time.time() + 1
    for result in [now.apply_async(countdown=1) for _ in range(HELD)]:
        if (ran := result.get(PATIENCE)) < due:
            raise AssertionError(f"{due - ran} s early")


def expires():
    """The broker drops a task that no worker consumed before it expired."""
    late = add.apply_async((1, 1), queue="later", expires=0.2)
    eventually("it expires", lambda: waiting("later") == 0)
    app.control.add_consumer("later", reply=True, timeout=PATIENCE, limit=1)
    equal(add.apply_async((2, 2), queue="later", expires=PATIENCE).get(PATIENCE), 4)
    equal(late.state, "PENDING")


def shutdown(worker):
    """Tasks that the worker holds at its shutdown are requeued."""
    worker.send_signal(signal.SIGTERM)
    try:
        equal(worker.wait(30), 0)
    except subprocess.TimeoutExpired:  # Celery before 5.3 can hang after the signal (celery/celery#7339)
        print("the worker does not end, and is killed", file=sys.stderr)
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
    eventually("what it held is back", lambda: waiting("celery") == HELD)


def main():
    with tempfile.TemporaryFile("w+") as log:
        worker = subprocess.Popen(
            [sys.executable, "-B", "-m", "celery", "-A", "tasks", "worker", "--loglevel", "info"],
            stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            for job in (controlled, results, countdown, expires):
                job()
                print("ok", job.__name__, flush=True)
            shutdown(worker)
            print("ok shutdown", flush=True)
            log.seek(0)
            for bad in ("CRITICAL", "connection to broker lost", "Connection reset"):
                if bad in log.read():
                    raise AssertionError(bad + " in the worker's log")
                log.seek(0)
        except BaseException:
            log.seek(0)
            print(log.read(), file=sys.stderr)
            raise
        finally:
            if worker.poll() is None:
                os.killpg(worker.pid, signal.SIGKILL)  # with its child processes
                worker.wait()


main()
