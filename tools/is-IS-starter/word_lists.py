"""Reads the word lists of text/: inflected words, phrases, names, places."""

from collections import namedtuple
from pathlib import Path

FOLDER = Path(__file__).parent / "text"
CASES = ("nominative", "accusative", "dative", "genitive")

Noun = namedtuple("Noun", "gender kind indefinite definite")
Verb = namedtuple("Verb", "governs infinitive first third we they i_past past they_past supine")
# m, f, n: singular; ms, fs, ns: plural; all nominative. comparative: masculine.
Adjective = namedtuple("Adjective", "m f n ms fs ns comparative")
Place = namedtuple("Place", "preposition dative genitive")


def lines(name):
    """The lines of one list."""
    return (FOLDER / name).read_text(encoding="utf-8").split("\n")[:-1]


def noun(row):
    """gender, kind, then four cases without and four with the article."""
    gender, kind, *forms = row.split()
    assert len(forms) == 8, row
    return Noun(gender, kind, dict(zip(CASES, forms[:4])), dict(zip(CASES, forms[4:])))


NOUNS = [noun(row) for row in lines("nouns.txt")]
PLURALS = [noun(row[0] + " plural" + row[1:]) for row in lines("plurals.txt")]
VERBS = [Verb(*row.split()) for row in lines("verbs.txt")]
ADJECTIVES = [Adjective(*row.split()) for row in lines("adjectives.txt")]
PLACES = [Place(*row.split()) for row in lines("places.txt")]
PLACE_NAMES = " ".join(lines("place-names.txt")).split()
NAMES = " ".join(lines("names.txt")).split()
ADVERBS = " ".join(lines("adverbs.txt")).split()
TIMES = lines("times.txt")
PHRASES = lines("phrases.txt")


def of_kind(*kinds):
    """The nouns of these kinds."""
    return [each for each in NOUNS if each.kind in kinds]


def governing(*cases):
    """The verbs whose object is in one of these cases ("none": they take no object)."""
    return [each for each in VERBS if each.governs in cases]
