#!/usr/bin/env python3
"""schemathesis_test.py SERVICE VENV: the service, as a process, keeps to api/openapi.yaml.

Starts the service with a key, lets schemathesis try everything that the description allows and much that it does not, and
wants the service to be well afterwards."""
import json
import os
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main(service: str, venv: str) -> int:
    python = Path(venv).absolute() / "bin/python"
    if not python.exists():
        print(f"{python} is not there; ./dev test makes it", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        # The service stops when its standard input ends, also when this is killed.
        with subprocess.Popen([service, "--folder", folder, "--keys"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
            said = json.loads(server.stdout.readline())
            environment = os.environ | {"LECTERN_KEY": said["key"], "COLUMNS": "150", "NO_COLOR": "1"}
            checked = subprocess.run(
                [python, "-m", "schemathesis.cli", "--config-file", HERE / "schemathesis.toml",
                 "run", said["address"] + "/openapi.json", "--checks", "all",
                 # DELETE cancels a job that is not over, which stays to be looked at. That a removed one is gone is tested in
                 # tests/service/jobs_test.cpp.
                 "--exclude-checks", "use_after_free"],
                cwd=folder, env=environment, check=False)
            with urllib.request.urlopen(said["address"] + "/health/ready", timeout=20) as health:
                ready = json.load(health)
            server.stdin.close()
            stopped = server.wait(60)
    if ready["status"] != "ready" or stopped != 0:
        print(f"the service is not well afterwards: {ready}, exit {stopped}", file=sys.stderr)
        return 1
    return checked.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
