"""A parser for the sandbox's child that does what the page tells it to; only the tests start it."""

import os
import time

from msgspec import Struct

from analecta.model import Page, Response, UrlRef
from analecta.parse.html import parse_html
from analecta.parse.page_sandbox import flatten
from analecta.urls import Joiner

_LARGE = b"".join(b"<a href=/%d>link %d</a>" % (i, i) for i in range(60_000))


def parse(answer: Response, target: UrlRef, mime: str) -> Struct:
    order = answer.body.decode().removeprefix("%PDF-")
    if order == "raise":
        raise ValueError("no such thing")
    if order == "memory":
        bytearray(8 << 30)
    if order == "abort":
        os.abort()
    if order == "segfault":
        os.kill(os.getpid(), 11)
    if order == "hang":
        time.sleep(60)
    if order == "spin":
        while True:
            pass
    if order == "noise":
        os.write(1, b"\0" * 64)
        print("a library that prints")
    if order == "large":
        return flatten(parse_html(Response(answer.url, 200, b"", {}, b"", _LARGE), target, Joiner()))
    if order == "pid":
        order = str(os.getpid())
    return flatten(Page(target.url, target.id, target.host, mime, text=order))


def hang(answer: Response, target: UrlRef, mime: str) -> Struct:
    time.sleep(60)
    raise AssertionError


def until_told(answer: Response, target: UrlRef, mime: str) -> Struct:
    while not os.path.exists(os.environ["UNTIL"]):
        time.sleep(0.01)
    return flatten(Page(target.url, target.id, target.host, mime, text=f"words of {target.url}"))
