"""One entry of a list of references -> authors, title, year, in the styles that journals have.

The order of evidence: quotation marks, then the names at the beginning, then the year after them, then where the
italics begin or end, and last the first full stop that ends a sentence.
"""

import re

from analecta.sources.papers.paper import Reference

# --- Names of people at the beginning of a reference, in the ways that journals write them ---------------------------


_UP = "A-ZÀ-ÖØ-ÞĀĂĄĆĈĊČĎĐĒĔĖĘĚĜĞĠĢĤĦĨĪĬĮİĴĶĹĻĽĿŁŃŅŇŌŎŐŒŔŖŘŚŜŞŠŢŤŦŨŪŬŮŰŲŴŶŸŹŻŽȘȚ"
_PARTICLE = (
    r"(?:(?:[Vv]an|[Vv]on|[Dd]e|[Dd]er|[Dd]en|[Dd]i|[Dd]a|[Dd]al|[Ll]a|[Ll]e|[Dd]el|[Dd]ella|dos|[Tt]er|[Tt]en|[Dd]u|"
    r"[Aa]l|[Ee]l|[Bb]en|[Bb]in|[Ii]bn|y|'t|St\.)\s+|d['’])"
)
_SMALL = r"(?:[^\W\d_]|['’`])"
# Smith, O'Hara, Urena-Lopez, McGrath
_ONE = rf"(?:[{_UP}]|[a-z]['’]?(?=[{_UP}])){_SMALL}*[^\W\d_](?:-{_SMALL}+)*(?!\d)"
_LAST = rf"{_PARTICLE}*{_ONE}(?:\s+(?!and\b|et\b){_ONE})?"
_LAST_ONLY = rf"{_PARTICLE}*{_ONE}"
_DOTTED = rf"(?:[{_UP}][a-z]?\.(?:\s?-\s?|\s)?)+(?:(?<=\.)[{_UP}](?![\w.]))?"  # J. R.-M., L.T
_BARE = rf"[{_UP}]{{1,4}}(?:[- ][{_UP}](?![\w.]))*(?:-?[a-z](?!\w))?(?!\w)"  # JRM, R K, K-i
_GIVEN = rf"{_ONE}(?:\s+{_ONE})?(?:\s+[{_UP}]\.?(?![\w]))*"
_JR = r"(?:,?\s+(?:Jr|Sr|II|III|IV)\b\.?)?"

_INITIAL = rf"[{_UP}][a-z]?\.(?:\s?-\s*|\s*)(?:(?<=\.)[{_UP}](?![\w.])\s*)?"  # as in _DOTTED, one at a time
_FIRST_LAST = re.compile(rf"(?:{_INITIAL})+{_LAST}{_JR}")
_LAST_FIRST = re.compile(rf"{_LAST},\s*(?:{_DOTTED}|{_BARE}){_JR}(?:\s+{_PARTICLE.replace('+', '*')}(?=[,.;:]))?")
_LAST_BARE = re.compile(rf"{_LAST},?\s+(?:{_DOTTED}|{_BARE})")
_MIDDLE_NAMES = re.compile(rf"{_ONE}\s+(?:[{_UP}]\.\s*)+{_LAST}{_JR}")
_MIDDLE = re.compile(rf"{_ONE}\s+[{_UP}]\.\s*{_LAST_ONLY}(?=\s*(?:[.,;:(]|and\b|&|et\b))")
_LAST_GIVEN = re.compile(rf"{_LAST_ONLY},\s+{_GIVEN}{_JR}(?=\s*(?:[.,;:(“\"”]|and\b|&|$))")
_WHOLE = re.compile(rf"{_ONE}(?:\s+(?:{_ONE}|[{_UP}]\.?))*?\s+{_LAST_ONLY}{_JR}(?=\s*(?:[.,;:(“\"”]|and\b|&|$))")

# The ways to write a name, and the ways that the other names of the same list may have then.
_WAYS: tuple[tuple[re.Pattern[str], tuple[re.Pattern[str], ...]], ...] = (
    (_FIRST_LAST, (_FIRST_LAST,)),
    (_LAST_FIRST, (_LAST_FIRST, _FIRST_LAST, _LAST_BARE)),
    (_MIDDLE, (_WHOLE, _FIRST_LAST)),
    (_LAST_BARE, (_LAST_BARE, _LAST_FIRST)),
    (_LAST_GIVEN, (_LAST_GIVEN, _LAST_FIRST, _WHOLE)),
    (_WHOLE, (_WHOLE, _FIRST_LAST)),
)
_AND = re.compile(r"\s*(?:[,;]\s*)?(?:and|&|und|et(?!\s+al)|y)\s+(?=\S)|\s*&\s*")
_NEXT = re.compile(r"\s*[,;]\s*(?:\.\s*)?")
_ET_AL = re.compile(r"[\s,;]*(?:and\s+)?(?:et\.?\s+al\b\.?|others\b\.?)[,.]?|[\s,;]*(?:…|\.\s?\.\s?\.)\s*(?=[A-Z])")
_COLLABORATION = re.compile(r"[\s,]*(?:\([^()]{2,60}\b[Cc]oll(?:aboration|\.)\)|\[[^\[\]]{2,60}\b[Cc]ollaboration\])")
_EDITORS = re.compile(r"[\s,]*\(?\b(?:[Ee]ds?|editors?)\b\.?\)?\.?")
# Words that are in titles and never in names.
_NO_NAME = re.compile(
    r"\b(?:of|for|in|on|with|from|to|by|an?|is|are|at|as|via|The|For|On|With|From|How|What|Why|An)\b|"
    r"(?i:\b(?:the|using|towards?|journal|proceedings|"
    r"conference|transactions|university|press|theory|analysis|systems?|methods?|introduction|networks?|survey|handbook|"
    r"phys|rev|lett|math|astrophys|quantum|nature|science|springer|wiley|elsevier|report|thesis|arxiv|http|"
    r"department|organi[sz]ation|institute|agency|council|committee|association|commission|consortium|foundation)\b)"
)


def take_names(text: str) -> tuple[list[str], int]:
    """The names that a reference begins with, and where they end (0 if there are none)."""
    for way, others in _WAYS:
        if first := _name_at(text, 0, (way,)):
            return _take_rest(text, first, others)
    return [], 0


def _take_rest(text: str, first: re.Match[str], ways: tuple[re.Pattern[str], ...]) -> tuple[list[str], int]:
    names, end = [_tidy_name(first[0])], first.end()
    while True:
        if more := _ET_AL.match(text, end):
            end = more.end()
            if "al" in more[0] or "others" in more[0]:
                break
        link = _AND.match(text, end)
        last = link is not None  # after "and" comes one name more, and no other
        link = link or _NEXT.match(text, end)
        if not link:
            break
        found = _name_at(text, link.end(), ways)
        if not found:
            break
        names.append(_tidy_name(found[0]))
        end = found.end()
        if last and not _AND.match(text, end) and not _ET_AL.match(text, end):
            break
    for what in (_COLLABORATION, _EDITORS):
        if found := what.match(text, end):
            end = found.end()
    return names, end


def _name_at(text: str, start: int, ways: tuple[re.Pattern[str], ...]) -> re.Match[str] | None:
    """The name that begins there, by the first of the ways in which one can be read."""
    matches = (way.match(text, start) for way in ways)
    return next((found for found in matches if found and not _NO_NAME.search(found[0])), None)


def _tidy_name(name: str) -> str:
    return re.sub(r"\s+", " ", name).strip(" ,;")


def is_name(text: str) -> bool:
    """Whether a text is one person's name and no more."""
    if not 2 <= len(text.split()) <= 6 or _NO_NAME.search(text):
        return False
    return any(way.fullmatch(text) for way in (_FIRST_LAST, _MIDDLE_NAMES, _WHOLE, _LAST_BARE))


# --- One entry of a list of references -> authors, title, year, in the styles that journals have ---------------------


Italics = tuple[tuple[int, int], ...]  # where they run (from, to) in a text
_LONGEST = 1500  # letters of an entry that are looked at: what is longer is no single reference
YEAR = r"(?:1[89]|20)\d\d"
_YEAR = re.compile(rf"(?<![\d/.:-])({YEAR})[a-z]?(?![\d/]|\.\d|-\d\d\d)")
_YEAR_IN_BRACKETS = re.compile(rf"[(\[]\s*(?:[A-Z][a-z]+\.?,?\s+)?({YEAR})[a-z]?\b[^)\]]{{0,20}}[)\]]")
_LEADING_YEAR = re.compile(
    rf"[\s,.:;]*(?:\(\s*({YEAR})[a-z]?\s*(?:,[^)]{{1,20}})?\)|\[\s*({YEAR})[a-z]?\s*\]|({YEAR})[a-z]?(?=[\s.,:;]))[\s.,:;]*"
)
_UNDATED = re.compile(r"[\s,.:;]*\((?:n\.\s?d\.|in press|forthcoming|to appear|submitted)\)[\s.,:;]*", re.IGNORECASE)
_QUOTED = re.compile(r"(?:[“”„\"«]|``|‘‘)\s*(.{3,400}?)\s*(?:[“”\"»]|''|’’)(?!\w)")
_SINGLE_QUOTED = re.compile(r"(?<![\w])[‘`]\s*(.{12,400}?)[,.?!]?\s*[’'](?=[\s,.;]|$)")
_IN = re.compile(r"[\s,.:;]*+\b(?:[Ii]n|IN)\s*+:?\s*+$")
_LABEL = re.compile(r"\s*(?:\[[^\]]{1,30}\]|\(\d{1,3}\)|\d{1,3}[.)]|\d{1,3}(?=\s+[A-Z“\"])|•)\s*")
# Full stops after these do not end a sentence.
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[.-])(?:[A-Z]|vs|etc|e\.g|i\.e|cf|al|ed|eds|vol|no|pp|vol|Vol|No|Dr|St|Jr|Sr|Mr|Mrs|approx|resp|Inc|Ltd|"
    r"Univ|Proc|Conf|Int|Symp|Trans|Lett|Rev|Phys|Math|Sci|Soc|Am|Eng|Comput|Mach|Learn|Assoc|Natl|Acad|Ann|Adv|Appl)$"
)
_STOP = re.compile(r"[.?!]['’”\"]?(?=\s+\S)|\.(?=\s*$)")
# ", Journal of X", ", in: Y", ", IEEE Trans.", ", Phys. Rev. 12 (1990)", ", vol. 3", ", Springer"
_VENUE_WORDS = (
    r"[Ii]n:?\s|[Jj]ournal\b|J\.\s|IEEE\b|ACM\b|Proc|Trans|Annals\b|Ann\.\s|Lecture\sNotes|LNCS|Technical\s[Rr]eport|Tech\.|"
    r"Ph\.?\s?D|[Mm]aster|Springer|Elsevier|Wiley|Academic\sPress|Cambridge\sUniv|Oxford\sUniv|MIT\sPress|Addison|"
    r"McGraw|Prentice|Morgan\sKaufmann|CRC\sPress|University\sof|[Vv]ol(?:ume|\.)|pp?\.\s?\d|arXiv|http|doi|DOI|CoRR|"
    r"[Pp]reprint|[Ss]ubmitted|[Tt]o\sappear|Nature\b|Science\b|Bull\.|Commun\.|Comput\.|Phys\.|Math\.|Int\.\s|Inf\.|"
    r"[A-Z][\w&-]*(?:[ .]+(?:[A-Z&][\w&-]*|of|the|and|in|on|for))*\.?,?\s+(?:[A-Z]\s?)?\d+\s*(?:[(,:]|$)"
)
_VENUE = re.compile(rf"[,.;:]\s+(?={_VENUE_WORDS})")
_VENUE_FIRST = re.compile(_VENUE_WORDS)
_PUBLISHED = re.compile(rf"\s*\([^()]*(?:{YEAR}|Press|Wiley|Springer|Univ|Publ|[Ee]d\.|[Ee]dition)[^()]*\)\s*[.,]?")
_JOURNAL = re.compile(  # abbreviations and a volume: a journal, not a title
    r"(?:[A-Z][A-Za-z]*+\.?+\s?+|[&,]\s?+|(?:of|the|and|in|de|la)\s)++[,.:]?\s?(?:vol\.?\s?)?[A-Z]?\d[\w-]*(?:\.(?=\s|$))?[\s,:;(]+(?:\(?[A-Z]?\d|[Nn]o\.|pp?\.|art)"
)
_ABBREVIATED = re.compile(r"(?:[A-Z][a-z]*\.\s?){2,8}(?:[A-Z]\s)?(?:submitted|in\spress|to\sappear|arXiv|[(\[]|$)")
_VOLUME = re.compile(r"[\s,]*(?:[A-Z]\s)?(?:vol\.?\s*)?\d+\s*[\s,:(]\s*[A-Z]?\d")
_ORGANISATION = re.compile(
    r"\b(?:Department|Organi[sz]ation|Institute|Agency|Council|Committee|Association|Commission)\b"
)
_NO_TITLE = re.compile(
    r"[\[(]?(?:arXiv|[a-z-]{4,12}(?:\.[A-Z]{2})?/\d{4}|https?:|www\.|doi|submitted|in\spress|to\sappear|"
    r"\[?online\b|available|preprint|private\scomm|unpublished|ibid|[A-Z]{3,6}\d\d\s?\(|pp?\.\s?\d|vol)",
    re.IGNORECASE,
)
_EDGE = " \t,;:.“”\"'`«»‘’*"


def read_citation(entry: str, italics: Italics = ()) -> Reference:
    """What an entry, as it is printed without its label, says."""
    text = entry[:_LONGEST]
    quoted = _quoted_title(text)
    names, end = take_names(text)
    if quoted:
        title, start = quoted
        if not names:
            names = _whole_as_name(text[:start])
        return Reference(title, tuple(names), _year_of(text), entry)
    end, year, dated = _after_year(text, end)
    if not names and dated:
        names = _whole_as_name(text[: dated[0]])
    title = _title_in(text, end, italics)
    return Reference(title, tuple(names), year or _year_of(text), entry)


def without_label(text: str) -> str:
    """An entry's text without its number or key."""
    return text[found.end() :] if (found := _LABEL.match(text)) else text


def _quoted_title(text: str) -> tuple[str, int] | None:
    for pattern in (_QUOTED, _SINGLE_QUOTED):
        for found in pattern.finditer(text):
            title = _tidy(found[1])
            before = text[: found.start()]
            alone = " " not in title and take_names(before)[1] < len(before.rstrip(" ,.:;"))
            if _IN.search(before) or alone or len(title) < 3 or len(before) > 350:
                continue  # a single word is a title only right after the names
            if _sentence_before(before):
                return None  # the title came before; this is the name of a series
            return title, found.start()
    return None


def _sentence_before(before: str) -> bool:
    """Whether names, a year and a whole sentence stand before a quotation."""
    _, end = take_names(before)
    end, _, _ = _after_year(before, end)
    rest = before[end:].strip(_EDGE)
    return end > 0 and rest.count(" ") > 3 and bool(_STOP.search(rest + ". X"))


def _after_year(text: str, end: int) -> tuple[int, str, tuple[int, int] | None]:
    """Where the rest begins after names and, if it stands there, a year."""
    if found := _LEADING_YEAR.match(text, end) if end else None:
        return found.end(), found[1] or found[2] or found[3], found.span()
    if end and (undated := _UNDATED.match(text, end)):
        return undated.end(), "", undated.span()
    if not end:  # an organisation, or names in a way of their own, before a year
        found = re.compile(rf"(?:\(\s*({YEAR})[a-z]?\s*\)|(?<=\. )({YEAR})[a-z]?(?=\.))[.,:]?\s+").search(text, 2, 160)
        if found and len(text) - found.end() > 20:
            return found.end(), found[1] or found[2], found.span()
    return end, "", None


def _title_in(text: str, start: int, italics: Italics) -> str:
    while start < len(text) and text[start] in " ,.:;":
        start += 1
    rest = text[start:]
    slanted = [(a - start, b - start) for a, b in italics if b - start > 3]
    if not rest or _NO_TITLE.match(rest):
        return ""
    if slanted and slanted[0][0] < 3 and not _journal(rest):
        return _book(rest, slanted[0][1])
    if _journal(rest):
        return ""
    end = _sentence(rest)
    if start == 0 and _ORGANISATION.search(rest, 0, end) and end < min(80, len(rest) - 20):
        return _title_in(text, end + 1, italics)
    for a, b in slanted:
        if 8 < a < end and (rest[:a].rstrip()[-1] in ",.;:?!" or _IN.search(rest[:a]) or _VOLUME.match(rest, b)):
            end = a
            break
    title = rest[:end]
    if (venue := _VENUE.search(title, 12)) and (end > 250 or venue.start() > 12):
        title = title[: venue.start()]
    if published := _PUBLISHED.search(title):
        title = title[: published.start()]
    title = _tidy(_IN.sub("", title))
    return "" if _NO_TITLE.match(title) or sum(map(str.isalpha, title)) < 4 else title


def _book(rest: str, end: int) -> str:
    """A title in italics: a book, or a paper in a journal that sets titles so."""
    title = rest[:end]
    tail = rest[end:].lstrip()
    if re.match(r"[,.]?\s*(?:vol\.?\s*)?\d+\s*[,:(]", tail) and title.rstrip().endswith((".", ",")) and len(title) < 40:
        return ""  # Phys. Rev., 12
    return _tidy(title)


def _journal(text: str) -> bool:
    if _ABBREVIATED.match(text):
        return True
    found = _JOURNAL.match(text)
    return found is not None and found[0].count(" ") < 10 and ("." in found[0] or found[0].count(" ") < 6)


def _sentence(text: str) -> int:
    """Where the first sentence ends."""
    for stop in _STOP.finditer(text):
        before = text[: stop.start()]
        if stop.start() < 4 or (stop[0][0] == "." and _ABBREVIATION.search(before)):
            continue
        after = text[stop.end() :].lstrip()
        if stop[0][0] == "." and after[:1].islower() and not re.match(r"(?:in|arXiv|http|doi|vol|pp)\b", after):
            continue
        if stop[0][0] != "." and not _VENUE_FIRST.match(after) and _STOP.search(after[:-1]):
            continue  # Is it? An answer. In ...
        return stop.start() + (stop[0][0] != ".")
    return len(text)


def _whole_as_name(text: str) -> list[str]:
    name = _tidy(re.sub(r"[\s,]*\(?\b[Ee]ds?\.?\)?", "", text))
    return [name] if 2 < len(name) < 160 else []


def _year_of(text: str) -> str:
    """The year of an entry: the last one in brackets, else the last one that is no page and no number."""
    found = _YEAR_IN_BRACKETS.findall(text) or _YEAR.findall(re.sub(r"https?://\S+|arXiv:\S+", "", text))
    return found[-1] if found else ""


def _tidy(text: str) -> str:
    text = re.sub(r"\s+", " ", text).strip(_EDGE)
    return text + ")" if text.count("(") > text.count(")") and not text.endswith("(") else text
