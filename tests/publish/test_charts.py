import re
from itertools import pairwise
from xml.etree import ElementTree

from analecta.publish.charts import HEIGHT, WIDTH, Bar, ChartLine, bar_chart, line_chart

TICKS = [(0, "0"), (1, "R"), (2, "2R")]


def drawn(lines, **more):
    return line_chart("A <title> & more", lines, "fetched", "recall", TICKS, **more)


def test_a_chart_is_well_formed_and_says_its_words():
    tree = ElementTree.fromstring(drawn([ChartLine("one & <two>", [0, 1, 2], [0, 0.5, 1])]))
    words = [text.text for text in tree.iter("{http://www.w3.org/2000/svg}text")]
    assert {"A <title> & more", "one & <two>", "fetched", "recall", "2R"} <= set(words)


def test_a_line_goes_from_corner_to_corner():
    path = re.search(
        r'class="line s0" d="M([\d.]+) ([\d.]+) L([\d.]+) ([\d.]+)"', drawn([ChartLine("a", [0, 2], [0, 1])])
    )
    x1, y1, x2, y2 = map(float, path.groups())
    assert 0 < x1 < x2 < WIDTH
    assert HEIGHT > y1 > y2 > 0


def test_the_axis_ends_where_the_longest_line_does():
    short = drawn([ChartLine("a", [0, 0.5, 1.0], [0, 0.5, 1])])
    assert ">R</text>" in short
    assert ">2R</text>" not in short
    assert ">2R</text>" in drawn([ChartLine("a", [0, 0.1], [0, 1])])  # where too few marks would be left, all stay


def test_each_line_has_error_bars_of_its_height():
    chart = drawn([ChartLine("a", [0, 1, 2], [0.2, 0.4, 0.5], [0.1, 0.1, 0.2])], top=1.0)
    heights = [abs(float(low) - float(high)) for low, high in re.findall(r"M[\d.]+ ([\d.]+) V([\d.]+)", chart)]
    assert len(heights) == 3
    assert abs(heights[2] - 2 * heights[1]) < 0.3


def test_a_quiet_line_is_dashed_and_without_colour():
    chart = drawn([ChartLine("bound", [0, 1], [0, 1], quiet=True), ChartLine("ours", [0, 1], [0, 1])])
    assert 'class="line s7 dashed"' in chart
    assert 'class="line s0"' in chart


def test_names_at_the_ends_do_not_lie_on_one_another():
    chart = drawn([ChartLine(f"line {i}", [0, 1], [0, 0.01 * i]) for i in range(6)])
    places = sorted(float(y) for y in re.findall(r'class="name f\d" x="[\d.]+" y="([\d.]+)"', chart))
    assert min(b - a for a, b in pairwise(places)) >= 14.9
    assert places[-1] <= HEIGHT - 40


def test_bars_are_as_high_as_their_values():
    chart = bar_chart("bars", [Bar("a", 0.5, 0.1), Bar("b", 1.0)], "recall", 1.0)
    half, whole = map(float, re.findall(r'height="([\d.]+)" rx="2"', chart))
    assert abs(whole - 2 * half) < 0.2
    assert "0.50" in chart


def test_a_chart_of_nothing_is_a_chart():
    ElementTree.fromstring(drawn([]))
    ElementTree.fromstring(bar_chart("nothing", [], "recall"))


def test_a_chart_follows_a_dark_screen():
    assert "prefers-color-scheme: dark" in drawn([ChartLine("a", [0], [0])])
