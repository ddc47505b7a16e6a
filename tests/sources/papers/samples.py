"""Papers that the tests make up."""

from tests.sources.papers.pdf import BOLD, ROMAN, Text, hanging, make_pdf, paragraph

FILLER = (
    "Crawlers follow links and the links lead to pages which hold more links so that work never ends for them here. "
    * 9
)
NUMBERED = [
    '[1] A. Bee and C. Dee, "Honey in the wild," Journal of Hives, vol. 3, pp. 1-9, 1999.',
    '[2] E. Eff, "Focused harvests of nectar from unfamiliar meadows," in Proc. Bees, 2003.',
    '[3] G. Aitch, J. Kay, and L. Emm, "Waxes," Tech. Rep. 12, 2005.',
    '[4] N. Oh, "The dance as a map of the meadow and of its flowers," Bee World, 2010.',
]
BY_AUTHOR = [
    "Abel, K. (1999). Honey in the wild and in the garden. Journal of Hives, 3(1), 1-9.",
    "Baker, L., & Cook, M. (2003). Focused harvests of nectar from unfamiliar meadows. Bee World, 12, 33-40.",
    "Dyer, N. (2005). Waxes and their uses. New York: Hive Press.",
    "van Eyck, O. (2010). The dance as a map of the meadow. Bee World, 19, 1-20.",
]
TITLES = ["Honey in the wild", "Focused harvests of nectar from unfamiliar meadows", "Waxes"]


def two_columns(references: list[str] = NUMBERED, heading: str = "REFERENCES") -> bytes:
    """A title over two columns, two blocks of authors, run-in abstract, references at the end of the second page."""
    first: list[Text] = [
        (120, 740, 18, BOLD, "Where Honey Comes From: Notes of a"),
        (200, 718, 18, BOLD, "Wandering Beekeeper"),
        (110, 690, 11, ROMAN, "Anna Bee"),
        (80, 678, 10, ROMAN, "University of Meadows, Germany"),
        (90, 666, 10, ROMAN, "anna@meadows.example"),
        (400, 690, 11, ROMAN, "Carl M. Dee"),
        (370, 678, 10, ROMAN, "Institute of Hives, France"),
        *paragraph(
            50, 640, "Abstract\u2014We tell where honey comes from and why bees are a kind of crawler.", 9, font=BOLD
        ),
        *paragraph(50, 605, "Index Terms\u2014honey, bees, focused crawling.", 9),
        (110, 580, 10, ROMAN, "I. INTRODUCTION"),
        *paragraph(50, 560, FILLER),
        *paragraph(320, 640, "Second column begins here. " + FILLER),
        (120, 40, 9, ROMAN, "Proceedings of the Hive 2012"),
    ]
    last: list[Text] = [
        *paragraph(50, 740, "Left of the second page. " + FILLER),
        *paragraph(320, 740, "Right of the second page. " + FILLER[:300]),
        (390, 600, 10, BOLD, heading),
        *hanging(320, 580, references),
        (120, 40, 9, ROMAN, "Proceedings of the Hive 2012"),
    ]
    return make_pdf(first, last)


def one_column(references: list[str] = BY_AUTHOR, heading: str = "References", after: str = "") -> bytes:
    """A journal's page: its name above in small letters, a footnote, a heading of its own for the abstract."""
    first: list[Text] = [
        (60, 760, 9, ROMAN, "Journal of Imaginary Bees, Vol. 3 (2012) 1-20"),
        (130, 720, 16, BOLD, "Type 2 Hives and Their Keepers"),
        (200, 695, 11, ROMAN, "Zoe Abel"),
        (246, 699, 7, ROMAN, "1"),
        (252, 695, 11, ROMAN, "and Max Cook"),
        (325, 699, 7, ROMAN, "2"),
        (170, 678, 7, ROMAN, "1"),
        (176, 675, 10, ROMAN, "Department of Bees, Hill College, USA"),
        (170, 663, 7, ROMAN, "2"),
        (176, 660, 10, ROMAN, "Wax Laboratory, Combs 7, Norway"),
        (280, 630, 10, BOLD, "Summary"),
        *paragraph(90, 612, "Hives of the second type are rare and their keep-ers are happier than oth-ers.", 9, 90),
        (60, 570, 12, BOLD, "1 Introduction"),
        *paragraph(60, 550, FILLER, width=105),
        (60, 400, 12, BOLD, "2 Methods of keeping"),
        *paragraph(60, 380, FILLER, width=105),
        (60, 64, 6, ROMAN, "1"),
        (64, 60, 8, ROMAN, "A note that nobody reads."),
    ]
    last: list[Text] = [
        (60, 760, 9, ROMAN, "Abel and Cook"),
        (60, 720, 12, BOLD, heading),
        *hanging(60, 700, references, width=95),
    ]
    if after:
        last += [(60, 400, 12, BOLD, after), *paragraph(60, 380, FILLER, width=105)]
    return make_pdf(first, last)
