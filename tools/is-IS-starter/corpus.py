"""Reads what generate.py wrote, and makes batches of it."""

import numpy as np
import torch

from fbank import BINS, SILENCE
from model import ID, RECEPTIVE_FRAMES, outputs_of

# An utterance ends with this many frames of silence, as in the recognizer: with them the model
# outputs the last letters.
FLUSH_FRAMES = RECEPTIVE_FRAMES - 1


class Corpus:
    """The utterances of one or more folders that generate.py has completed; features stay on disk."""

    def __init__(self, folders):
        self.utterances = []
        for folder in folders:
            if not (folder / "complete").exists():
                raise SystemExit(f"{folder} is not complete: run generate.py again")
            features = np.memmap(folder / "features.f16", np.float16, "r")
            features = features[: len(features) // BINS * BINS].reshape(-1, BINS)
            for line in (folder / "index.tsv").read_text(encoding="utf-8").split("\n")[:-1]:
                first, count, text = line.split("\t")
                self.utterances.append((features, int(first), int(count), text))

    def frames(self, number):
        """[frames, 80] of one utterance."""
        features, first, count, _ = self.utterances[number]
        return features[first : first + count].astype(np.float32)

    def text(self, number):
        return self.utterances[number][3]

    def batches(self, frames_max, random):
        """Numbers of utterances of about the same length, at most frames_max frames together, in random order."""
        spread = [(count * random.uniform(0.93, 1.07), number) for number, (_, _, count, _) in enumerate(self.utterances) if count <= 1400]
        batches, batch, longest = [], [], 0
        for _, number in sorted(spread):
            longest = max(longest, self.utterances[number][2])
            if batch and (len(batch) + 1) * longest > frames_max:
                batches.append(batch)
                batch, longest = [], self.utterances[number][2]
            batch.append(number)
        random.shuffle(batches)
        return batches

    def batch(self, numbers, random, fill, mask_share=1.0):
        """Features, lengths of the outputs, symbols, lengths of the texts. mask_share of the utterances are masked; masked frames get `fill` [80]."""
        longest = max(self.utterances[number][2] for number in numbers) + FLUSH_FRAMES
        features = np.full((len(numbers), longest, BINS), SILENCE, np.float32)
        for row, number in enumerate(numbers):
            frames = self.frames(number)
            features[row, : len(frames)] = np.maximum(frames + random.uniform(-1.5, 1.5), SILENCE)
            if random.random() < mask_share:
                mask(features[row, : len(frames)], random, fill)
        texts = [[ID[letter] for letter in self.text(number)] for number in numbers]
        outputs = [outputs_of(self.utterances[number][2] + FLUSH_FRAMES) for number in numbers]
        return (
            torch.from_numpy(features), torch.tensor(outputs),
            torch.tensor([each for text in texts for each in text]), torch.tensor([len(text) for text in texts]),
        )


def mask(frames, random, fill):
    """SpecAugment: hides two bands of frequencies and up to two stretches of time."""
    for _ in range(2):
        width = random.randint(0, 10)
        low = random.randint(0, BINS - width)
        frames[:, low : low + width] = fill[low : low + width]
    for _ in range(random.randint(0, 2)):
        width = random.randint(0, 8)
        start = random.randint(0, max(1, len(frames) - width))
        frames[start : start + width] = fill


def statistics(corpus, random, count=600):
    """Mean and 1 / standard deviation of every bin over some utterances."""
    chosen = random.sample(range(len(corpus.utterances)), min(count, len(corpus.utterances)))
    frames = np.concatenate([corpus.frames(number)[::7] for number in chosen])
    return torch.from_numpy(frames.mean(0)), torch.from_numpy(1 / (frames.std(0) + 1e-3))
