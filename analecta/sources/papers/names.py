"""Names of people at the beginning of a reference, in the ways that journals write them."""

import re

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
        first = way.match(text)
        if first and not _NO_NAME.search(first[0]):
            return _take_rest(text, first, others)
    return [], 0


def _take_rest(text: str, first: re.Match[str], ways: tuple[re.Pattern[str], ...]) -> tuple[list[str], int]:
    names, end = [_tidy(first[0])], first.end()
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
        found = _longest(text, link.end(), ways)
        if not found:
            break
        names.append(_tidy(found[0]))
        end = found.end()
        if last and not _AND.match(text, end) and not _ET_AL.match(text, end):
            break
    for what in (_COLLABORATION, _EDITORS):
        if found := what.match(text, end):
            end = found.end()
    return names, end


def _longest(text: str, start: int, ways: tuple[re.Pattern[str], ...]) -> re.Match[str] | None:
    for way in ways:
        if (found := way.match(text, start)) and not _NO_NAME.search(found[0]):
            return found
    return None


def _tidy(name: str) -> str:
    return re.sub(r"\s+", " ", name).strip(" ,;")


def is_name(text: str) -> bool:
    """Whether a text is one person's name and no more."""
    if not 2 <= len(text.split()) <= 6 or _NO_NAME.search(text):
        return False
    return any(way.fullmatch(text) for way in (_FIRST_LAST, _MIDDLE_NAMES, _WHOLE, _LAST_BARE))
