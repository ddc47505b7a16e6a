"""Servers in a process of their own, so that their work is not counted as ours: `with PocketServer() as web: ...`.

The child is started by name (module:function and JSON arguments), not by pickle, and ends when its stdin is
closed: it cannot outlive us, whatever happens to us.
"""

import importlib
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import msgspec

from analecta.errors import ResourceError
from analecta.testweb.pocket import PocketWeb
from analecta.testweb.server import LogLine, Mood, ServerOptions, read_log, serve


class ServerProcess:
    """Serves what `module:function(**arguments)` returns: an answer, or a web with `.answer` and `.moods`."""

    def __init__(
        self, make: str, arguments: Mapping[str, object] | None = None, *, moody: bool = True, **options: Any
    ) -> None:
        """The options are those of ServerOptions; `log` may be a path."""
        self.log: Path | None = options.get("log")
        self.options = ServerOptions(**options | {"log": str(self.log or "")})
        self.port = self.options.port
        self._order = (make, dict(arguments or {}), moody, self.options)
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
        command = [sys.executable, "-m", "analecta.testweb.process", msgspec.json.encode(self._order).decode()]
        # A group of its own: a Ctrl-C is for us, and we may still want its answers.
        self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0)
        assert self._child.stdout
        said = self._child.stdout.readline()
        if not said:
            self.close()
            raise ResourceError("The server could not start; its own message is above.")
        self.port = int(said)
        return self

    def __exit__(self, *_: object) -> None:
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


def _main(order: str) -> None:
    """The child: make what was ordered and serve it until stdin ends."""
    make, arguments, moody, options = msgspec.json.decode(order, type=tuple[str, dict[str, Any], bool, ServerOptions])
    module, _, name = make.partition(":")
    made = getattr(importlib.import_module(module), name)(**arguments)
    moods: Mapping[str, Mood] = getattr(made, "moods", {}) if moody else {}
    answer = getattr(made, "answer", made)
    serve(answer, options, moods, lambda port: print(port, flush=True), sys.stdin.fileno())


if __name__ == "__main__":
    _main(sys.argv[1])
