"""The index: which fields a page has in it, and how their words are cut.

Each text is there twice. Once by its stems without stop words, which is what questions in words are answered from; and
once word by word as written, for phrases, names and stop words that matter. Scripts without spaces (and Korean, whose
words carry their particles) are cut into single characters, and their words looked up as phrases: no dictionary needed.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from urllib.parse import unquote

import tantivy

from analecta.store.rows import PageRow
from analecta.text.tokens import stop_words
from analecta.urls import canonical

WORDS = "words"  # the folder of the index of pages
LONGEST = 64  # bytes of a word; longer ones are digests, base64 or noise

# Thai, Lao, Burmese, Hangul, Khmer, kana, Han: each character a word of its own.
_ALONE = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u31ff\u3400-\u9fff\uac00-\ud7ff"
    "\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff])"
)
# What a format is called in `type:`; any other is called by the end of its media type.
_TYPES = {
    "text/html": "html", "application/xhtml+xml": "html", "application/pdf": "pdf", "text/plain": "text",
    "application/msword": "word", "application/rtf": "word", "application/vnd.oasis.opendocument.text": "word",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "word",
    "application/vnd.ms-powerpoint": "slides", "application/vnd.oasis.opendocument.presentation": "slides",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "slides",
    "application/epub+zip": "epub", "application/postscript": "postscript",
}  # fmt: skip


@cache
def schema() -> tantivy.Schema:
    """The fields of a page; `first` is the number of its first topic, `topic` those of all."""
    builder = tantivy.SchemaBuilder()
    for name in ("title", "headings", "anchors", "text"):  # counted but not placed: phrases are not asked of them
        builder.add_text_field(name, tokenizer_name="stems", index_option="freq")
    for name in ("title_written", "text_written", "address"):  # with places
        builder.add_text_field(name, tokenizer_name="written")
    for name in ("host", "community", "lang", "type"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic", fast=True)
    builder.add_text_field("site", tokenizer_name="raw", index_option="basic")  # the host and the domains above it
    for name in ("id", "first", "topic", "day", "year"):
        builder.add_integer_field(name, indexed=True, fast=True)
    return builder.build()


@cache
def analyzers() -> dict[str, tantivy.TextAnalyzer]:
    """How texts are cut into words, by the names in the schema."""
    stop = tantivy.Filter.custom_stopword(sorted(stop_words("en")))
    return {"written": _cut(), "stems": _cut(stop, tantivy.Filter.stemmer("english"))}


def _cut(*more: tantivy.Filter) -> tantivy.TextAnalyzer:
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    common = (tantivy.Filter.remove_long(LONGEST), tantivy.Filter.lowercase(), tantivy.Filter.ascii_fold())
    for step in (*common, *more):
        builder = builder.filter(step)
    return builder.build()


def apart(text: str) -> str:
    """The text with each character that is a word of its own set apart, and letters in one piece with their accents."""
    return text if text.isascii() else _ALONE.sub(r" \1 ", unicodedata.normalize("NFC", text))


def stems(text: str) -> list[str]:
    """The stems of its words, without stop words."""
    return analyzers()["stems"].analyze(apart(text))


def written(text: str) -> list[str]:
    """Its words as they are written, without regard to case and accents."""
    return analyzers()["written"].analyze(apart(text))


def create(folder: Path, fields: tantivy.Schema) -> tantivy.Index:
    """A new, empty index in a folder of its own."""
    folder.mkdir()
    tantivy.Index(fields, path=str(folder))
    return reopen(folder)


def reopen(folder: Path) -> tantivy.Index:
    """The index of a folder, with what was written to it last; ValueError where there is none that can be read."""
    index = tantivy.Index.open(str(folder))
    for name, analyzer in analyzers().items():
        index.register_tokenizer(name, analyzer)
    index.config_reader("manual")
    index.reload()
    return index


def document(item: PageRow, headings: str, text: str, anchors: Sequence[str], community: str) -> tantivy.Document:
    """A page as it goes into the index."""
    made = tantivy.Document()
    title, text = apart(item.title), apart(text)
    texts = {"title": title, "title_written": title, "headings": apart(headings), "text": text, "text_written": text}
    texts |= {"anchors": apart("\n".join(anchors)), "host": item.host, "community": community}
    texts |= {"address": apart(unquote(item.url)), "lang": language(item.lang), "type": type_of(item.mime)}
    for name, value in texts.items():
        if value:
            made.add_text(name, value)
    for domain in domains(item.host):
        made.add_text("site", domain)
    made.add_integer("id", item.id)
    made.add_integer("first", item.topic)
    for topic, _ in item.topics:
        made.add_integer("topic", topic)
    if day := day_of(item.date):
        made.add_integer("day", day)
        made.add_integer("year", day // 10_000)
    return made


@lru_cache(10_000)
def domains(host: str) -> tuple[str, ...]:
    """The host and all domains above it: a.b.org, b.org, org; one with a port also without it."""
    parts = re.sub(r":\d+$", "", host).split(".")
    return tuple(dict.fromkeys([host, *(".".join(parts[i:]) for i in range(len(parts)))]))


def host_of(said: str) -> str:
    """The host that is meant by bücher.example, *.example.org or http://example.org/; "" where it is none."""
    name = said.strip().removeprefix("*.").strip(".")
    target = canonical(name if "://" in name else f"http://{name}")
    return target.host if target and target.url.endswith(f"//{target.host}/") else ""


@lru_cache(1000)
def language(said: str) -> str:
    """A language by its first, short name: en of en-GB."""
    return re.split("[-_]", said.lower())[0]


def type_of(mime: str) -> str:
    """What a format is called in a question."""
    return _TYPES.get(mime, mime.rpartition("/")[2])


def day_of(date: str) -> int:
    """A date (YYYY, YYYY-MM or YYYY-MM-DD) as the number YYYYMMDD, the first day of what is meant; 0 for none."""
    parts = date.split("-")
    if len(parts) > 3 or not all(part.isdecimal() and part.isascii() for part in parts):
        return 0
    year, month, day = (int(part) for part in [*parts, "1", "1"][:3])
    return year * 10_000 + month * 100 + day if 0 < year < 10_000 and 0 < month < 13 and 0 < day < 32 else 0
