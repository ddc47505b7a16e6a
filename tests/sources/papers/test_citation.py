"""Single references in the styles of many journals."""
# ruff: noqa: E501 - a reference is a line

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analecta.sources.papers.citation import is_name, read_citation, take_names

# title | year | the reference
STYLES = """
The art of counting | 1999 | D. E. Knuth, “The art of counting,” IEEE Trans. Comput., vol. 3, no. 2, pp. 1–9, 1999.
Time, clocks, and order | 1978 | Leslie Lamport. 1978. Time, clocks, and order. Commun. ACM 21, 7 (1978), 558–565.
Prospect theory: An analysis | 1979 | Kahneman, D., & Tversky, A. (1979). Prospect theory: An analysis. Econometrica, 47(2), 263–291.
The anatomy of an engine | 1998 | Brin, S., Page, L.: The anatomy of an engine. Computer Networks 30(1-7), 107–117 (1998)
The anatomy of an engine | 1999 | S. Brin, L. Page, The anatomy of an engine, Computer Networks 31 (1999) 1623–1640.
Authoritative sources in hyperspace | 1999 | Jon M. Kleinberg. Authoritative sources in hyperspace. J. ACM, 46(5):604–632, 1999.
Molecular structure of acids; a structure | 1953 | Watson JD, Crick FH. Molecular structure of acids; a structure. Nature. 1953;171(4356):737-8.
Controlling the rate | 1995 | Benjamini Y, Hochberg Y (1995) Controlling the rate. J R Stat Soc B 57:289–300
Bootstrap methods: Another look | 1979 | EFRON, B. (1979). Bootstrap methods: Another look. Ann. Statist. 7 1–26.
| 1957 | J. Bardeen, L. N. Cooper, and J. R. Schrieffer, Phys. Rev. 108, 1175 (1957).
| 1998 | Riess, A. G., Filippenko, A. V., Challis, P., et al. 1998, AJ, 116, 1009
The Quantum Theory of Fields | 1995 | S. Weinberg, The Quantum Theory of Fields (Cambridge University Press, 1995), Vol. 1.
Adam: A method | 2014 | Diederik P. Kingma and Jimmy Ba. Adam: A method. arXiv preprint arXiv:1412.6980, 2014.
Guidelines for safe water | 2003 | World Health Organization. (2003). Guidelines for safe water. Geneva: WHO.
Thumbs up? Sentiment by machine | 2002 | B. Pang and L. Lee. Thumbs up? Sentiment by machine. In EMNLP, 2002.
Basic local search | 1990 | Altschul,S.F., Gish,W. and Lipman,D.J. (1990) Basic local search. J. Mol. Biol., 215, 403–410.
Observation of a particle | 2012 | G. Aad et al. (ATLAS Collaboration), Observation of a particle, Phys. Lett. B 716, 1 (2012).
Windows 95 in the lab | 2003 | Johnson, M. Windows 95 in the lab. Science 299, 1342-1346 (2003).
The Analytic Process | 1980 | Saaty T.,”The Analytic Process”, McGraw-Hill, New York, 1980
"""


@pytest.mark.parametrize("line", STYLES.strip().split("\n"))
def test_title_and_year_in_many_styles(line: str) -> None:
    title, year, text = line.split(" | ") if line[0] != "|" else ("", *line[2:].split(" | "))
    found = read_citation(text)
    assert (found.title, found.year) == (title, year)
    assert found.raw == text


def test_italics_end_a_title_where_no_sign_does() -> None:
    text = "Rumelhart D E and Hinton G E 1986 Learning by errors Nature 323 533"
    journal = text.index("Nature")
    assert read_citation(text, ((journal, journal + 6),)).title == "Learning by errors"
    assert read_citation("Peebles P, 1993 Cosmology (Princeton)", ((16, 25),)).title == "Cosmology"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("van Stokkum IHM, Larsen DS, van Grondelle R (2004).", ["van Stokkum IHM", "Larsen DS", "van Grondelle R"]),
        ("Gomes, Andrigo and Pettersson, Andreas, “X”", ["Gomes, Andrigo", "Pettersson, Andreas"]),
        ("Anselmo Peñas, Álvaro Rodrigo, Felisa Verdejo. 2007.", ["Anselmo Peñas", "Álvaro Rodrigo", "Felisa Verdejo"]),
        ("A. Savvides, C.-C. Han, and M. B. Strivastava, X", ["A. Savvides", "C.-C. Han", "M. B. Strivastava"]),
        ("The art of war. Penguin.", []),
    ],
)
def test_names_in_the_ways_that_they_are_written(text: str, names: list[str]) -> None:
    assert take_names(text)[0] == names


def test_lines_that_are_names_and_lines_that_are_not() -> None:
    assert all(map(is_name, ("Usama Ahmed", "Ivo H. M. van Stokkum", "J. R. R. Tolkien", "Max Müller-Lüdenscheidt")))
    assert not any(map(is_name, ("University of Bonn", "Bonn", "The Theory of Names", "12 March 2012")))


@given(st.text(max_size=300) | st.text(alphabet="Aa. ,“”()-19&'", max_size=600))
@settings(max_examples=150, deadline=None)
def test_any_text_is_read_in_bounded_time(text: str) -> None:
    found = read_citation(text, ((3, 20),))
    assert found.raw == text
    assert len(found.title) <= len(text) + 1
