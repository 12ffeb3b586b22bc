"""CTC prefix beam search with a lexicon, as the recognizer searches; for evaluation only, and slow."""

import math
from functools import lru_cache

from model import BLANK, SYMBOLS

BEAM, OUTSIDE_PENALTY, SYMBOL_RANGE = 16, 8.0, 10.0
NEVER = -math.inf


def add(a, b):
    """log(exp(a) + exp(b))"""
    if a < b:
        a, b = b, a
    return a if b == NEVER else a + math.log1p(math.exp(b - a))


def search(log_probabilities, words, count=10):
    """The likeliest texts, best first: a word outside the lexicon costs OUTSIDE_PENALTY."""

    def cost(word):
        return OUTSIDE_PENALTY if word and word not in words else 0.0

    @lru_cache(maxsize=None)
    def finished(prefix):
        """The cost of those words of the prefix that a space has ended."""
        return sum(cost(word) for word in prefix.split(" ")[:-1])

    beam = {"": (0.0, NEVER)}  # prefix: score with a blank at the end, score without
    for scores in log_probabilities.tolist():
        best = max(scores)
        symbols = [number for number, score in enumerate(scores) if number != BLANK and score > best - SYMBOL_RANGE]
        following = {}

        def give(prefix, blank, symbol):
            before = following.get(prefix, (NEVER, NEVER))
            following[prefix] = (add(before[0], blank), add(before[1], symbol))

        for prefix, (blank, symbol) in beam.items():
            total = add(blank, symbol)
            last = prefix[-1:]
            give(prefix, total + scores[BLANK], NEVER)
            for number in symbols:
                letter = SYMBOLS[number]
                if letter == last:
                    give(prefix, NEVER, symbol + scores[number])
                give(prefix + letter, NEVER, (blank if letter == last else total) + scores[number])
        ranked = sorted(following, key=lambda prefix: finished(prefix) - add(*following[prefix]))
        beam = {prefix: following[prefix] for prefix in ranked[:BEAM]}
    ranked = sorted(beam, key=lambda prefix: finished(prefix) + cost(prefix.split(" ")[-1]) - add(*beam[prefix]))
    return list(dict.fromkeys(" ".join(prefix.split()) for prefix in ranked))[:count]
