"""Words that no list has: compounds of listed nouns, and letters in the order of the listed words. From them the model learns to
spell a word by its sound. `python3 made_words.py` shows some."""

import random

from word_lists import NOUNS, PLURALS

PREFIXES = "ó van aðal auka fjar for sam endur and ofur fram inn út upp niður á af yfir undir mis tor auð full hálf ný gamal smá stór".split()
LENGTH_MIN, LENGTH_MAX = 3, 18
# A letter follows the three before it, as in the words of the lists.
CONTEXT = 3


class MadeWords:
    """Draws words that are neither among `words` nor among `forbidden`."""

    def __init__(self, words, forbidden):
        self.words = [word for word in words if len(word) >= LENGTH_MIN]
        self.refused = set(words) | set(forbidden)
        self.nouns = NOUNS + PLURALS
        self.following = {}
        for word in self.words:
            letters = "^" * CONTEXT + word + "$"
            for at in range(CONTEXT, len(letters)):
                self.following.setdefault(letters[at - CONTEXT : at], []).append(letters[at])

    def draw(self, r):
        """One made word."""
        while True:
            word = r.choice([self.compound, self.chained, self.chained])(r)
            if LENGTH_MIN <= len(word) <= LENGTH_MAX and word not in self.refused:
                return word

    def compound(self, r):
        """A genitive or a prefix before a noun, or a prefix before any word."""
        if r.random() < 0.3:
            return r.choice(PREFIXES) + r.choice(self.words)
        first = r.choice(self.nouns).indefinite["genitive"]
        last = r.choice(self.nouns)
        return first + r.choice(list(r.choice([last.indefinite, last.definite]).values()))

    def chained(self, r):
        """Letters until a word ends."""
        letters = "^" * CONTEXT
        while True:
            letter = r.choice(self.following[letters[-CONTEXT:]])
            if letter == "$":
                return letters[CONTEXT:]
            letters += letter
            if len(letters) > CONTEXT + LENGTH_MAX:
                letters = "^" * CONTEXT


def main():
    from utterances import forbidden_words, vocabulary

    made, r = MadeWords(vocabulary(), forbidden_words()), random.Random(1)
    for _ in range(40):
        print(made.draw(r))


if __name__ == "__main__":
    main()
