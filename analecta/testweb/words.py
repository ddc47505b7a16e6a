"""Words that every topic shares; those of the topics and of other languages are read from the files beside.

The slots of the sentences are explained in grammar.py.
"""

import tomllib
from importlib.resources import files
from typing import Any


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(files("analecta.testweb").joinpath(name).read_text("utf-8"))


TOPICS = _read("topics.toml")
LANGUAGES = _read("languages.toml")

SENTENCES = """
{Ns} are easier to live with than most books admit.
In {season} {an} asks for more care than at any other time of the year.
{Who} once said that {ph} is half of the work.
There is no need to {v} everything at once.
Many beginners {v} the {n} too early and blame the {n} afterwards.
We compared {num} {ns} over two years and kept notes on each of them.
The difference between {aan} and an ordinary one is easy to see once you have met both.
If you can only afford one {n}, choose {aan}.
Some people swear by {s}; others have never missed it.
The first {n} in our collection came from {where} in {year}.
It took us until {season} to understand why the {n} behaved so badly.
{Ving} {ns} is a matter of patience rather than strength.
Do not confuse {an} with {an}, although shops often do.
A visitor asked last week whether {ns} are worth the money, and the honest answer is: sometimes.
{Who} always preferred {adj} {ns}, and it is hard to argue with the results.
The library has an older book on {ns} that is still worth reading.
Without {s} the whole thing would look very different.
At {where} you can watch people {v} {ns} on most weekends.
What matters in the end is {ph}, not the price of the {n}.
Most of the questions that reach us concern {ns} and {s}.
We have {ved} more than {num} {ns} since {year}, and each one taught us something.
It is a good idea to {v} one {n} before you try another.
The rule of thumb is simple: more {s}, fewer {ns}.
Between {season} and the end of the year there is time to {v} the {n} properly.
A friend from {where} sent us photographs of {aan}.
Reports that {ns} are going out of fashion come back every few years.
Small mistakes with {s} are forgiven; large ones are not.
You will need {an}, some {s} and an afternoon without visitors.
The club meets on the second Tuesday of the month to talk about {ns}.
In our experience {adj} {ns} last longer, though they cost more at first.
{Who} wrote to us about {an} that had stood unused for {num} years.
There are three reasons for this, and the {n} is only one of them.
Old hands {v} by feel, newcomers by the book.
Whether this also holds for {adj} {ns} is an open question.
The {n} and the {n} work together, and neither is much use alone.
By {season} the {adj} {n} had been {ved} twice.
See the notes on {ph} for the details.
Prices for {ns} have doubled since {year}.
Everything else can wait until {ph} is settled.
A short film made at {where} shows how to {v} {an} step by step.
If in doubt, ask somebody who has {ved} a few.
The answer depends on {s}, on the weather and on your neighbours.
Nobody at {where} remembers who first {ved} {an} there.
{An} of this kind was unknown here before {year}.
Write down what you did, because next {season} you will have forgotten it.
One last remark about {s}: buy it fresh and store it dry.
"""

TITLES = """
How to {v} {an}
{Ns}, {ns} and a little {s}
Choosing {an}
The {adj} {n} explained
Notes on {ns}
Why {ns} fail
{Who} on {ns}
A visit to {where}
Ten questions about {ns}
{Adj} {ns}: a beginner's guide
What we learned from {ns} in {year}
{An} for all seasons
In praise of the {n}
{S} and the {n}
The trouble with {adj} {ns}
A short history of the {n}
Looking after {an} in {season}
{Ving} {ns} the slow way
Our {n} diary, {season} {year}
Letters: {ns} and {ph}
"""

HEADINGS = """
Before you begin
What {an} is for
{Ns} and {ns}
A word on {s}
Common mistakes
How we {v} {ns}
The {adj} {n}
{Ph}
Where to see {ns}
Costs and care
What {who} did differently
Further notes
"""

OFF_TOPIC = """
The car park behind the hall will be closed until the end of {season}.
Our treasurer thanks all members who have already paid for {year}.
Tea and cake will be served at half past three, as always.
The annual general meeting elected a new secretary and kept the old chairman.
Please send changes of address to the membership desk.
Lost property is kept for {num} weeks and then given to the charity shop.
The roof fund now stands at {num} hundred pounds.
Volunteers are needed for the summer fair, especially on the Saturday morning.
Minutes of the last meeting can be read at the front desk.
Dogs are welcome if they keep quiet during the talks.
The heating has been repaired, and the hall is warm again.
We apologise for the confusion about the dates in the {season} programme.
"""

PRIVACY = """
We keep as little about our readers as we can.
Server logs are deleted after {num} days.
If you write to us, your address is used to answer you and for nothing else.
We do not sell, rent or lend the names of subscribers.
A cookie remembers the size of the letters that you chose.
You may ask at any time what we hold about you and have it removed.
This site has been online since {year} and is kept up by volunteers.
Pictures belong to those who took them; ask before you copy.
Our postal address and the opening hours are given on the contact page.
"""

SEASONS = "spring, summer, autumn, winter, March, late May, August, October, early November"
NUMBERS = "six, nine, twelve, fourteen, twenty, thirty-odd, forty, sixty, ninety, two hundred"
TITLE_WORDS = "notes, journal, almanac, gazette, workshop, archive, letters, corner, society, review, guild, handbook"
HOST_WORDS = "orchard, harbour, lantern, meadow, copper, willow, granite, juniper, sparrow, amber, cedar, pebble"
NICKS = "quietfox, marlow77, anna_b, the_old_hand, pjt, greenbench, kestrel, mrs_winter, dan-of-dale"
SPAM = "cheap watches online, best casino bonus, free ringtones, loans without questions, miracle diet pills"
