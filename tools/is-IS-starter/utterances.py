"""What is spoken for training: sentences, and lists of words so that every word occurs often. `python3 utterances.py` shows some."""

import argparse
import random
from pathlib import Path

from numbers_is import ORDINALS, ORDINALS_ACCUSATIVE
from sentences import DAYS, sentence
from word_lists import FOLDER, NAMES, PLACE_NAMES, PLURALS, NOUNS, VERBS

HELD_OUT = Path(__file__).parent / "heldout.txt"
JOINING = ["og", "en", "því að", "af því að", "þegar", "ef", "þó að", "að"]


def held_out():
    """The sentences that are never trained on."""
    return HELD_OUT.read_text(encoding="utf-8").split("\n")[:-1]


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
    """Draws utterances; words that came up seldom so far come up first in the word lists."""

    def __init__(self, seed, lists_share=0.3):
        self.random = random.Random(seed)
        self.lists_share = lists_share
        self.words = vocabulary()
        self.count = dict.fromkeys(self.words, 0)
        self.held_out = held_out()

    def draw(self):
        """One utterance, never one that contains a held-out sentence."""
        while True:
            text = self.any()
            if not any(each in text for each in self.held_out):
                for word in text.split():
                    self.count[word] += 1
                return text

    def any(self):
        r = self.random
        if r.random() < self.lists_share:
            return " ".join(self.seldom() for _ in range(r.randint(2, 7)))
        if r.random() < 1 / 7:
            return f"{sentence(r)} {r.choice(JOINING)} {sentence(r)}"
        text = sentence(r)
        while len(text) < 16 and r.random() < 0.6:
            text += " " + sentence(r)
        return text

    def seldom(self):
        """The rarest so far of six random words."""
        return min(self.random.sample(self.words, 6), key=self.count.get)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    utterances = Utterances(options.seed)
    for _ in range(options.count):
        print(utterances.draw())


if __name__ == "__main__":
    main()
