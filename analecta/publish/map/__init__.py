"""The map of a topic (P10): its clusters as circles in one HTML file that needs no network (docs/map.md).

All that the map tells is in the page as plain HTML, which reads, prints and works without a script; the script only
moves: it opens one group at a time, zooms, searches and leads the keyboard.
"""

from analecta.publish.map.listing import Copy, copies_of, still_shown
from analecta.publish.map.page import map_page

__all__ = ["Copy", "copies_of", "map_page", "still_shown"]
