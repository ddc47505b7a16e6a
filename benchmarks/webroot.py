"""Real pages on a real server: a WARC file unpacked into folders and served by nginx on one loopback port.

Every host of the web is a folder; nginx picks it by the Host header. Crawlers reach the hosts, which no name
server need know, through nginx as their HTTP proxy (it understands `GET http://host/path`), or by telling
their client to connect to this one address whatever the host.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from fastwarc.warc import ArchiveIterator, WarcRecordType

from analecta.testweb.pocket import PocketWeb

PROJECT = Path(__file__).resolve().parent.parent
WARC = PROJECT.parent / "shared" / "data" / "debdocs.warc.gz"
HTML = {"home", "hub", "authority", "page", "about", "mirror", "near-duplicate"}  # kinds of pocket pages
PACKAGES = {"nginx": "nginx-light", "wget": "wget"}

# One worker: the server has one core at most and the crawler the other. A query is 404 because no page of
# these webs has one; otherwise each made-up query would be one more copy of a page.
CONFIG = """
{user}
worker_processes 1;
daemon off;
pid {folder}/pid;
error_log {folder}/error.log crit;
events {{ worker_connections 8192; }}
http {{
  log_format count '$status $sent_http_content_type $body_bytes_sent $connection';
  access_log {folder}/access.log count;
  client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
  uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  default_type text/html;
  sendfile on; tcp_nopush on; tcp_nodelay on; gzip off; etag off;
  keepalive_timeout 60s; keepalive_requests 1000000;
  open_file_cache max=20000 inactive=600s; open_file_cache_errors on;
  absolute_redirect off; server_tokens off; log_not_found off;
  server {{
    listen 127.0.0.1:{port} default_server backlog=1024;
    root {folder}/www/$host;
    index index.html;
    if ($is_args) {{ return 404; }}
  }}
}}
"""


@dataclass(frozen=True)
class Answers:
    """What the server gave: pages are answers with status 200 and HTML, whatever the crawler itself counts."""

    pages: int = 0
    others: int = 0
    bytes: int = 0
    connections: int = 0


class AccessLog:
    """Counts the server's answers since it was made."""

    def __init__(self, path: Path) -> None:
        self.path, self.at = path, path.stat().st_size
        self.pages = self.others = self.bytes = 0
        self.connections: set[bytes] = set()

    def read(self) -> Answers:
        """The figures so far; a line that is only half written waits for the next time."""
        with self.path.open("rb") as file:
            file.seek(self.at)
            new = file.read()
        new = new[: new.rfind(b"\n") + 1]
        self.at += len(new)
        for line in new.splitlines():
            status, *kind, size, connection = line.split()
            self.connections.add(connection)
            if status == b"200" and kind == [b"text/html"]:
                self.pages += 1
                self.bytes += int(size)
            else:
                self.others += 1
        return Answers(self.pages, self.others, self.bytes, len(self.connections))


@dataclass(frozen=True)
class Web:
    """A web that is being served: `seeds` has one URL per host."""

    port: int
    hosts: list[str]
    seeds: list[str]
    pages: int
    folder: Path
    nginx: int

    @property
    def address(self) -> str:
        """Where every host is."""
        return f"127.0.0.1:{self.port}"

    def log(self) -> AccessLog:
        """A count that begins now."""
        return AccessLog(self.folder / "access.log")

    def server_cpu(self) -> float:
        """CPU seconds that nginx has used so far."""
        children = Path(f"/proc/{self.nginx}/task/{self.nginx}/children").read_text().split()
        stats = (Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in children)
        return sum(int(s[11]) + int(s[12]) for s in stats) / os.sysconf("SC_CLK_TCK")


def require(tool: str) -> str:
    """The path of a program; root gets it by apt-get where it is missing, others are told what to install."""
    where = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"))
    found = shutil.which(tool, path=where)
    if not found and os.geteuid() == 0 and shutil.which("apt-get"):
        for command in (["update"], ["install", "-y", "--no-install-recommends", PACKAGES[tool]]):
            subprocess.run(["apt-get", "-qq", *command], stdout=subprocess.DEVNULL, check=False)
        found = shutil.which(tool, path=where)
    if not found:
        sys.exit(f"This benchmark needs {tool}: install it first (Debian: apt-get install {PACKAGES[tool]}).")
    return found


def warc_pages(path: Path) -> Iterator[tuple[str, bytes]]:
    """The pages of a WARC file."""
    with path.open("rb") as file:
        for record in ArchiveIterator(file, record_types=WarcRecordType.response):
            yield record.headers["WARC-Target-URI"], record.reader.read()


def pocket_pages(size: int = 6000) -> Iterator[tuple[str, bytes]]:
    """The pages of the pocket web, for machines that do not have the real ones."""
    web = PocketWeb(size)
    for truth in web.pages(links=False):
        path = urlsplit(truth.url).path or "/"
        if truth.status == 200 and truth.kind in HTML and truth.url.endswith(path):  # those without a query
            yield truth.url, web.answer(urlsplit(truth.url).netloc, path, {}).body


def pages() -> Iterator[tuple[str, bytes]]:
    """The real pages, or the pocket web where they are missing."""
    if WARC.exists():
        return warc_pages(WARC)
    print("The real pages are not on this machine: the pocket web takes their place.", file=sys.stderr)
    return pocket_pages()


def file_of(url: str) -> str:
    """Where a URL's page lies below the root: a folder's own page is its index.html."""
    parts = urlsplit(url)
    path = unquote(parts.path) or "/"
    return parts.netloc + (path + "index.html" if path.endswith("/") else path)


def unpack(pages: Iterable[tuple[str, bytes]], root: Path) -> dict[str, list[str]]:
    """Write the pages below `root`; gives the URLs of each host, now all http.

    Links to the web's own hosts are turned from https to http, in the pages too: an HTTP proxy can answer for
    a host over http, but over https it would have to hold its certificate, and a handshake for each host would
    be measured instead of the crawlers.
    """
    kept = list(pages)
    hosts: dict[str, list[str]] = {urlsplit(url).netloc: [] for url, _ in kept}
    secure = [(f"https://{host}".encode(), f"http://{host}".encode()) for host in hosts]
    for url, body in kept:
        if b"https://" in body:
            for https, http in secure:
                body = body.replace(https, http)
        file = root / file_of(url)
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(body)
        hosts[urlsplit(url).netloc].append(url.replace("https://", "http://", 1))
    return hosts


def free_port() -> int:
    """A port of the loopback interface that nobody uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start_nginx(folder: Path, port: int) -> subprocess.Popen[bytes]:
    """nginx over folder/www, answering when this returns."""
    user = "user root;" if os.geteuid() == 0 else ""  # root's workers would be nobody, who may not read the folder
    config = folder / "nginx.conf"
    config.write_text(CONFIG.format(folder=folder, port=port, user=user))
    server = subprocess.Popen([require("nginx"), "-c", str(config), "-e", str(folder / "error.log")])
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return server
        except OSError:
            time.sleep(0.02)
    server.kill()
    sys.exit(f"nginx did not start: {(folder / 'error.log').read_text()}")


@contextmanager
def serve(pages: Iterable[tuple[str, bytes]]) -> Iterator[Web]:
    """Unpack and serve pages until the block ends."""
    with tempfile.TemporaryDirectory(prefix="webroot-") as name:
        folder = Path(name)
        urls = unpack(pages, folder / "www")
        seeds = [min(of_host, key=lambda url: (len(url), url)) for of_host in urls.values()]
        port = free_port()
        server = start_nginx(folder, port)
        try:
            yield Web(port, list(urls), seeds, sum(map(len, urls.values())), folder, server.pid)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait()


if __name__ == "__main__":
    with serve(pages()) as web:
        print(f"{web.pages} pages of {len(web.hosts)} hosts at {web.address}; Ctrl-C ends it")
        for seed in web.seeds:
            print(seed)
        signal.sigwait({signal.SIGINT, signal.SIGTERM})
