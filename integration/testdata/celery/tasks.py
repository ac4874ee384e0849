"""The tasks of the worker. It prefetches as many tasks as it has processes: 2."""
import os
import time

from celery import Celery

app = Celery("tasks", broker=os.environ["BROKER"], backend="rpc://")
app.conf.update(worker_prefetch_multiplier=1, worker_concurrency=2, broker_connection_timeout=20)


@app.task
def add(a, b):
    return a + b


@app.task
def now():
    return time.time()


@app.task(bind=True)
def third_time_lucky(self):
    if self.request.retries < 2:
        raise self.retry(countdown=0.1)
    return self.request.retries


@app.task
def fail(why):
    raise ValueError(why)
