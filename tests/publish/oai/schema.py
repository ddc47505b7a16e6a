"""The rules of the protocol's schema, written down: which elements stand in which, in what order, and what they hold.

From the text of OAI-PMH 2.0 (sections 2 to 4), as regular expressions over the names of children and over texts.
"""

import re
from xml.etree.ElementTree import Element

_OAI = "http://www.openarchives.org/OAI/2.0/"
_DATE = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
_SPEC = r"[A-Za-z0-9\-_.!~*'()]+(:[A-Za-z0-9\-_.!~*'()]+)*"
_DC = (
    "title creator subject description publisher contributor date type format identifier source language relation "
    "coverage rights"
)
_VERBS = "Identify|ListMetadataFormats|ListSets|GetRecord|ListIdentifiers|ListRecords"
_CODES = (
    "badArgument|badResumptionToken|badVerb|cannotDisseminateFormat|idDoesNotExist|noMetadataFormats|noRecordsMatch|"
    "noSetHierarchy"
)

CHILDREN = {
    "OAI-PMH": rf"responseDate request ((error )+|({_VERBS}) )",
    "Identify": "repositoryName baseURL protocolVersion (adminEmail )+earliestDatestamp deletedRecord granularity "
    "(compression )*(description )*",
    "description": "oai-identifier ",
    "oai-identifier": "scheme repositoryIdentifier delimiter sampleIdentifier ",
    "ListMetadataFormats": "(metadataFormat )+",
    "metadataFormat": "metadataPrefix schema metadataNamespace ",
    "ListSets": "(set )+(resumptionToken )?",
    "set": "setSpec setName ",
    "GetRecord": "record ",
    "ListRecords": "(record )+(resumptionToken )?",
    "ListIdentifiers": "(header )+(resumptionToken )?",
    "record": "header (metadata )?",
    "header": "identifier datestamp (setSpec )*",
    "metadata": "[a-z]+ ",
    "dc": f"(({'|'.join(_DC.split())}) )*",
}
TEXTS = {
    "responseDate": _DATE,
    "request": r"https?://\S+",
    "datestamp": _DATE,
    "earliestDatestamp": _DATE,
    "setSpec": _SPEC,
    "adminEmail": r"\S+@(\S+\.)+\S+",
    "protocolVersion": r"2\.0",
    "deletedRecord": "no|persistent|transient",
    "granularity": "YYYY-MM-DD(Thh:mm:ssZ)?",
    "repositoryIdentifier": r"[a-zA-Z][a-zA-Z0-9\-]*(\.[a-zA-Z][a-zA-Z0-9\-]*)+",
    "sampleIdentifier": r"oai:[a-zA-Z][a-zA-Z0-9\-.]*:[\w\-.!~*'();/?:@&=+$,%]+",
}
ATTRIBUTES = {
    "request": {
        "verb": _VERBS,
        "identifier": r"[\w\-.!~*'();/?:@&=+$,%#]+",
        "metadataPrefix": r"[A-Za-z0-9\-_.!~*'()]+",
        "from": rf"{_DATE}|\d{{4}}-\d\d-\d\d",
        "until": rf"{_DATE}|\d{{4}}-\d\d-\d\d",
        "set": _SPEC,
        "resumptionToken": r"[^\n\t]*",
    },
    "error": {"code": _CODES},
    "header": {"status": "deleted"},
    "resumptionToken": {"expirationDate": _DATE, "completeListSize": r"[1-9]\d*", "cursor": r"\d+"},
}


def broken(root: Element) -> list[str]:
    """What in an answer is against the rules."""
    found = [] if root.tag == f"{{{_OAI}}}OAI-PMH" else [f"the root is {root.tag}"]
    for element in root.iter():
        found += _broken(element)
    if (error := root.find(f"{{{_OAI}}}error")) is not None and error.get("code") in ("badVerb", "badArgument"):
        found += ["request has attributes"] if root.find(f"{{{_OAI}}}request").attrib else []
    return found


def _broken(element: Element) -> list[str]:
    name = _name(element)
    children = "".join(f"{_name(child)} " for child in element)
    allowed = {key for key in element.attrib if not key.startswith("{")}
    found = [] if re.fullmatch(CHILDREN.get(name, ""), children) else [f"{name} holds {children}"]
    if name in TEXTS and not re.fullmatch(TEXTS[name], element.text or ""):
        found.append(f"{name} says {element.text}")
    for key in allowed:
        pattern = ATTRIBUTES.get(name, {}).get(key)
        if pattern is None or not re.fullmatch(pattern, element.attrib[key]):
            found.append(f"{name} {key}={element.attrib[key]}")
    if name == "record" and (element[0].get("status") == "deleted") == (len(element) > 1):
        found.append("a record is deleted or has metadata")
    return found


def _name(element: Element) -> str:
    return element.tag.rpartition("}")[2]
