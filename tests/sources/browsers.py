"""Bookmarks as browsers write them. A tree is a list of links (strings) and folders (name, tree)."""

import html
import json
import plistlib

import pyarrow as pa


def topics(tree, path=()):
    """What a reader should make of a tree: the links of each folder, once, in their order."""
    found = {}
    for entry in tree:
        if isinstance(entry, str):
            links = found.setdefault(" / ".join(path) or "loose", [])
            if entry not in links:
                links.append(entry)
        else:
            for name, links in topics(entry[1], (*path, entry[0])).items():
                known = found.setdefault(name, [])
                known += [link for link in links if link not in known]
    return found


# --- Netscape HTML ---------------------------------------------------------------------------------------------------

HEAD = """<!DOCTYPE NETSCAPE-Bookmark-file-1>
<!-- This is an automatically generated file.
     It will be read and overwritten.
     DO NOT EDIT! -->
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<TITLE>Bookmarks</TITLE>
<H1>Bookmarks</H1>
"""
ICON = "data:image/png;base64," + "iVBORw0KGgo" * 60


def items(tree, indent="    "):
    """The lines of a list, as all browsers write them."""
    lines = []
    for entry in tree:
        if isinstance(entry, str):
            href = html.escape(entry)
            lines.append(f'{indent}<DT><A HREF="{href}" ADD_DATE="1700000000" ICON="{ICON}">A &amp; b</A>')
        else:
            attributes = entry[2] if len(entry) > 2 else ""
            lines.append(f'{indent}<DT><H3 ADD_DATE="1700000000" {attributes}>{html.escape(entry[0])}</H3>')
            lines += [f"{indent}<DL><p>", *items(entry[1], indent + "    "), f"{indent}</DL><p>"]
    return lines


def netscape(tree):
    """Chrome, Edge, Firefox: one list around all."""
    return "\n".join([HEAD + "<DL><p>", *items(tree), "</DL><p>", ""]).encode()


def safari_html(tree):
    """Safari: no list around all, other capitals, folders FOLDED."""
    meta = '<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">'
    head = f"<!DOCTYPE NETSCAPE-Bookmark-file-1>\n\t<HTML>\n\t{meta}"
    body = "\n".join(items(tree, "\t")).replace("<H3 ", "<H3 FOLDED ")
    return f"{head}\n\t<Title>Bookmarks</Title>\n\t<H1>Bookmarks</H1>\n{body}\n\t</HTML>\n".encode()


# --- the browsers' own files -----------------------------------------------------------------------------------------


def chrome(tree):
    def nodes(tree):
        return [
            {"type": "url", "name": "a", "url": entry, "date_added": "13345678901234567"}
            if isinstance(entry, str)
            else {"type": "folder", "name": entry[0], "children": nodes(entry[1])}
            for entry in tree
        ]

    roots = {
        "bookmark_bar": {"type": "folder", "name": "Lesezeichenleiste", "children": nodes(tree)},
        "other": {"type": "folder", "name": "Weitere Lesezeichen", "children": []},
        "sync_transaction_version": "1",
        "synced": {"type": "folder", "name": "Mobil", "children": []},
    }
    return json.dumps({"checksum": "0" * 32, "roots": roots, "version": 1}).encode()


def firefox(tree, guid="menu________"):
    def nodes(tree):
        return [
            {"typeCode": 1, "type": "text/x-moz-place", "uri": entry, "title": "a", "tags": "x"}
            if isinstance(entry, str)
            else {"typeCode": 2, "type": "text/x-moz-place-container", "title": entry[0], "children": nodes(entry[1])}
            for entry in tree
        ]

    container = "text/x-moz-place-container"
    separator = {"typeCode": 3, "type": "text/x-moz-place-separator", "title": ""}
    tags = {
        "guid": "tags________",
        "type": container,
        "title": "tags",
        "children": nodes([("x", ["http://tag.test/"])]),
    }
    menu = {"guid": guid, "type": container, "title": "menu", "root": "bookmarksMenuFolder"}
    root = {"guid": "root________", "title": "", "type": container, "root": "placesRoot"}
    return json.dumps(root | {"children": [menu | {"children": [separator, *nodes(tree)]}, tags]}).encode()


def mozlz4(data):
    packed = pa.Codec("lz4_raw").compress(data, asbytes=True)
    return b"mozLz40\0" + len(data).to_bytes(4, "little") + packed


def safari(tree, form=plistlib.FMT_BINARY):
    def nodes(tree):
        return [
            {"WebBookmarkType": "WebBookmarkTypeLeaf", "URLString": entry, "URIDictionary": {"title": "a"}}
            if isinstance(entry, str)
            else {"WebBookmarkType": "WebBookmarkTypeList", "Title": entry[0], "Children": nodes(entry[1])}
            for entry in tree
        ]

    bar = {"WebBookmarkType": "WebBookmarkTypeList", "Title": "BookmarksBar", "Children": nodes(tree)}
    history = {"WebBookmarkType": "WebBookmarkTypeProxy", "Title": "History"}
    root = {"WebBookmarkType": "WebBookmarkTypeList", "Title": "", "Children": [history, bar]}
    return plistlib.dumps(root, fmt=form)
