"""An S3 server on loopback for the demo: moto's, in a process of its own.

Run as a program it prints its address on one line and serves until its standard input closes. The parent holds the
other end, so the server also goes when the parent is killed without a chance to clean up.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_STOP_TIMEOUT_S = 10.0


def use_demo_credentials() -> None:
    """Sets the environment for boto3, here and in children; the user's account, profile and proxy stay out of it."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        del os.environ[name]
    os.environ.update(AWS_ACCESS_KEY_ID="demo", AWS_SECRET_ACCESS_KEY="demo", AWS_DEFAULT_REGION="us-east-1")
    os.environ.update(AWS_CONFIG_FILE=os.devnull, AWS_SHARED_CREDENTIALS_FILE=os.devnull)
    os.environ.update(NO_PROXY="127.0.0.1", no_proxy="127.0.0.1")


@contextmanager
def s3_server() -> Iterator[str]:
    """Starts the server on a free port, yields its address (`http://127.0.0.1:PORT`) and stops it in every case."""
    command = [sys.executable, str(Path(__file__).resolve())]
    # A session of its own: Ctrl-C reaches the demo, which then stops its parts in order.
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert server.stdin is not None and server.stdout is not None
    try:
        endpoint = server.stdout.readline().strip()
        if not endpoint:
            raise RuntimeError(
                f"The S3 server ({' '.join(command)}) ended before it gave its address (exit code {server.wait()}); "
                "what it wrote above says why."
            )
        yield endpoint
    finally:
        server.stdin.close()
        try:
            server.wait(_STOP_TIMEOUT_S)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            server.kill()
            server.wait()
        server.stdout.close()


def _serve() -> None:
    import logging

    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # no line for every request
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    print(f"http://{host}:{port}", flush=True)
    sys.stdin.read()
    server.stop()


if __name__ == "__main__":
    _serve()
