"""A tiny writer of PDFs: texts at given places in standard fonts, so that tests know what stands where."""

import textwrap

ROMAN, BOLD, ITALIC = "Times-Roman", "Times-Bold", "Times-Italic"
_FONTS = (ROMAN, BOLD, ITALIC)
Text = tuple[float, float, float, str, str]  # x, y, size, font, text


def paragraph(x: float, y: float, text: str, size: float = 10, width: int = 50, font: str = ROMAN) -> list[Text]:
    """Lines of a paragraph from (x, y) downwards; `width` in letters (50 letters of 10 points are 220 points)."""
    lines = textwrap.wrap(text, width)
    return [(x, y - i * size * 1.2, size, font, line) for i, line in enumerate(lines)]


def hanging(x: float, y: float, entries: list[str], size: float = 9, width: int = 52) -> list[Text]:
    """Entries whose lines after the first are indented."""
    texts: list[Text] = []
    for entry in entries:
        for i, line in enumerate(textwrap.wrap(entry, width)):
            texts.append((x + 12 * (i > 0), y, size, ROMAN, line))
            y -= size * 1.2
    return texts


def make_pdf(*pages: list[Text]) -> bytes:
    """A PDF of these pages."""
    fonts = " ".join(f"/F{i} {3 + i} 0 R" for i in range(len(_FONTS)))
    first = 3 + len(_FONTS)
    kids = " ".join(f"{first + 2 * i} 0 R" for i in range(len(pages)))
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode()]
    objects += [
        b"<< /Type /Font /Subtype /Type1 /BaseFont /%s /Encoding /WinAnsiEncoding >>" % name.encode() for name in _FONTS
    ]
    for i, page in enumerate(pages):
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {first + 2 * i + 1} 0 R "
            f"/Resources << /Font << {fonts} >> >> >>".encode()
        )
        content = b"\n".join(_shown(text) for text in page)
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
    return assemble(objects)


def _shown(text: Text) -> bytes:
    x, y, size, font, words = text
    escaped = words.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)").encode("cp1252")
    return b"BT /F%d %g Tf %g %g Td (%s) Tj ET" % (_FONTS.index(font), size, x, y, escaped)


def assemble(objects: list[bytes], trailer: bytes = b"") -> bytes:
    """The file that holds these objects, numbered from 1; the first is the catalog."""
    data, places = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    data += b"".join(b"%010d 00000 n \n" % place for place in places)
    data += b"trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, trailer, start)
    return bytes(data)
