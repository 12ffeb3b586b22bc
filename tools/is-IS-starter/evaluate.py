"""Word and character error rates of a checkpoint or an exported model.onnx: on the sentences of heldout.txt as espeak-ng's plain voice
says them, and on a set that generate.py wrote. Greedy, with the lexicon, and the best of ten. The project's own bench measures the
same file through its engine."""

import argparse
from pathlib import Path

import torch
import torch.nn.functional as functional

import speech
from beam_search import search
from corpus import FLUSH_FRAMES, Corpus
from fbank import SILENCE, fbank
from model import Model, greedy, load
from utterances import held_out
from warm_start import take_over
from word_errors import distance, rates


def plain_voice():
    """Text and features of the 100 sentences."""
    for text in held_out():
        yield text, torch.from_numpy(fbank(speech.speak(text)))


def written_set(folder):
    """Text and features of a set of generate.py."""
    corpus = Corpus([folder])
    for number in range(len(corpus.utterances)):
        yield corpus.text(number), torch.from_numpy(corpus.frames(number))


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
        print(f"{name}: {100 * wrong_words:.1f} % of words wrong, {100 * wrong_letters:.1f} % of letters", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path, help="a checkpoint (.pt) or model.onnx")
    parser.add_argument("words", type=Path, help="words.txt")
    parser.add_argument("--set", type=Path, help="also a folder that generate.py wrote")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.model.suffix == ".onnx":
        model = Model()
        take_over(model, options.model)
    else:
        model = load(options.model)
    model.eval()
    words = set(options.words.read_text(encoding="utf-8").split())
    print("100 sentences, plain voice")
    evaluate(model, plain_voice(), words, options.show)
    if options.set:
        print(options.set)
        evaluate(model, written_set(options.set), words, options.show)


if __name__ == "__main__":
    main()
