"""Celery on Redis: tasks that do nothing, as many a second as a worker takes. Prints {"tasks", "per_second"} as JSON.

  python celery_queue.py REDIS_URL TASKS [--results]

The worker is started after everything is queued, with one process a core, as many tasks fetched ahead as ours claim at a time, and
without the chatter between workers. A task is acknowledged when it is fetched (Celery's default, and its fastest): what a killed
worker had is lost. Redis keeps everything in memory only.
"""
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from celery import Celery

REDIS = os.environ.get("BENCH_REDIS", "")
RESULTS = bool(os.environ.get("BENCH_RESULTS"))
PATIENCE_S = 240

app = Celery("celery_queue", broker=REDIS, backend=REDIS if RESULTS else None)
app.conf.update(worker_prefetch_multiplier=64, broker_connection_retry_on_startup=True, worker_enable_remote_control=False,
                worker_send_task_events=False, broker_transport_options={"visibility_timeout": 3600})


@app.task(name="nothing", ignore_result=not RESULTS)
def nothing(page):
    return page


def main() -> None:
    url, tasks, results = sys.argv[1], int(sys.argv[2]), "--results" in sys.argv
    environment = os.environ | {"BENCH_REDIS": url, "BENCH_RESULTS": "1" if results else ""}
    if (REDIS, RESULTS) != (url, results):
        os.execve(sys.executable, [sys.executable, *sys.argv], environment)
    redis = __import__("redis").Redis.from_url(url)
    redis.flushall()
    with app.producer_pool.acquire(block=True) as producer:
        for page in range(tasks):
            nothing.apply_async((page,), producer=producer)
    worker = subprocess.Popen([sys.executable, "-m", "celery", "-A", "celery_queue", "worker", "--concurrency", str(os.cpu_count()),
                               "--loglevel", "ERROR", "--without-gossip", "--without-mingle", "--without-heartbeat"],
                              cwd=Path(__file__).parent, env=environment, stdout=subprocess.DEVNULL, stderr=sys.stderr)
    try:
        until = time.monotonic() + PATIENCE_S
        while redis.llen("celery") == tasks:  # it starts up: not its queue's fault
            time.sleep(0.005)
            if time.monotonic() > until or worker.poll() is not None:
                raise SystemExit("celery did not begin")
        begin = time.monotonic()
        count = (lambda: sum(1 for _ in redis.scan_iter("celery-task-meta-*", count=5000))) if results else None
        while redis.llen("celery") > 0 or (count and count() < tasks):
            time.sleep(0.02)
            if time.monotonic() > until:
                raise SystemExit("celery did not end")
        print(json.dumps({"tasks": tasks, "per_second": round(tasks / (time.monotonic() - begin), 1)}))
    finally:
        worker.kill()
        worker.wait()


if __name__ == "__main__":
    main()
