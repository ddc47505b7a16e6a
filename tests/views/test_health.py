import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from rich.console import Console

from analecta.cli.health_table import tell
from analecta.judge.health import Health, MisplacedExample, Neighbour, Pair, TopicHealth
from analecta.publish.layout import places
from analecta.publish.network import WIDTH, draw_topics
from analecta.publish.pages import health_page
from analecta.publish.templates import xml_environment
from analecta.views.health import advice, short, verdict

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = [
    "<script>x</script>",
    '"><img src=x onerror=alert(1)>',
    "a\u202eb\x1b[2J\x00",
    "{{7*7}}",
    "\ufffe</title>",
    "",
]


def made(names, like=0.3, **more):
    """Topics of ten examples, each as like every other one."""
    topics = [
        TopicHealth(name, 10, 1.0, {}, ["word"], [Neighbour(other, like) for other in names if other != name][:2])
        for name in names
    ]
    matrix = [[1.0 if a == b else like for a in names] for b in names]
    return Health(**({"topics": topics, "similarities": matrix, "close": [], "strays": [], "few": []} | more))


def printed(found, width=80):
    console = Console(width=width, force_terminal=False, color_system=None)
    with console.capture() as capture:
        console.print(tell(found))
    return capture.get()


def boxes(svg):
    """Where circles stand and how large they are."""
    drawn = ElementTree.fromstring(svg).findall(f"{SVG}g/{SVG}circle")
    return [tuple(float(circle.get(key)) for key in ("cx", "cy", "r")) for circle in drawn]


def test_s14_healthy_topics_are_good_and_there_is_nothing_to_do():
    found = made(["Bees", "Stars"])
    assert [verdict(found, topic)[0] for topic in found.topics] == ["good", "good"]
    assert list(advice(found)) == [
        "The topics can be told apart, and all examples look as if they belong where they are."
    ]


def test_s14_the_worst_is_said_of_a_topic():
    names = ["Few", "Near", "Far", "Mixed", "Vague"]
    found = made(
        names,
        close=[Pair("Near", "Far", 0.95)],
        strays=[MisplacedExample(f"http://a.test/{i}", "Mixed", "Far", 0.2, 0.9) for i in (1, 2)],
        few=["Few"],
    )
    found.topics[0] = TopicHealth("Few", 2, 1.0, {}, [], [])
    found.topics[4] = TopicHealth("Vague", 10, 0.7, {"Far": 2, "Near": 1}, [], [])
    assert [verdict(found, topic)[0] for topic in found.topics] == [
        "too few examples",
        "too close to Far",
        "too close to Near",
        "2 of 10 look like Far",
        "3 of 10 lean to others",
    ]


def test_s14_the_advice_names_pairs_examples_and_topics():
    stray = MisplacedExample("http://a.test/1", "A", "B", 0.2, 0.9)
    lines = list(advice(made(["A", "B"], close=[Pair("A", "A / B", 0.9)], strays=[stray], few=["C"])))
    assert "  A and A / B (which is a part of it): 0.90" in lines
    assert "  http://a.test/1 of A looks more like B (0.90, 0.20)" in lines
    assert "  C" in lines


def test_s14_a_topic_alone_says_which_example_is_unlike_the_others():
    found = made(["Bees"], strays=[MisplacedExample("http://a.test/1", "Bees", None, 0.1, 0.0)])
    assert verdict(found, found.topics[0])[0] == "1 of 10 is unlike the others"
    assert "has little in common" in printed(found)


def test_s14_the_table_fits_80_columns_and_says_it_all():
    names = [f"Numerical analysis / Part {i} of something long / Computational linear algebra {i}" for i in range(5)]
    text = printed(made(names, close=[Pair(names[0], names[1], 0.9)]))
    assert max(map(len, text.splitlines())) <= 80
    assert "100%" in text
    assert "too close to" in text


def test_s14_no_topics_can_be_told_and_drawn():
    nothing = Health([], [], [], [], [])
    assert "no topics" in printed(nothing)
    assert "no topics" in health_page(nothing, "lib")
    ElementTree.fromstring(draw_topics(nothing))


def test_long_paths_are_shortened_at_the_left():
    assert short("Mathematics / Numerical analysis / Algebra", 20) == "… / Algebra"
    assert short("Arts / Mathematics / Algebra", 25) == "… / Mathematics / Algebra"
    assert short("Maths / Algebra", 20) == "Maths / Algebra"
    assert short("Maths / Computational algebra", 12) == "Computation…"


def test_f39_what_could_move_the_cursor_is_made_visible():
    text = printed(made(HOSTILE, few=[HOSTILE[2]]))
    assert not re.search("[\x00\x1b\u202e]", text)
    assert "\\u202e" in text


class Tags(HTMLParser):
    """Collects tags and the values of links."""

    def __init__(self):
        super().__init__()
        self.tags, self.links = set(), []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.links += [value for name, value in attrs if name == "href"]
        assert not any(name.startswith("on") for name, _ in attrs)


def test_f37_hostile_names_and_urls_are_inert():
    urls = ["javascript:alert(1)", 'http://a.test/"><script>', "data:text/html,x", "http://[", "https://b.test/"]
    strays = [MisplacedExample(url, HOSTILE[0], HOSTILE[1], 0.1, 0.9) for url in urls]
    page = Tags()
    page.feed(health_page(made(HOSTILE, strays=strays, close=[Pair(HOSTILE[0], HOSTILE[1], 0.9)]), HOSTILE[1]))
    assert not page.tags & {"script", "img", "iframe", "link", "object"}
    assert page.links == ['http://a.test/"><script>', "https://b.test/"]


def test_f37_a_drawing_of_hostile_names_is_well_formed():
    tree = ElementTree.fromstring(draw_topics(made(HOSTILE, close=[Pair(HOSTILE[0], HOSTILE[1], 0.9)])))
    assert {element.tag.removeprefix(SVG) for element in tree.iter()} <= set(
        "svg title desc style rect line g circle text".split()
    )
    assert (tree.get("role"), tree.find(f"{SVG}title").get("id")) == ("img", tree.get("aria-labelledby").split()[0])


@pytest.mark.parametrize("count", [1, 2, 3, 12, 26, 50])
def test_s14_no_circle_lies_on_another_and_all_are_on_the_sheet(count):
    svg = draw_topics(made([f"Subject / A rather long name of topic {i}" for i in range(count)], like=0.5))
    height = float(re.search(r'viewBox="0 0 \d+ (\d+)"', svg)[1])
    placed = boxes(svg)
    assert len(placed) == count
    assert all(r <= x <= WIDTH - r and r <= y <= height - r for x, y, r in placed)
    apart = [abs(a[0] - b[0]) > 100 or abs(a[1] - b[1]) > 60 for i, a in enumerate(placed) for b in placed[:i]]
    assert all(apart)


def test_s14_like_topics_stand_nearer_and_a_drawing_is_always_the_same():
    matrix = [[1.0 if i == j else 0.9 if i // 3 == j // 3 else 0.1 for j in range(9)] for i in range(9)]
    at, _ = places(matrix, [(60, 40)] * 9, 1000, 100)
    far = {
        same: [abs(complex(*at[i]) - complex(*at[j])) for i in range(9) for j in range(i) if (i // 3 == j // 3) == same]
        for same in (True, False)
    }
    assert sum(far[True]) / len(far[True]) < 0.6 * sum(far[False]) / len(far[False])
    assert places(matrix, [(60, 40)] * 9, 1000, 100)[0] == at


def test_s14_lines_lead_to_the_nearest_two_and_what_is_too_close_is_marked():
    found = made(["A", "B", "C", "D"], close=[Pair("A", "D", 0.9)])
    svg = draw_topics(found)
    assert svg.count('class="edge"') == 4  # A-B, A-C, B-C, B-D
    assert (svg.count('class="edge close"'), svg.count('class="badge"')) == (1, 1)


def test_s14_marks_tell_what_colours_tell():
    found = made(["A", "B", "C", "D"])
    for i, back in enumerate((0.95, 0.8, 0.5, None)):
        found.topics[i] = TopicHealth("ABCD"[i], 10, back, {}, [], [])
    tree = ElementTree.fromstring(draw_topics(found))
    marks = [group.find(f"{SVG}text").text for group in tree.findall(f"{SVG}g")]
    assert marks == ["✓", "~", "!", "?"]


def test_s14_the_page_needs_no_network_and_has_all_figures():
    page = health_page(made(["Bees", "Stars"], close=[Pair("Bees", "Stars", 0.93)], like=0.93), "my library")
    assert "default-src 'none'" in page
    assert not re.search(r"(src|href)=|url\(|@import", page)
    assert len(re.findall(r"<td class=\"close\"[^>]*>0\.93", page)) == 2


@pytest.mark.parametrize("width", [34, 50, 80])
def test_s14_neither_figures_nor_verdicts_are_cut_in_a_narrow_terminal(width):
    names = ["Beekeeping and its history", "Sourdough baking"]
    found = made(names, like=0.95, close=[Pair(*names, 0.95)])
    told = " ".join(printed(found, width).split())
    assert told.count("10 100% ") == told.count("too close to") == 2
    assert told.count("0.95 ") == 2
    assert "good" in " ".join(printed(made(["Bees", "Bread"]), width).split())


def test_marks_that_a_script_needs_stay_as_they_are_in_html():
    shown = xml_environment.from_string("{{ text|row }}").render(text="שלום\u200f! a\u202eb\u2028c <b>")
    assert shown == "שלום\u200f! ab c &lt;b&gt;"
