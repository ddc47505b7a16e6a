import re

import pytest

from analecta.export.datasheet import HOW, REASONS, Counts, datasheet, escaped, provenance

ROW = {
    "text": "four words are here", "words": 4, "topic": "birds", "lang": "en", "mime": "text/html", "date": "2019-05",
    "host": "a.test", "licence": "CC-BY-4.0", "licence_by": "link", "fetched_at": "2026-01-02T03:04:05.678Z",
}  # fmt: skip


def made(**more):
    plain = {
        "name": "wrens", "file": "pages.parquet", "made_at": 1_800_000_000.0, "for_training": True,
        "recipe": "adaptive", "seeds": {"birds": [f"http://a.test/{n}" for n in range(12)]},
        "runs": [(1_799_990_000.0, 1_799_999_000.0, "9 pages were asked for and kept")], "model": "a38c",
        "settings": "sha256:79a6", "version": "1.2",
    }  # fmt: skip
    return plain | more


def counted(*rows):
    counts = Counts()
    for row in rows:
        counts.add(ROW | row)
    return counts


def test_rows_are_counted_by_what_they_are():
    counts = counted({}, {"lang": "de", "date": "", "licence": "", "licence_by": ""}, {"fetched_at": "2025"})
    assert (counts.pages, counts.words, counts.first, counts.last) == (3, 12, "2025", ROW["fetched_at"])
    assert counts.langs == {"en": 2, "de": 1}
    assert counts.years == {"2019": 2, "": 1}
    assert counts.licences_by == {"link": 2}


def test_a_datasheet_begins_with_a_card_that_machines_read():
    card = datasheet(counted({}, {"lang": ""}, {"lang": "<x>"}), made(name='w"r\nens')).split("---\n")[1]
    assert 'pretty_name: "w\\"r ens"\nlanguage: ["en"]\n' in card
    assert 'size_categories: ["n<1K"]' in card
    assert card.endswith('data_files: "pages.parquet"\n')


def test_a_card_is_yaml():
    yaml = pytest.importorskip("yaml")
    card = yaml.safe_load(datasheet(counted({}), made(name="no: [x"))[4:].split("\n---\n")[0])
    assert card["pretty_name"] == "no: [x"
    assert card["configs"] == [{"config_name": "default", "data_files": "pages.parquet"}]


def test_it_tells_how_the_corpus_was_made():
    text = datasheet(counted({}), made())
    for said in ("Analecta 1.2 on 2027-01-15", "`adaptive`", "`a38c`", "`sha256:79a6`", "12 examples", "and 2 more"):
        assert said in text
    assert "9 pages were asked for and kept" in text


def test_f36_it_tells_what_was_left_out_and_why():
    counts = counted({})
    counts.left.update(dict.fromkeys(REASONS, 2) | {"noindex": 1})
    counts.reserved.update({"ai-train=no": 2})
    text = datasheet(counts, made())
    assert all(f"- 2 pages {why}\n" in text for key, why in REASONS.items() if key not in ("noindex", "other topics"))
    assert "- 1 page with noindex" in text
    assert "ai-train=no: 2" in text


def test_it_tells_how_licences_were_recognised():
    text = datasheet(counted({}, {}, {"licence_by": "words"}, {"licence": "", "licence_by": ""}), made())
    assert f"3 of 4 (2 by {HOW['link']}; 1 by {HOW['words']})" in text
    assert "| nothing is said | 1 |" in text


def test_only_the_largest_hosts_are_named():
    text = datasheet(counted(*({"host": f"h{n}.test"} for n in range(30))), made())
    assert len(re.findall(r"^\| h\d+\.test \|", text, re.MULTILINE)) == 20
    assert "| 10 others | 10 |" in text


def test_an_empty_corpus_has_a_datasheet_too():
    text = datasheet(Counts(), made(seeds={}, runs=[], recipe="", model=""))
    assert text.startswith("---\n")
    assert "0 web pages on no topic" in text


def test_f37_names_from_the_web_are_inert():
    hostile = "<script>alert(1)</script>|\n# [x](javascript:1)\u202e"
    assert escaped(hostile) == "\\<script\\>alert(1)\\</script\\>\\| # \\[x\\](javascript:1)"
    text = datasheet(counted({"host": hostile, "topic": hostile}), made(seeds={"t": ["javascript:alert(1)"]}))
    assert not re.search(r"(?<!\\)<script|(?<!\\)\]\(|<javascript", text)


def test_a_library_tells_how_it_was_grown(grown):
    found = provenance(grown, "pages.parquet", True, 0.0)
    assert list(found["seeds"]) == grown.topic_names()
    assert (found["recipe"], len(found["runs"]), found["model"]) == ("adaptive", 1, grown.get("model"))
    assert re.fullmatch("sha256:[0-9a-f]{64}", found["settings"])
