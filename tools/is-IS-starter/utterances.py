"""What is spoken for training: sentences, and lists of words so that every word occurs often; with made words among them.
`python3 utterances.py` shows some."""

import argparse
import random
from pathlib import Path

from made_words import MadeWords
from numbers_is import ORDINALS, ORDINALS_ACCUSATIVE
from sentences import DAYS, sentence
from word_lists import FOLDER, NAMES, PLACE_NAMES, PLURALS, NOUNS, VERBS

HELD_OUT = Path(__file__).parent / "heldout.txt"
OPEN_WORDS = Path(__file__).parent / "open-words.txt"
JOINING = ["og", "en", "því að", "af því að", "þegar", "ef", "þó að", "að"]


def held_out(path=HELD_OUT):
    """The sentences of a file that are never trained on."""
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def forbidden_words():
    """The words of open-words.txt, none of which is made for training."""
    return set(" ".join(held_out(OPEN_WORDS)).split())


def vocabulary():
    """Every word that the texts can contain, in order."""
    words = set(ORDINALS + ORDINALS_ACCUSATIVE + DAYS + NAMES + PLACE_NAMES)
    for path in FOLDER.glob("*.txt"):
        if path.name not in ("nouns.txt", "plurals.txt", "verbs.txt"):
            words.update(path.read_text(encoding="utf-8").split())
    for noun in NOUNS + PLURALS:
        words.update(noun.indefinite.values(), noun.definite.values())
    for verb in VERBS:
        words.update(verb[1:])
    r = random.Random(0)
    for _ in range(60000):
        words.update(sentence(r).split())
    return sorted(words)


class Utterances:
    """Draws utterances; words that came up seldom so far come up first in the word lists. made_share of the utterances have made
    words: lists of them among listed words, or a sentence with one in the place of one of its words."""

    def __init__(self, seed, lists_share=0.3, made_share=0.0):
        self.random = random.Random(seed)
        self.lists_share, self.made_share = lists_share, made_share
        self.words = vocabulary()
        self.made = MadeWords(self.words, forbidden_words())
        self.count = dict.fromkeys(self.words, 0)
        self.held_out = held_out() + held_out(OPEN_WORDS)

    def draw(self):
        """One utterance, never one that contains a held-out sentence."""
        while True:
            text = self.any()
            if not any(each in text for each in self.held_out):
                for word in text.split():
                    if word in self.count:
                        self.count[word] += 1
                return text

    def any(self):
        r = self.random
        if r.random() < self.made_share:
            return self.with_made_words()
        if r.random() < self.lists_share:
            return " ".join(self.seldom() for _ in range(r.randint(2, 7)))
        if r.random() < 1 / 7:
            return f"{sentence(r)} {r.choice(JOINING)} {sentence(r)}"
        text = sentence(r)
        while len(text) < 16 and r.random() < 0.6:
            text += " " + sentence(r)
        return text

    def with_made_words(self):
        """A list of two to five words, most of them made, or a sentence with a made word."""
        r = self.random
        if r.random() < 0.5:
            return " ".join(self.made.draw(r) if r.random() < 0.7 else self.seldom() for _ in range(r.randint(2, 5)))
        words = sentence(r).split()
        words[r.randrange(len(words))] = self.made.draw(r)
        return " ".join(words)

    def seldom(self):
        """The rarest so far of six random words."""
        return min(self.random.sample(self.words, 6), key=self.count.get)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--made-share", type=float, default=0.3)
    options = parser.parse_args()
    utterances = Utterances(options.seed, made_share=options.made_share)
    for _ in range(options.count):
        print(utterances.draw())


if __name__ == "__main__":
    main()
