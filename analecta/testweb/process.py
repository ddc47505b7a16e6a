"""Servers in a process of their own, so that their work is not counted as ours: `with PocketServer() as web: ...`.

The child is started by name (module:function and JSON arguments), not by pickle, and ends when its stdin is
closed: it cannot outlive us, whatever happens to us.
"""

import importlib
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from analecta.errors import ResourceError
from analecta.testweb.pocket import PocketWeb
from analecta.testweb.server import LogLine, Mood, read_log, serve


class ServerProcess:
    """Serves what `module:function(**arguments)` returns: an answer, or a web with `.answer` and `.moods`."""

    def __init__(
        self,
        make: str,
        arguments: Mapping[str, object] | None = None,
        *,
        port: int = 0,
        delay: float = 0.0,
        error_rate: float = 0.0,
        seed: int = 0,
        processes: int = 1,
        log: Path | None = None,
        moody: bool = True,
    ) -> None:
        self.log = log
        self.port = port
        self._order = {
            "make": make,
            "arguments": dict(arguments or {}),
            "moody": moody,
            "log": str(log) if log else None,
            "options": {"port": port, "delay": delay, "error_rate": error_rate, "seed": seed, "processes": processes},
        }
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """Where it listens, as `connect_to` wants it."""
        return f"127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        """The process that serves."""
        if not self._child:
            raise ResourceError("The server has not been started.")
        return self._child.pid

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "analecta.testweb.process", json.dumps(self._order)]
        # A group of its own: a Ctrl-C is for us, and we may still want its answers.
        self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0)
        assert self._child.stdout
        said = self._child.stdout.readline()
        if not said:
            self.close()
            raise ResourceError("The server could not start; its own message is above.")
        self.port = int(said)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop it and wait until it is gone."""
        child, self._child = self._child, None
        if child and child.stdin and child.stdout:
            child.stdin.close()
            child.stdout.close()
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()

    def asked(self) -> list[LogLine]:
        """What it was asked so far, if it keeps a log."""
        return read_log(self.log) if self.log and self.log.exists() else []


class PocketServer(ServerProcess):
    """The pocket web, served: `.address` says where, `.web` knows what is true of it."""

    def __init__(self, size: int = 3000, seed: int = 1, **options: Any) -> None:
        super().__init__("analecta.testweb.pocket:PocketWeb", {"size": size, "seed": seed}, **options)
        self.web = PocketWeb(size, seed)

    def __enter__(self) -> Self:
        return super().__enter__()


def _main(order: str) -> None:
    """The child: make what was ordered and serve it until stdin ends."""
    given = json.loads(order)
    module, _, name = given["make"].partition(":")
    made = getattr(importlib.import_module(module), name)(**given["arguments"])
    moods: Mapping[str, Mood] = getattr(made, "moods", {}) if given["moody"] else {}
    log = Path(given["log"]) if given["log"] else None
    serve(
        getattr(made, "answer", made),
        moods=moods,
        log=log,
        ready=lambda port: print(port, flush=True),
        lifeline=sys.stdin.fileno(),
        **given["options"],
    )


if __name__ == "__main__":
    _main(sys.argv[1])
