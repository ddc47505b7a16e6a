"""Small documents of every kind, written by hand."""

import gzip
import io
import struct
import tarfile
import zipfile

from analecta.parse.documents import READERS, read
from analecta.parse.documents.document import Document
from analecta.parse.sniff import DOC, DOCX, EPUB, GZIP, ODT, PDF, PPT, PPTX, RTF, TAR, XLSX, ZIP

WORDS = "Bees fly far to find the flowers that they like best of all."
URL = "http://bees.example/hive"
CORE = (
    b"<cp:coreProperties xmlns:cp='c' xmlns:dc='d' xmlns:dcterms='t'><dc:title>On Bees</dc:title>"
    b"<dc:creator>A. Keeper</dc:creator><dc:language>en-GB</dc:language>"
    b"<dcterms:modified>2021-03-04T05:06:07Z</dcterms:modified></cp:coreProperties>"
)
RELATION = "<Relationship Id='%s' Type='http://x/%s' Target='%s' TargetMode='%s'/>"


def understood(mime: str, body: bytes) -> Document:
    return read(READERS[mime], body)


def zipped(members: dict[str, bytes | str], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return file.getvalue()


def relations(*rows: tuple[str, str, str, str]) -> str:
    return "<Relationships>" + "".join(RELATION % row for row in rows) + "</Relationships>"


def docx(xml: str | None = None, **more: bytes | str) -> bytes:
    body = xml or (
        "<w:document xmlns:w='w' xmlns:r='r'><w:body>"
        "<w:p><w:pPr><w:pStyle w:val='berschrift1'/></w:pPr><w:r><w:t>The hive</w:t></w:r></w:p>"
        f"<w:p><w:r><w:t>{WORDS} See </w:t></w:r><w:hyperlink r:id='r1'><w:r><w:t>the hive</w:t></w:r></w:hyperlink>"
        "<w:r><w:t xml:space='preserve'> for more.</w:t><w:delText>gone</w:delText></w:r></w:p></w:body></w:document>"
    )
    styles = "<w:styles xmlns:w='w'><w:style w:styleId='berschrift1'><w:name w:val='heading 1'/></w:style></w:styles>"
    links = relations(("r1", "hyperlink", URL, "External"), ("r2", "styles", "styles.xml", ""))
    parts = {
        "[Content_Types].xml": "<Types/>",
        "word/document.xml": body,
        "word/styles.xml": styles,
        "word/_rels/document.xml.rels": links,
        "docProps/core.xml": CORE,
    }
    return zipped(parts | more)


def pptx() -> bytes:
    slide = (
        "<p:sld xmlns:p='p' xmlns:a='a' xmlns:r='r'><p:sp><p:nvPr><p:ph type='title'/></p:nvPr><a:p><a:r><a:t>Slide %d"
        " of bees</a:t></a:r></a:p></p:sp><p:sp><a:p><a:r><a:rPr><a:hlinkClick r:id='r1'/></a:rPr><a:t>the hive</a:t>"
        f"</a:r><a:r><a:t> and {WORDS}</a:t></a:r></a:p></p:sp></p:sld>"
    )
    order = "<p:show xmlns:p='p' xmlns:r='r'><p:sldId id='256' r:id='b'/><p:sldId id='257' r:id='a'/></p:show>"
    names = relations(("a", "slide", "slides/slide1.xml", ""), ("b", "slide", "/ppt/slides/slide2.xml", ""))
    return zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "ppt/presentation.xml": order,
            "ppt/_rels/presentation.xml.rels": names,
            "ppt/slides/slide1.xml": slide % 1,
            "ppt/slides/slide2.xml": slide % 2,
            "ppt/slides/_rels/slide1.xml.rels": relations(("r1", "hyperlink", URL, "External")),
            "docProps/core.xml": CORE,
        }
    )


def xlsx() -> bytes:
    sheets = "<workbook><sheets><sheet name='Hives' sheetId='1'/></sheets></workbook>"
    strings = f"<sst><si><t>{WORDS}</t></si><si><r><t>two </t></r><r><t>parts</t></r></si></sst>"
    return zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "xl/workbook.xml": sheets,
            "xl/_rels/workbook.xml.rels": relations(
                ("a", "sharedStrings", "sharedStrings.xml", ""), ("b", "worksheet", "worksheets/sheet1.xml", "")
            ),
            "xl/worksheets/_rels/sheet1.xml.rels": relations(("r", "hyperlink", URL, "External")),
            "xl/sharedStrings.xml": strings,
            "docProps/core.xml": CORE,
        }
    )


def odt(content: str | None = None) -> bytes:
    text = content or (
        "<office:document-content xmlns:office='o' xmlns:text='t' xmlns:xlink='x'>\n<text:h>The hive</text:h>"
        f"<text:p>{WORDS} See <text:a xlink:href='{URL}'>the<text:s/>hive</text:a> for more.</text:p>"
        "</office:document-content>"
    )
    meta = (
        "<office:meta xmlns:office='o' xmlns:dc='d' xmlns:meta='m'><dc:title>On Bees</dc:title>"
        "<meta:initial-creator>A. Keeper</meta:initial-creator><dc:language>en-GB</dc:language>"
        "<dc:date>2021-03-04T05:06:07</dc:date></office:meta>"
    )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mimetype", ODT)
        archive.writestr("content.xml", text, zipfile.ZIP_DEFLATED)
        archive.writestr("meta.xml", meta, zipfile.ZIP_DEFLATED)
    return file.getvalue()


def epub() -> bytes:
    container = "<container><rootfiles><rootfile full-path='OPS/book.opf'/></rootfiles></container>"
    book = (
        "<package xmlns:dc='d'><metadata><dc:title>On Bees</dc:title><dc:creator>A. Keeper</dc:creator>"
        "<dc:language>en-GB</dc:language><dc:date>2021-03-04</dc:date></metadata><manifest>"
        "<item id='b' href='two%20.xhtml' media-type='application/xhtml+xml'/>"
        "<item id='a' href='one.xhtml' media-type='application/xhtml+xml'/></manifest>"
        "<spine><itemref idref='a'/><itemref idref='b'/></spine></package>"
    )
    one = (
        '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "x.dtd"><html><title>x</title><body><h1>The hive</h1>'
        f"<p>{WORDS} See <a href='{URL}'>the hive</a> for more, or <a href='two%20.xhtml'>go on</a>.</p></body></html>"
    )
    return zipped(
        {
            "mimetype": EPUB,
            "META-INF/container.xml": container,
            "OPS/book.opf": book,
            "OPS/one.xhtml": one,
            "OPS/two .xhtml": "<html><body><p>The second chapter.</p></body></html>",
        },
        zipfile.ZIP_STORED,
    )


def rtf() -> bytes:
    return (
        rb"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Times;}}{\info{\title On Bees}{\author A. Keeper}"
        rb"{\revtim\yr2021\mo3\dy4\hr5}}{\*\generator none;}\uc1 The hive of the K\'f6nigin \u8364?\par "
        + WORDS.encode()
        + rb" See {\field{\*\fldinst{HYPERLINK "
        + b'"%s"' % URL.encode()
        + rb"}}{\fldrslt{\ul the hive}}} for more.{\pict\bin4 }{}{}\par}"
    )


def pdf(
    *pages: str, title: str = "On Bees", more: str = "", trailer: str = "", extra: dict[int, str] | None = None
) -> bytes:
    """A PDF with a page for each text, in Helvetica, and a link over the first line of each page."""
    pages = pages or (f"(See the hive) Tj T* ({WORDS}) Tj",)
    kids = " ".join(f"{10 + 2 * i} 0 R" for i in range(len(pages)))
    objects = {
        **(extra or {}),
        1: f"<</Type/Catalog/Pages 2 0 R/Lang(en-GB) {more}>>",
        2: f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>",
        3: "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
        4: f"<</Title({title})/Author(A. Keeper)/CreationDate(D:20210304050607Z)>>",
        5: f"<</Type/Annot/Subtype/Link/Rect[60 698 300 712]/A<</S/URI/URI({URL})>>>>",
    }
    for i, text in enumerate(pages):
        stream = f"BT /F 12 Tf 72 700 Td 14 TL {text} ET"
        objects[10 + 2 * i] = (
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F 3 0 R>>>>"
            f"/Annots[5 0 R]/Contents {11 + 2 * i} 0 R>>"
        )
        objects[11 + 2 * i] = f"<</Length {len(stream)}>>stream\n{stream}\nendstream"
    return written(objects, f"/Info 4 0 R{trailer}")


def written(objects: dict[int, str], trailer: str = "") -> bytes:
    out, places = bytearray(b"%PDF-1.4\n"), {}
    for number, text in objects.items():
        places[number] = len(out)
        out += f"{number} 0 obj\n{text}\nendobj\n".encode("latin-1")
    start, size = len(out), max(objects) + 1
    rows = "".join(f"{places[n]:010} 00000 n \n" if n in places else f"{0:010} 65535 f \n" for n in range(size))
    out += f"xref\n0 {size}\n{rows}trailer\n<</Size {size}/Root 1 0 R{trailer}>>\nstartxref\n{start}\n%%EOF\n".encode()
    return bytes(out)


def ole(streams: dict[str, bytes]) -> bytes:
    """A compound file with large sectors only: every stream is padded to 4096 bytes or more."""
    sectors: list[bytes] = []
    table: list[int] = []

    def keep(data: bytes) -> int:
        start = len(sectors)
        parts = [data[i : i + 512].ljust(512, b"\0") for i in range(0, len(data), 512)]
        sectors.extend(parts)
        table.extend([*range(start + 1, start + len(parts)), 0xFFFFFFFE])
        return start

    entries = [("Root Entry", 5, 0xFFFFFFFE, 0)]
    for name, data in streams.items():
        data = data.ljust(4096, b"\0")
        entries.append((name, 2, keep(data), len(data)))
    rows = b"".join(
        name.encode("utf-16-le").ljust(64, b"\0")
        + struct.pack("<HBB3I36x3I", 2 * len(name) + 2, kind, 1, *[0xFFFFFFFF] * 3, start, size, 0)
        for name, kind, start, size in entries
    )
    directory = keep(rows)
    places = len(sectors)
    table += [0xFFFFFFFD] + [0xFFFFFFFF] * (127 - len(table))
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<5H6x", 62, 3, 0xFFFE, 9, 6)
    header += struct.pack("<9I", 0, 1, directory, 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0)
    header += struct.pack("<109I", places, *[0xFFFFFFFF] * 108)
    return header + b"".join(sectors) + struct.pack("<128I", *table)


def doc(flags: int = 0x0200) -> bytes:
    one = f'{WORDS}\rSee \x13 HYPERLINK "{URL}" \x14the hive\x15 '.encode("cp1252")
    two = "for möre €.\r".encode("utf-16-le")
    stream = bytearray(0x600)
    struct.pack_into("<H", stream, 0, 0xA5EC)
    struct.pack_into("<H", stream, 10, flags)
    positions = struct.pack("<3I", 0, len(one), len(one) + len(two) // 2)
    pieces = struct.pack("<HIHHIH", 0, 0x600 * 2 | 0x40000000, 0, 0, 0x600 + len(one), 0)
    table = b"\x02" + struct.pack("<I", len(positions + pieces)) + positions + pieces
    struct.pack_into("<2I", stream, 0x01A2, 0, len(table))
    return ole({"WordDocument": bytes(stream) + one + two, "1Table": table, "\x05SummaryInformation": summary()})


def summary() -> bytes:
    title, author = b"On Bees\0", b"A. Keeper\0"
    ticks = (1614834367 + 11644473600) * 10_000_000
    values = [
        (1, struct.pack("<IHH", 2, 1252, 0)),
        (2, struct.pack("<II", 30, len(title)) + title),
        (4, struct.pack("<II", 30, len(author)) + author),
        (13, struct.pack("<IQ", 64, ticks)),
    ]
    at, places, data = 8 + 8 * len(values), b"", b""
    for key, value in values:
        places += struct.pack("<2I", key, at + len(data))
        data += value
    section = struct.pack("<2I", at + len(data), len(values)) + places + data
    return struct.pack("<HHI16sI16sI", 0xFFFE, 0, 0, b"", 1, b"", 48) + section


def ppt() -> bytes:
    def record(kind: int, data: bytes, version: int = 0) -> bytes:
        return struct.pack("<HHI", version, kind, len(data)) + data

    master = record(0x03F8, record(0x0FA8, b"Click to edit"), 15)
    title = record(0x0F9F, struct.pack("<I", 0)) + record(0x0FA0, "The hive".encode("utf-16-le"))
    text = record(0x0F9F, struct.pack("<I", 1)) + record(0x0FA8, f"{WORDS}\r{URL}".encode())
    return ole(
        {
            "PowerPoint Document": master + record(0x0FF0, title + text, 15),
            "\x05SummaryInformation": summary(),
        }
    )


def tarred(members: dict[str, bytes], *more: tarfile.TarInfo) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for info in more:
            archive.addfile(info)
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return file.getvalue()


def members() -> dict[str, bytes]:
    return {"a/bees.pdf": pdf(), "a/wasps.txt": b"Wasps are no bees.", "a/picture.png": b"\x89PNG\r\n\x1a\n" + bytes(9)}


GOOD = {
    PDF: pdf(),
    DOCX: docx(),
    PPTX: pptx(),
    XLSX: xlsx(),
    ODT: odt(),
    EPUB: epub(),
    RTF: rtf(),
    DOC: doc(),
    PPT: ppt(),
    ZIP: zipped(members()),
    TAR: tarred(members()),
    GZIP: gzip.compress(tarred(members()), mtime=0),
}
