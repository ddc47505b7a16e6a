"""The six verbs of OAI-PMH 2.0: arguments in, an answer out. What is wrong with a request is told in the answer."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import msgspec

from analecta.publish.oai import answers
from analecta.publish.oai.answers import DC_SCHEMA, DC_SPACE, SPEC, Fault, RepositoryIdentity
from analecta.publish.oai.tokens import LIFE, Clock, Token, first_moment, last_moment, opened, same_form, sealed
from analecta.store import oai_records
from analecta.store.oai_records import OaiRecord, RecordSpan
from analecta.store.sqlite import Connection

Asked = Mapping[str, str]
FORMATS = {"oai_dc": (DC_SCHEMA, DC_SPACE)}
_SHOWABLE = {  # what the schema lets stand in <request>; other values are left out there
    "identifier": re.compile(r"[\w.!~*'():;/?@&=+$,-]+", re.ASCII),
    "metadataPrefix": re.compile(r"[\w.!~*'()-]+", re.ASCII),
    "resumptionToken": re.compile(r"[\w.!~*'()-]+", re.ASCII),
}


class Repository:
    """Answers requests. It keeps nothing between them: each brings its own connection to the records."""

    def __init__(self, site: RepositoryIdentity, key: bytes, clock: Clock) -> None:
        self.site, self.key, self.clock = site, key, clock

    def answer(self, db: Connection, arguments: Sequence[tuple[str, str]]) -> bytes:
        """The answer to the arguments of a request, as they came; one moment of the records is seen."""
        date = self.clock.date()
        asked = checked(arguments)
        if isinstance(asked, Fault):
            return answers.envelope(self.site, date, {}, answers.error(asked))
        with oai_records.one_moment(db):
            answer, *_ = VERBS[asked["verb"]]
            content = answer(OaiRequest(self, db, date, asked))
        if isinstance(content, Fault):
            shown = {name: value for name, value in asked.items() if _showable(name, value)}
            return answers.envelope(self.site, date, shown, answers.error(content))
        return answers.envelope(self.site, date, asked, f"<{asked['verb']}>{content}</{asked['verb']}>")


class OaiRequest(msgspec.Struct, frozen=True):
    """A request whose arguments are well formed."""

    to: Repository
    db: Connection
    date: int
    asked: Asked


# --- arguments -------------------------------------------------------------------------------------------------------


def checked(arguments: Sequence[tuple[str, str]]) -> Asked | Fault:
    """The arguments by name, the verb first, where they are what the verb wants."""
    counts = Counter(name for name, _ in arguments)
    asked = dict(sorted(arguments, key=lambda pair: pair[0] != "verb"))
    verb = asked.get("verb", "")
    if counts["verb"] != 1 or verb not in VERBS:
        return Fault("badVerb", f"The verb must be one, and one of: {', '.join(VERBS)}.")
    _, must, may, alone = VERBS[verb]
    if twice := next((name for name, count in counts.items() if count > 1), None):
        return Fault("badArgument", f"{twice[:50]!r} is given more than once.")
    names = asked.keys() - {"verb"}
    if unknown := sorted(names - must - may - {alone}):
        return Fault("badArgument", f"{verb} has no argument {unknown[0][:50]!r}.")
    if alone in names:
        return asked if len(names) == 1 else Fault("badArgument", f"{alone} must be the only argument.")
    if missing := sorted(must - names):
        return Fault("badArgument", f"{verb} needs {missing[0]}.")
    return _dates_checked(asked)


def _dates_checked(asked: Asked) -> Asked | Fault:
    since, until = asked.get("from"), asked.get("until")
    for text in (since, until):
        if text is not None and first_moment(text) is None:
            return Fault("badArgument", "A date must read like 2024-05-01 or 2024-05-01T12:00:00Z.")
    if since is not None and until is not None:
        if not same_form(since, until):
            return Fault("badArgument", "from and until must both be days, or both have seconds.")
        if since > until:
            return Fault("badArgument", "from is later than until.")
    if not SPEC.fullmatch(asked.get("set", "any")):
        return Fault("badArgument", "No set can be named like that.")
    return asked


def _showable(name: str, value: str) -> bool:
    return name not in _SHOWABLE or bool(_SHOWABLE[name].fullmatch(value))


# --- verbs -----------------------------------------------------------------------------------------------------------

_NO_FORMAT = Fault("cannotDisseminateFormat", f"There is only: {', '.join(FORMATS)}.")
_NO_SETS = Fault("noSetHierarchy", "This library has no topics yet, and so no sets.")


def _identify(request: OaiRequest) -> str:
    return answers.identify(request.to.site, oai_records.sample_id(request.db))


def _formats(request: OaiRequest) -> str | Fault:
    if "identifier" in request.asked:
        record = _asked_for(request)
        if isinstance(record, Fault):
            return record
        if record.metadata is None:
            return Fault("noMetadataFormats", "The record is deleted: there is no metadata of it any more.")
    return "".join(
        f"<metadataFormat>{answers.element('metadataPrefix', prefix)}{answers.element('schema', schema)}"
        f"{answers.element('metadataNamespace', space)}</metadataFormat>"
        for prefix, (schema, space) in FORMATS.items()
    )


def _sets(request: OaiRequest) -> str | Fault:
    if "resumptionToken" in request.asked:
        return Fault("badResumptionToken", "The list of sets is given whole.")
    return answers.sets(found) if (found := oai_records.sets(request.db)) else _NO_SETS


def _record(request: OaiRequest) -> str | Fault:
    if request.asked["metadataPrefix"] not in FORMATS:
        return _NO_FORMAT
    found = _asked_for(request)
    return found if isinstance(found, Fault) else answers.whole(request.to.site, found)


def _asked_for(request: OaiRequest) -> OaiRecord | Fault:
    start, _, digits = request.asked["identifier"].rpartition(":")
    found = None
    if start == f"oai:{request.to.site.repository}" and re.fullmatch("[0-9a-f]{16}", digits):
        found = oai_records.record(request.db, int.from_bytes(bytes.fromhex(digits), signed=True))
    return found or Fault("idDoesNotExist", "There is no record with this identifier.")


def _list(request: OaiRequest) -> str | Fault:
    """A page of a list; what it goes by is in docs/oai.md, with the reasons."""
    token = _resumed(request) if "resumptionToken" in request.asked else _begun(request)
    if isinstance(token, Fault):
        return token
    span = RecordSpan(token.set, token.since, token.until, token.top)
    most = request.to.site.page_size
    found = oai_records.records(request.db, span, token.after, most + 1)
    if not found and not token.cursor:
        return Fault("noRecordsMatch", "No records are of this time and set.")
    # All that was left has changed, and is no longer of this list. A list must not be empty: its last record again.
    if not found and not (found := oai_records.before(request.db, span, token.after)):
        return Fault("badResumptionToken", "Nothing of this list is left: ask for it anew.")
    page, more = found[:most], len(found) > most
    show = answers.whole if token.verb == "ListRecords" else answers.header
    shown = "".join(show(request.to.site, record) for record in page)
    return shown + _continued(request, token, page, more)


def _begun(request: OaiRequest) -> Token | Fault:
    asked = request.asked
    if asked["metadataPrefix"] not in FORMATS:
        return _NO_FORMAT
    if "set" in asked and not oai_records.sets(request.db):
        return _NO_SETS
    since, until = first_moment(asked.get("from", "")), last_moment(asked.get("until", ""))
    span = RecordSpan(asked.get("set", ""), since, until)
    top, size = oai_records.last_number(request.db), oai_records.count(request.db, span)
    return Token(asked["verb"], asked["metadataPrefix"], span.set, since, until, 0, top, 0, size, 0)


def _resumed(request: OaiRequest) -> Token | Fault:
    token = opened(request.asked["resumptionToken"], request.to.key, request.date)
    if token is None or token.verb != request.asked["verb"] or token.prefix not in FORMATS:
        return Fault("badResumptionToken", "The token is not of this list, or has expired: ask for the list anew.")
    return token


def _continued(request: OaiRequest, token: Token, page: Sequence[OaiRecord], more: bool) -> str:
    """Where the list goes on. Its size is that of when it began, as far as that still holds."""
    given = token.cursor + len(page)
    if not more:
        return answers.resumption("", token.cursor, given, None) if token.cursor else ""
    size, expires = max(token.size, given + 1), request.date + LIFE
    onward = msgspec.structs.replace(token, after=page[-1].n, cursor=given, size=size, expires=expires)
    return answers.resumption(sealed(onward, request.to.key), token.cursor, size, expires)


# Each with the arguments that must be there, those that may be, and the one that stands alone.
VERBS: dict[str, tuple[Callable[[OaiRequest], str | Fault], set[str], set[str], str]] = {
    "Identify": (_identify, set(), set(), ""),
    "ListMetadataFormats": (_formats, set(), {"identifier"}, ""),
    "ListSets": (_sets, set(), set(), "resumptionToken"),
    "GetRecord": (_record, {"identifier", "metadataPrefix"}, set(), ""),
    "ListIdentifiers": (_list, {"metadataPrefix"}, {"from", "until", "set"}, "resumptionToken"),
    "ListRecords": (_list, {"metadataPrefix"}, {"from", "until", "set"}, "resumptionToken"),
}
