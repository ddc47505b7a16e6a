import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from .pages import html, strings, urls


def test_title_has_single_spaces_and_falls_back_to_the_first_heading():
    assert html("<title> A\n <b>title</title><h1>Other</h1>").title == "A <b>title"
    assert html("<title> </title><h2>Sub</h2><h1>The\n heading</h1>").title == "The heading"
    assert len(html("<title>" + "x" * 2000).title) == 500


def test_text_is_what_a_reader_sees_and_words_of_blocks_stay_apart():
    page = html(
        "<head><title>T</title><style>s{}</style></head><body><p>one</p><p>two</p><table><caption>three</caption>"
        "<td>four<td>five</table><script>x=1</script><template>no</template><noscript>no</noscript>"
        "<ul>six<li>seven<ul><li>eight</ul></ul><iframe>no</iframe>"
    )
    assert page.text.split("\n") == "one two three four five six seven eight".split()


def test_main_and_headings():
    page = html("<nav>menu</nav><h2>b</h2><h1>a </h1><h3></h3><p>" + "Long sentence of the article. " * 20 + "</p>")
    assert page.headings == ["a", "b"]
    assert "Long sentence" in page.main_text()


def test_links_come_from_anchors_areas_frames_and_next_but_not_from_templates():
    page = html(
        "<link rel=next href=n><link rel=stylesheet href=css><a href=b>B</a><map><area href=c></map>"
        "<iframe src=d></iframe><template><a href=t>T</a></template><noscript><a href=e>E</a></noscript>"
    )
    assert sorted(url[-1] for url in urls(page)) == ["b", "c", "d", "e", "n"]


def test_a_target_is_linked_once_by_its_first_words():
    page = html("<a href=b#x><img src=i></a><a href=b#y>Words\n here</a><a href='b'>Later</a>")
    assert [(link.target.url, link.anchor) for link in page.links] == [("http://example.com/a/b", "Words here")]


def test_an_image_link_is_called_by_its_alt_text():
    page = html("<a href=b><img alt='the  logo'></a><a href=c title=named></a>")
    assert [link.anchor for link in page.links] == ["the logo", "named"]


def test_links_to_the_page_itself_and_to_no_page_are_dropped():
    page = html(
        "<a href='#top'>x</a><a href=''>x</a><a href=page.html#s>x</a><a href>x</a><a>x</a><a href=mailto:a@b>x</a>"
    )
    assert page.links == []
    assert urls(html("<a href=JavaScript:x()>x</a><a href=data:,x>x</a><a href='ftp://h/'>x</a>")) == []


def test_base_and_refresh_are_obeyed():
    page = html("<base href='/other/'><meta http-equiv=Refresh content='5; URL=\"r.html\"'><a href=x>x</a>")
    assert urls(page) == ["http://example.com/other/r.html", "http://example.com/other/x"]
    assert urls(html("<base href='javascript:x'><a href=x>x</a>")) == ["http://example.com/a/x"]


@pytest.mark.parametrize("rel", ["nofollow", "external UGC", "sponsored,noopener"])
def test_f35_rel_nofollow_marks_the_link_unless_another_vouches_for_it(rel):
    assert html(f"<a href=b rel='{rel}'>b</a>").links[0].nofollow
    assert not html(f"<a href=b rel='{rel}'>b</a><a href=b rel=next>b</a>").links[0].nofollow


def test_f23_links_are_cut_at_the_cap_and_the_page_says_so():
    page = html("".join(f"<a href={n}>n</a>" for n in range(2001)))
    assert len(page.links) == 2000
    assert page.limits == "links-cut"
    assert html("".join(f"<a href={n}>n</a>" for n in range(2000))).limits == ""


def test_around_gives_the_words_of_the_enclosing_block():
    page = html("<p>far</p><p>Read <i>the <a href=b>good book</a></i> of <b>Kells</b>.</p><p>away</p>")
    assert page.link_context(0) == "Read the good book of Kells."
    long = html("<p>" + "before " * 50 + "<a href=b>it</a>" + " after" * 50)
    assert 180 < len(long.link_context(0)) < 210
    assert set(long.link_context(0).split()) == {"before", "it", "after"}


def test_around_works_for_every_kind_of_link():
    page = html(
        "<link rel=next href=n><meta http-equiv=refresh content='0;url=r'><iframe src=i></iframe><a href=a>q</a>"
    )
    assert [page.link_context(i) for i in range(4)] == ["", "", "", "q"]


def test_canonical_is_absolute_or_nothing():
    assert html("<link rel=Canonical href='//other.org/x#f'>").canonical == "http://other.org/x"
    assert html("<link rel=canonical href='mailto:x'>").canonical == ""


def test_language_is_declared_or_found():
    assert html("<html lang=de-AT><p>the words of this are not the ones that it is to be").lang == "de"
    assert html("<html lang=eng>x").lang == "en"
    assert html("<p>Texte", content_language="fr").lang == "fr"
    assert html("<p>This is the page that you have to read for the sake of it").lang == "en"
    assert html("<p>Это страница на русском языке, которую узнает любой: что было, то и есть").lang == "ru"


def test_a_declared_language_is_not_believed_against_the_letters():
    assert html("<html lang=en><p>" + "吾輩は猫である。名前はまだ無い。" * 5).lang == "ja"
    assert html("<html lang='{{lang}}'><p>Der Hund und die Katze sind nicht mit dem Auto auf das Feld").lang == "de"


PIECES = (
    "<a href=' '> </a> <p> <table> <td> <template> <svg> <base href= <title> &#xD800; <frameset> <h1> <!-- <script>"
    " <meta name=robots content= <select> \0 \x1b$B \xff é"
).split(" ")
MARKUP = st.lists(st.sampled_from(PIECES) | st.text(max_size=8)).map("".join)
LABELS = ["", "; charset=gbk", "; charset=utf-16", "; charset=x", "; charset=utf-7"]


def check(page):
    for text in strings(page):
        text.encode()
        assert "\0" not in text


@given(st.binary(max_size=400), st.sampled_from(LABELS))
@example(b"\xff\xfe\x00\xd8a\x00", "")
@settings(max_examples=300, deadline=None)
def test_f29_any_bytes_give_a_page_of_valid_text(body, label):
    check(html(body, content_type="text/html" + label))


@given(MARKUP, st.sampled_from(["utf-8", "utf-16", "latin-1", "gbk"]))
@settings(max_examples=300, deadline=None)
def test_f29_any_markup_gives_a_page_of_valid_text(markup, encoding):
    check(html(markup.encode(encoding, "replace")))


def test_author_and_date_are_what_the_head_says():
    page = html(
        "<meta name=author content=' A.  Keeper'><meta property=article:published_time content=2021-03-04T05:06Z>"
        "<meta name=DC.date content=1999>"
    )
    assert (page.author, page.date) == ("A. Keeper", "2021-03-04")
    assert html("<meta name=date content=yesterday>").date == ""


def test_scripts_and_styles_are_no_words_of_headings_anchors_and_titles():
    hidden = "<style>.a{}</style><script>x</script>"
    page = html(f"<h1>{hidden}Bees</h1><p>of <a href=b>{hidden}wax</a> {hidden}and honey")
    assert (page.title, page.headings, page.links[0].anchor) == ("Bees", ["Bees"], "wax")
    assert page.link_context(0) == "of wax and honey"


def test_the_title_is_not_that_of_a_picture_nor_an_empty_heading():
    icon = "<body><svg><title>menu</title></svg>"
    assert html(icon + "<title>Real</title>").title == "Real"
    assert html(icon + "<h1><img></h1><h1>Second</h1>").title == "Second"


def test_the_first_base_with_an_href_counts():
    assert urls(html("<base target=x><base href=/b/><base href=/c/><a href=x>x</a>")) == ["http://example.com/b/x"]


@pytest.mark.parametrize("rel", [" canonical ", "canonical nofollow", "shortlink CANONICAL"])
def test_a_rel_is_a_list_of_words(rel):
    assert html(f"<link rel='{rel}' href=/c>").canonical == "http://example.com/c"
    assert urls(html("<link rel='next nofollow' href=/n>")) == ["http://example.com/n"]


def test_canonical_and_refresh_may_be_headers():
    link = '<http://e.org/s>; rel=shortlink, </c>; title="x"; rel="canonical"'
    page = html("<base href=/b/><p>x", link=link, refresh="0;url=r")
    assert (page.canonical, urls(page)) == ("http://example.com/c", ["http://example.com/b/r"])
    assert (page.link_context(0), page.links[0].anchor) == ("", "")
    assert html("<link rel=canonical href=/d>", link=link).canonical == "http://example.com/d"
    assert html("<p>x", link="</style.css>; rel=preload").canonical == ""


@pytest.mark.parametrize(
    ("content", "goes_to"),
    [
        ("0;url=/it's", "/it's"),
        ("0; URL='/x' y", "/x"),
        ("0 ; /y", "/y"),
        ("1.5,url = /z", "/z"),
        ("text/html", None),
        ("5", None),
        ("5; ", None),
        ("5; url=", None),
    ],
)
def test_a_refresh_goes_where_a_browser_goes(content, goes_to):
    found = urls(html(f'<meta http-equiv=refresh content="{content}">'))
    assert found == ([f"http://example.com{goes_to}"] if goes_to else [])


def test_links_in_pictures_and_maps_have_targets_and_names():
    page = html(
        "<svg><a xlink:href=/s><text>one</text></a></svg><area href=/m alt=two><a href=/l aria-label=three></a>"
    )
    assert {link.target.url[-1]: link.anchor for link in page.links} == {"s": "one", "m": "two", "l": "three"}


@pytest.mark.parametrize(("code", "lang"), [("ger", "de"), ("FRE", "fr"), ("iw", "he"), ("und", "en"), ("mul", "en")])
def test_old_codes_of_languages_are_known_and_those_of_none_are_not_believed(code, lang):
    assert html(f"<html lang={code}><p>This is the page that you have to read for the sake of it").lang == lang


def test_a_word_or_two_tell_no_language():
    assert html("<p>Bees").lang == html("<p>1 2 3 4 5 6 7 8 9 10 11 12 13 14 Kurz").lang == ""
