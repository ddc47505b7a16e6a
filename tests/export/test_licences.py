import pytest
from hypothesis import given
from hypothesis import strategies as st

from analecta.export.corpus import Licence, licence_of
from tests.effort import little_work

CC = "https://creativecommons.org/licenses"


@pytest.mark.parametrize(
    ("html", "name"),
    [
        (f'<a rel="license" href="{CC}/by-sa/4.0/">x</a>', "CC-BY-SA-4.0"),
        (f"<link rel=license href={CC}/by/3.0/deed.en>", "CC-BY-3.0"),
        (f"<A HREF='{CC}/by-nc-nd/3.0/de/' REL='nofollow license'>", "CC-BY-NC-ND-3.0-DE"),
        ('<a rel="license" href="//creativecommons.org/publicdomain/zero/1.0/">', "CC0-1.0"),
        ('<a rel="license" href="http://www.gnu.org/copyleft/fdl.html">', "GFDL"),
        ('<link rel="license" href="/terms">', "other"),
        (f'<a rel=license href="{CC}/by/4.0/"><a rel=license href="{CC}/by/2.0/">', "CC-BY-2.0, CC-BY-4.0"),
    ],
)
def test_a_link_of_that_kind_names_the_licence(html, name):
    assert licence_of(html, "") == Licence(name, "link")


def test_dublin_core_names_the_licence():
    html = f'<meta name="DC.rights" content="{CC}/by/4.0/"><meta name="dcterms.license" content="ask us">'
    assert licence_of(html, "") == Licence("CC-BY-4.0", "meta")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("This work is licensed under a Creative Commons Attribution-ShareAlike 4.0 International License.",
         "CC-BY-SA-4.0"),
        ("Text is available under the Creative\nCommons Attribution-NonCommercial-NoDerivs 2.5 licence",
         "CC-BY-NC-ND-2.5"),
        ("Content is available under CC BY-SA 3.0 unless otherwise noted.", "CC-BY-SA-3.0"),
        ("This is an open access article distributed under the terms of the Creative Commons Attribution License",
         "CC-BY"),
        ("This article (see www.a.test for authors) is available under the\nGNU Free Documentation License\n.", "GFDL"),
        ("All content is available under the Open Government Licence v3.0, except where stated", "OGL-UK-3.0"),
    ],
)  # fmt: skip
def test_words_about_the_page_itself_name_the_licence(text, name):
    assert licence_of("", f"{'Something else. ' * 2000}\n{text}") == Licence(name, "words")


def test_a_licence_without_its_kind_is_told_by_the_only_link():
    said = "This site is licensed under a Creative Commons License."
    assert licence_of(f'<a href="{CC}/by-nc/4.0/">', said) == Licence("CC-BY-NC-4.0", "words")
    assert licence_of(f'<a href="{CC}/by-nc/4.0/"><a href="{CC}/by/4.0/">', said) == Licence()


@pytest.mark.parametrize(
    "text",
    [
        "Creative Commons Attribution 4.0 is a licence.",
        "Photo: Jane Doe, CC BY-SA 3.0",
        "GIMP is released under the GNU General Public License.",
        "This is a dog. Linux was released under CC BY 4.0",
        "All rights reserved.",
    ],
)
def test_what_merely_mentions_a_licence_is_not_under_it(text):
    assert licence_of(f'<a href="{CC}/by/4.0/">see</a> <p class="rel=license">', text) == Licence()


def test_words_in_the_middle_of_a_long_text_do_not_count():
    text = f"{'x ' * 5000} This work is licensed under CC BY 4.0. {'x ' * 5000}"
    assert licence_of("", text) == Licence()


@given(st.text(st.sampled_from("<>a =\"'relicnsh/:.0BYCC-under this is")))
def test_any_text_can_be_looked_at(text):
    found = licence_of(text, text)
    assert bool(found.name) == bool(found.by)


def test_f30_hostile_pages_take_no_time():
    pieces = ("rel=", 'rel="license ', "<a ", "this ", "this is available under ", "<meta dc.", "<a rel=license href=")
    with little_work():
        for piece in pieces:
            licence_of(piece * 100_000, piece * 100_000)
