import re
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analecta.communities.view import index_communities
from analecta.errors import ResourceError
from analecta.export.citations import FORMATS, Name, bibtex, names_of, references, ris, tex
from analecta.export.tables import COLLECTION as COLUMNS
from analecta.export.tables import collection_rows
from analecta.store.rows import PageRow
from analecta.views.collections import Collection, CollectionItem, collections
from tests.export.exporting import exported
from tests.making import target

PDF = "application/pdf"


def item(url="http://www.birds.test/wp/Wren.htm", **more):
    one = target(url)
    plain = {
        "id": one.id, "url": one.url, "host": one.host, "title": "The Wren", "topic": 0, "confidence": 0.9,
        "topics": ((0, 0.9),), "mime": "text/html", "lang": "en", "author": "", "date": "", "words": 9, "size": 9,
        "fetched_at": 1_700_000_000.0, "digest": "sha1:ABC", "noarchive": False, "reserved": "", "warc": "p00.warc.gz",
        "offset": 7, "length": 9, "parent": 0, "anchor": "", "context": "", "example": False, "shard": 0, "seq": 1,
    }  # fmt: skip
    return PageRow(**plain | more)


def collected(*found, topic="birds"):
    return Collection(0, topic, len(found), [CollectionItem(one, 0.9, rank=n) for n, one in enumerate(found, 1)])


def parsed_bibtex(*found):
    """What bibtexparser reads, field by field."""
    bibtexparser = pytest.importorskip("bibtexparser")
    library = bibtexparser.parse_string("".join(bibtex([collected(*found)])))
    assert not library.failed_blocks
    return [
        {"type": entry.entry_type, **{field.key: field.value for field in entry.fields}} for entry in library.entries
    ]


def parsed_ris(*found):
    rispy = pytest.importorskip("rispy")
    return rispy.loads("".join(ris([collected(*found)])))


def untex(text):
    """The text that was escaped."""
    names = {"textbackslash": "\\", "textbraceleft": "{", "textbraceright": "}", "textasciitilde": "~"}
    names["textasciicircum"] = "^"
    return re.sub(r"\\(?:([a-z]+)\{\}|(.))", lambda found: names[found[1]] if found[1] else found[2], text)


def test_a_page_has_all_that_is_known_of_it():
    (entry,) = parsed_bibtex(item(author="Jane Doe", date="2019-05-01"))
    assert entry == {
        "type": "online", "author": "Doe, Jane", "title": "{The Wren}", "year": "2019", "month": "5",
        "organization": "www.birds.test", "url": "http://www.birds.test/wp/Wren.htm", "urldate": "2023-11-14",
        "keywords": "birds", "note": "Archived copy: p00.warc.gz, record at byte 7, sha1:ABC",
    }  # fmt: skip


def test_ris_has_the_same():
    (entry,) = parsed_ris(item(author="Jane Doe; World Bird Council", date="2019-05-01", mime=PDF))
    assert entry["type_of_reference"] == "RPRT"
    assert entry["authors"] == ["Doe, Jane", "World Bird Council"]
    assert (entry["year"], entry["title"], entry["access_date"]) == ("2019", "The Wren", "2023/11/14")
    assert all(line.endswith("\r\n") for line in "".join(ris([collected(item())])).splitlines(keepends=True))


def test_what_is_not_known_is_not_there():
    (entry,) = parsed_bibtex(item(title="", noarchive=True, mime=PDF))
    assert set(entry) == {"type", "title", "organization", "url", "urldate", "keywords"}
    assert (entry["type"], entry["title"]) == ("misc", "{http://www.birds.test/wp/Wren.htm}")


@given(st.text(st.sampled_from("\\{}$&#_%~^\"'@=,ab é中\n")))
def test_f37_escaped_text_balances_and_can_be_had_back(text):
    escaped = tex(text)
    assert escaped.count("{") == escaped.count("}")
    assert untex(escaped) == " ".join(text.split())


@given(st.text(min_size=1), st.text())
def test_f37_any_title_and_author_make_one_entry(title, author):
    (entry,) = parsed_bibtex(item(title=title, author=author))
    assert untex(entry["title"][1:-1]) == untex(tex(title))
    assert len(parsed_ris(item(title=title or "x", author=author))) == 1


def test_tex_itself_reads_the_same_title():
    latex = pytest.importorskip("pylatexenc.latex2text")
    title = "C# & 100 % of sets \\ $5_000 ~ Ångström 鳥"  # it does not know \\textbraceleft
    assert latex.LatexNodes2Text().latex_to_text(tex(title)) == title


def test_addresses_stay_as_they_are_but_for_braces():
    (entry,) = parsed_bibtex(item("http://a.test/x_y?q={1}&p=%C3%A4~"))
    assert item("http://a.test/?q={1}").url.count("{") == 1
    assert entry["url"] == "http://a.test/x_y?q=%7B1%7D&p=%C3%A4~"


def test_keys_are_readable_unique_and_depend_on_the_address_alone():
    pages = [item(f"http://www.birds.test/wp/Wren.htm?n={n}") for n in range(300)]
    keys = [reference.key for reference in references([collected(*pages)])]
    assert len(set(keys)) == 300
    assert all(re.fullmatch("birds-wren-[0-9a-f]{6,}", key) for key in keys)
    changed = [item(page.url, title="New", author="X Y") for page in reversed(pages)]
    assert {reference.key for reference in references([collected(*changed)])} == set(keys)


def test_keys_that_would_be_the_same_grow():
    pages = [item(id=0x1234567 << 36 | n) for n in (1, 2)]
    keys = [reference.key for reference in references([collected(*pages)])]
    assert keys[1].startswith(keys[0])
    assert len(set(keys)) == 2


def test_a_page_of_two_collections_is_cited_once():
    both = [collected(item(), topic="birds"), collected(item(), topic="songs, loud")]
    (reference,) = references(both)
    assert reference.topics == ["birds", "songs, loud"]
    assert "".join(ris(both)).count("KW  - ") == 2


@pytest.mark.parametrize(
    ("author", "names"),
    [
        ("Jane Doe", [Name("Doe", "Jane")]),
        ("Doe, Jane", [Name("Doe", "Jane")]),
        ("Jane Doe, John Q. Roe", [Name("Doe", "Jane"), Name("Roe", "John Q.")]),
        ("Doe, Jane; Roe, John", [Name("Doe", "Jane"), Name("Roe", "John")]),
        ("Doe, Jane, Roe, John", [Name("Doe", "Jane"), Name("Roe", "John")]),
        ("By Jane Doe and John Roe", [Name("Doe", "Jane"), Name("Roe", "John")]),
        ("Jane Doe & John Roe, PhD", [Name("Doe", "Jane"), Name("Roe", "John")]),
        ("Ludwig van Beethoven", [Name("van Beethoven", "Ludwig")]),
        ("van Gogh, Vincent", [Name("van Gogh", "Vincent")]),
        ("World Health Organization", [Name("World Health Organization")]),
        ("Department of Birds, Bees and Trees", [Name("Department of Birds, Bees and Trees")]),
        ("jane@doe.test (Jane Doe)", [Name("Doe", "Jane")]),
        ("https://facebook.test/jane", []),
        ("admin", [Name("admin")]),
        ("村上春樹", [Name("村上春樹")]),
        ("Jane Doe; Jane Doe", [Name("Doe", "Jane")]),
        ("", []),
    ],
)
def test_names_are_found_in_what_pages_say_of_their_author(author, names):
    assert names_of(author) == names


@given(st.text())
def test_any_author_gives_names_of_one_line(author):
    for name in names_of(author):
        assert name.family
        assert "\n" not in name.family + name.given


def test_names_with_commas_or_and_stay_one():
    entry, body = parsed_bibtex(
        item(author="Doe, Jane, the Elder; x"), item("http://b.test/", author="Trust of A and B")
    )
    assert entry["author"] == "Doe, {Jane, the Elder} and {x}"
    assert body["author"] == "{Trust of A and B}"


@pytest.mark.parametrize("format", FORMATS)
def test_a_real_library_is_cited_whole(grown, tmp_path, format):
    urls = {ranked.item.url for collection in collections(grown) for ranked in collection.items}
    assert exported(grown, "collection", format, tmp_path / "out") == [f"{len(urls)} items."]
    assert len(urls) > 20
    text = (tmp_path / "out").read_bytes().decode()
    assert all(url in text for url in urls)


def test_what_cannot_be_written_is_told(grown, tmp_path, capfdbinary):
    (tmp_path / "file").write_text("")
    with pytest.raises(ResourceError, match="cannot write"):
        exported(grown, "collection", "ris", tmp_path / "file" / "out")
    assert exported(grown, "collection", "bibtex", top=1, topic=grown.topic_names()[0]) == ["1 item."]
    assert capfdbinary.readouterr().out.startswith(b"@online{")


def test_s12_rows_of_collections_are_in_the_order_of_ranks(grown):
    rows = list(collection_rows(grown, collections(grown, most=7), index_communities(grown)))
    topics = grown.topic_names()
    assert [row["topic"] for row in rows] == sorted((row["topic"] for row in rows), key=topics.index)
    assert all(list(row) == list(COLUMNS) for row in rows)
    for topic in topics:
        assert [row["rank"] for row in rows if row["topic"] == topic] == [n for n, _ in zip(count(1), range(7))]
