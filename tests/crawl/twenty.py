"""A web of twenty topics for tests of learning: three hosts each, whose pages borrow words and links from next door."""

from collections.abc import Mapping
from random import Random

from analecta.testweb.server import ServedResponse

HOSTS, ABOUT, NEWS = 3, 12, 3  # hosts of a topic; pages of a host that are about it, and that are about nothing
LENGTH = 160  # words of a page
OWN, NEXT = 0.3, 0.06  # shares of them that are the topic's, and those of the topic next door

TOPICS = {
    line.split(": ")[0]: line.split(": ")[1].split()
    for line in """
bees: hive honey swarm queen drone nectar pollen smoker brood apiary comb wax mite colony skep forager
stars: telescope galaxy nebula comet orbit eclipse planet meteor lens quasar parallax zenith dwarf crater aurora
bread: sourdough yeast crust loaf oven knead flour rye crumb proof dough baker bran starter banneton levain
pots: kiln glaze clay wheel slip bisque potter stoneware porcelain coil firing ash celadon trimming raku sherd
boats: keel sail rudder mast jib anchor tiller halyard harbour tack mooring sloop spinnaker winch bilge buoy
chess: rook bishop pawn knight castling gambit checkmate endgame opening fork pin stalemate fianchetto clock elo
fungi: mushroom spore mycelium gill cap truffle lichen hypha chanterelle bolete morel puffball stipe amanita ring
bridges: span arch cable pier girder truss abutment suspension viaduct deck pylon cantilever bearing rivet caisson
letters: typeface serif kerning glyph ligature italic baseline font ascender punch leading bold foundry counter em
lava: volcano magma eruption caldera basalt pumice vent tephra crater obsidian fumarole plume geyser cinder lahar
lutes: lute viol psaltery chant organum motet neume hurdy shawm rebec troubadour mode choir plainsong bard fiddle
cycles: bicycle saddle pedal chain derailleur spoke wheel brake peloton tyre gear crank velodrome rim pannier
whales: whale dolphin blubber fluke baleen krill pod calf sonar breach blowhole orca migration harpoon narwhal
roses: rose petal pruning thorn graft rambler hedge mulch bloom shrub trellis cutting rootstock aphid fragrance hip
coins: coin mint denarius obverse reverse hoard die silver legend ruler denomination bullion numismatist penny token
trains: locomotive railway signal boiler tender siding gauge carriage platform sleeper buffer tunnel steam timetable
silk: loom warp weft shuttle silkworm cocoon dye weaving brocade thread spindle tapestry bobbin heddle cloth
maps: map contour meridian projection compass latitude surveyor atlas scale legend longitude relief theodolite grid
cheese: curd rennet whey rind cheddar brie ripening dairy goat affinage culture casein mould cellar gouda churn
clocks: pendulum escapement dial gear mainspring clockmaker chime verge balance winding tower bell fusee hour pallet
""".strip().splitlines()
}
COMMON = """
about after again all also always another any around because been before began best better between both bring came
can change children city come could day different does done down each early end enough even ever every family far
few find first found free friend from full give good great group hand have help here high home house how idea
important just keep kind know land large last late learn leave life light line little live long look made make many
matter may mean meet might money month more most much must name near need never new next night nothing now number
often old once only open order other over own paper part people person place plan point quite rather read ready
right room same say season second see seem several should show side since small some soon sort start still story
study such sure take talk tell than that their them then there these they thing think this those time today together
told town try turn under until use very visit wait walk want water way week well went what when where which while
who whole why will with word work world would write year yet young
""".split()
NAMES = tuple(TOPICS)


def topic_of(url: str) -> str | None:
    """What a page is about: a topic, or "" for nothing; None for what is no page."""
    host, _, number = url.removeprefix("http://").partition("/")
    topic = host.partition("-")[0]
    if topic not in TOPICS or not number.isdigit() or int(number) >= ABOUT + NEWS:
        return None
    return topic if int(number) < ABOUT else ""


def examples(topic: str, count: int) -> list[str]:
    """Pages about a topic, from its hosts in turn."""
    return [f"http://{topic}-{i % HOSTS}.test/{i // HOSTS}" for i in range(count)]


def answer(host: str, target: str, _headers: Mapping[str, str]) -> ServedResponse:
    """What the hosts of this web say."""
    url = f"http://{host}{target}"
    about = topic_of(url)
    if about is None:
        return ServedResponse(404)
    rng = Random(url)
    text = " ".join(_words(rng, about))
    links = "".join(f'<p><a href="{to}">{_title(to)}</a></p>' for to in _links(rng, host, target))
    page = f"<html><title>{_title(url)}</title><body><p>{text}</p>{links}</body></html>"
    return ServedResponse(200, b"Content-Type: text/html\r\n", page.encode())


def make() -> object:
    """For ServerProcess."""
    return answer


def _words(rng: Random, about: str) -> list[str]:
    if not about:
        return rng.choices(COMMON, k=LENGTH)
    own, beside = rng.sample(TOPICS[about], 9), TOPICS[_next_door(about)]
    shares = [OWN, NEXT, 1 - OWN - NEXT]
    return [rng.choice(words) for words in rng.choices([own, beside, COMMON], shares, k=LENGTH)]


def _title(url: str) -> str:
    about, rng = topic_of(url), Random(f"title {url}")
    return " ".join(rng.sample(TOPICS[about], 2) if about else ["club", "news", rng.choice(COMMON)])


def _links(rng: Random, host: str, target: str) -> list[str]:
    """The next page of the host, six of the topic, two of the one next door, two of any."""
    topic, here = host.partition("-")[0], int(target[1:])
    others = [topic] * 6 + [_next_door(topic)] * 2 + rng.choices(NAMES, k=2)
    away = [f"http://{name}-{rng.randrange(HOSTS)}.test/{rng.randrange(ABOUT + NEWS)}" for name in others]
    return [f"http://{host}/{(here + 1) % (ABOUT + NEWS)}", *away]


def _next_door(topic: str) -> str:
    return NAMES[(NAMES.index(topic) + 1) % len(NAMES)]
