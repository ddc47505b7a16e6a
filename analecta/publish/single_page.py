"""The head of a page that is one file: it loads nothing, runs nothing, and follows the reader's light or dark."""

from analecta.publish.network import safe

_HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
body {{ margin: 0 auto; padding: 16px; font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif }}
h1 {{ font-size: 22px; margin: 8px 0 }} svg {{ width: 100%; height: auto; display: block }}
table {{ border-collapse: collapse }} .wide {{ overflow-x: auto }}
{style}
</style>
</head>
"""


def head(title: str, style: str) -> str:
    """All up to the body; `style` is what this page has of its own."""
    return _HEAD.format(title=safe(title), style=style.strip())
