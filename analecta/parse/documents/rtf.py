r"""RTF to Document: a flat stream of words, groups and \control words; only the few that bear text are known here."""

import codecs
import re
from dataclasses import dataclass

from analecta.parse.documents.document import Document, ReadingStopped, TextMark, field_link, tidy, title_of

MAX_DEPTH = 500
_MAX_GATHERED = 5000  # characters of a title or of a field's code

_TOKEN = re.compile(rb"\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-z])|([{}])|([^\\{}\r\n]+)|[\r\n\\]+")
_BREAKS = frozenset(b"par line sect page row cell nestcell nestrow column".split())
_SIGNS = {
    b"tab": "\t", b"emdash": "—", b"endash": "–", b"lquote": "‘", b"rquote": "’", b"ldblquote": "“",
    b"rdblquote": "”", b"bullet": "•", b"emspace": " ", b"enspace": " ", b"qmspace": " ",
}  # fmt: skip
_ESCAPED = {b"~": " ", b"_": "-", b"{": "{", b"}": "}", b"\\": "\\", b"\n": "\n", b"\r": "\n"}
_UNSEEN = frozenset(
    b"fonttbl colortbl stylesheet pict object header footer headerl headerr headerf footerl footerr footerf listtable "
    b"listoverridetable revtbl rsidtbl generator xmlnstbl themedata colorschememapping datastore latentstyles info "
    b"filetbl nonshppict bkmkstart bkmkend xe tc".split()
)
_GATHERED = {b"title": "title", b"author": "author", b"fldinst": "code"}
_DATED = (b"creatim", b"revtim")


@dataclass(slots=True)
class _RtfGroup:
    """What holds until the brace closes."""

    seen: bool
    into: str
    skip: int
    mark: TextMark | None = None  # where a field's shown text began
    url: str = ""


def read_rtf(body: bytes, document: Document) -> None:
    """Read an RTF file."""
    if body.lstrip()[:5] != b"{\\rtf":
        raise ReadingStopped("broken: no RTF")
    reader = _RtfReader(document)
    at = 0
    while token := _TOKEN.match(body, at):
        at = token.end()
        word, number, byte, sign, brace, text = token.groups()
        if text is not None:
            reader.bytes(text)
        elif byte is not None:
            reader.bytes(bytes([int(byte, 16)]))
        elif brace is not None:
            reader.brace(brace)
        elif word == b"bin":
            at += max(int(number or 0), 0)  # so many bytes of a picture follow
        elif word is not None:
            reader.word(word, int(number) if number else None)
        elif sign is not None:
            reader.sign(sign)
    reader.flush()
    document.title = title_of(reader.gathered["title"])
    document.author = tidy(reader.gathered["author"])
    document.date = reader.date()


class _RtfReader:
    """The state between tokens."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.groups = [_RtfGroup(True, "", 1)]
        self.charset = "cp1252"
        self.held = bytearray()  # bytes of a charset whose characters may have two
        self.left = 0  # characters that stand for the Unicode one before them, to be passed over
        self.starred = False
        self.gathered = {"title": "", "author": "", "code": ""}
        self.times: dict[bytes, int] = {}

    def brace(self, brace: bytes) -> None:
        self.flush()
        self.left, self.starred = 0, False
        group = self.groups[-1]
        if brace == b"{":
            if len(self.groups) > MAX_DEPTH:
                raise ReadingStopped(f"RTF nested more than {MAX_DEPTH} deep")
            self.groups.append(_RtfGroup(group.seen, group.into, group.skip))
        elif len(self.groups) > 1:
            self.groups.pop()
            if group.mark:
                self.document.link(group.url, self.document.since(group.mark), group.mark.at)

    def word(self, word: bytes, number: int | None) -> None:
        self.flush()
        group, starred, self.starred = self.groups[-1], self.starred, False
        if word == b"u" and number is not None:
            self._put(chr(number % 65536))
            self.left = group.skip
        elif word in _BREAKS:
            self._put("\n")
        elif word in _SIGNS:
            self._put(_SIGNS[word])
        elif word == b"uc":
            group.skip = min(max(number or 0, 0), 10)
        elif word == b"ansicpg" and number:
            self.charset = _known(number)
        elif word in _GATHERED:
            group.into, group.seen = _GATHERED[word], False
            self.gathered[group.into] = ""
        elif word == b"fldrslt":
            self._show_field(group)
        elif word in _DATED:
            self.times.clear()  # the last of them counts, which is when it was saved
        elif word in (b"yr", b"mo", b"dy") and number is not None:
            self.times[word] = number
        elif starred or word in _UNSEEN:
            group.seen, group.into = False, ""

    def _show_field(self, group: _RtfGroup) -> None:
        url = field_link(self.gathered["code"])
        self.gathered["code"] = ""
        group.into = ""
        if url and group.seen:
            group.mark, group.url = self.document.here, url

    def sign(self, sign: bytes) -> None:
        self.flush()
        if sign == b"*":
            self.starred = True
        elif sign in _ESCAPED:
            self._put(_ESCAPED[sign])

    def bytes(self, data: bytes) -> None:
        if self.left:
            passed = min(self.left, len(data))
            self.left -= passed
            data = data[passed:]
        self.held += data

    def flush(self) -> None:
        """Put what is held: the next token is no byte."""
        if self.held:
            self._put(self.held.decode(self.charset, "replace"))
            self.held.clear()

    def _put(self, text: str) -> None:
        group = self.groups[-1]
        if group.seen:
            self.document.add(text)
        elif group.into and len(self.gathered[group.into]) < _MAX_GATHERED:
            self.gathered[group.into] += text

    def date(self) -> str:
        """When it was saved or made."""
        parts = (("yr", "04d", 1900, 2099), ("mo", "02d", 1, 12), ("dy", "02d", 1, 31))
        found: list[str] = []
        for name, form, least, most in parts:
            value = self.times.get(name.encode(), 0)
            if not least <= value <= most:
                break
            found.append(format(value, form))
        return "-".join(found)


def _known(codepage: int) -> str:
    try:
        return codecs.lookup(f"cp{codepage}").name
    except LookupError:
        return "cp1252"
