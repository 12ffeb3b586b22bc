"""Word and character error rates of a checkpoint or an exported model.onnx, for each condition: the sentences of heldout.txt as espeak-ng's
plain voice says them, faster, slower, lower, higher, in noise, in rooms, in other voices; the sentences of open-words.txt; a set that
generate.py wrote. Greedy, with the lexicon, and the best of ten. The project's own bench measures the same file through its engine."""

import argparse
from functools import partial
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as functional

import speech
from beam_search import search
from corpus import FLUSH_FRAMES, Corpus
from exported import load_exported
from fbank import SILENCE, fbank
from model import greedy, load
from utterances import OPEN_WORDS, held_out
from word_errors import distance, rates

# What espeak-ng varies, by condition.
MANNERS = {
    "plain voice": {}, "slow (130 words a minute)": {"speed": 130}, "fast (220 words a minute)": {"speed": 220}, "low (pitch 25)": {"pitch": 25},
    "high (pitch 80)": {"pitch": 80}, "woman (variant f4)": {"voice": "f4"}, "man (variant m7)": {"voice": "m7"},
    "Klatt synthesizer (variant klatt4)": {"voice": "klatt4"},
}


def spoken(texts, change=lambda samples, random: samples, **manner):
    """Texts and features; `change` gets the samples and a generator that the number of the sentence seeds."""
    for number, text in enumerate(texts):
        samples = change(speech.speak(text, **manner), np.random.default_rng(number))
        yield text, torch.from_numpy(fbank(samples))


def written_set(folder):
    """Text and features of a set of generate.py."""
    corpus = Corpus([folder])
    for number in range(len(corpus.utterances)):
        yield corpus.text(number), torch.from_numpy(corpus.frames(number))


def conditions():
    """Name and utterances of every condition that needs no set."""
    for name, manner in MANNERS.items():
        yield name, spoken(held_out(), **manner)
    yield "noise, 15 dB", spoken(held_out(), partial(speech.noisy, ratio_low=15, ratio_high=15))
    yield "rooms, microphones, noise", spoken(held_out(), speech.through_the_air)
    yield "open words, plain voice", spoken(held_out(OPEN_WORDS))
    yield "open words, variant f4", spoken(held_out(OPEN_WORDS), voice="f4")


def evaluate(model, utterances, words, show):
    """Prints the rates; with `show`, also each wrong text."""
    results = {"greedy": [], "lexicon": [], "best of ten": []}
    for text, frames in utterances:
        with torch.no_grad():
            scores = model(functional.pad(frames[None], (0, 0, 0, FLUSH_FRAMES), value=SILENCE))[0]
        texts = search(scores, words)
        results["greedy"].append((text, greedy(scores)))
        results["lexicon"].append((text, texts[0]))
        results["best of ten"].append((text, min(texts, key=lambda each: distance(text.split(), each.split()))))
        if show and texts[0] != text:
            print(f"{text} -> {texts[0]}")
    for name, pairs in results.items():
        wrong_words, wrong_letters = rates(pairs)
        print(f"  {name}: {100 * wrong_words:.1f} % of words wrong, {100 * wrong_letters:.1f} % of letters", flush=True)


def outside_share(words):
    """The share of the words of open-words.txt that the lexicon lacks."""
    spoken_words = " ".join(held_out(OPEN_WORDS)).split()
    return sum(word not in words for word in spoken_words) / len(spoken_words)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path, help="a checkpoint (.pt) or model.onnx")
    parser.add_argument("words", type=Path, help="words.txt")
    parser.add_argument("--set", type=Path, help="also a folder that generate.py wrote")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    model = (load_exported if options.model.suffix == ".onnx" else load)(options.model).eval()
    words = set(options.words.read_text(encoding="utf-8").split())
    print(f"{100 * outside_share(words):.0f} % of the words of open-words.txt are outside the lexicon")
    for name, utterances in conditions():
        print(name)
        evaluate(model, utterances, words, options.show)
    if options.set:
        print(options.set)
        evaluate(model, written_set(options.set), words, options.show)


if __name__ == "__main__":
    main()
