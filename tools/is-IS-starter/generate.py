"""Writes a set of spoken utterances as features: FOLDER/features.f16 (frames of 80 half floats), FOLDER/index.tsv (first frame, frames,
text). The set "training" has the training voices; "held-out" has other voices, half of them noisy, and keeps the sound as WAVE files."""

import argparse
import random as standard_random
import time
import wave
from functools import partial
from multiprocessing import Pool
from pathlib import Path

import numpy as np

import speech
from fbank import fbank
from utterances import Utterances

LONG_SILENCE_SHARE = 0.12


def manner(random, plain_share):
    """Voice, pitch and speed of one training utterance; half of the plain voice's have espeak-ng's own pitch and speed."""
    if random.random() < plain_share:
        if random.random() < 0.5:
            return {}
        return {"pitch": int(random.integers(20, 81)), "speed": int(random.integers(110, 231)), "gap": int(random.choice([0, 0, 0, 1, 3]))}
    return {
        "voice": str(random.choice(speech.TRAINING_VOICES)), "pitch": int(random.integers(15, 91)),
        "speed": int(random.triangular(100, 165, 235)), "gap": int(random.choice([0, 0, 0, 0, 1, 2, 4])),
    }


def punctuated(text, random):
    """The text as it is read aloud: now and then with a pause inside, or with the tone of a question."""
    words = text.split()
    if len(words) > 3 and random.random() < 0.12:
        at = int(random.integers(1, len(words) - 1))
        words[at] += ","
    return " ".join(words) + str(random.choice(["", "", "", ".", "?"]))


def with_silence(samples, random):
    """Adds silence, as the service cuts utterances out of a stream: 0 to 0.4 s of silence at both ends, now and then more."""
    if random.random() < 0.15:
        return samples  # as espeak-ng gives it
    longest = 1.5 if random.random() < LONG_SILENCE_SHARE else 0.4
    return speech.padded(speech.trimmed(samples), random.uniform(0, longest), random.uniform(0, longest))


def training_utterance(job, plain_share):
    """Text and features."""
    seed, text = job
    random = np.random.default_rng(seed)
    spoken_as = manner(random, plain_share)
    samples = with_silence(speech.speak(punctuated(text, random), amplitude=int(random.integers(60, 121)), **spoken_as), random)
    if random.random() < (0.5 if "voice" not in spoken_as else 0.9):
        samples = speech.through_the_air(samples, random)
    return text, fbank(samples).astype(np.float16), None


def held_out_utterance(job):
    """Text, features and samples."""
    seed, text = job
    random = np.random.default_rng(seed)
    samples = speech.speak(
        text, voice=str(random.choice(speech.HELD_OUT_VOICES)), pitch=int(random.integers(20, 86)), speed=int(random.integers(110, 201))
    )
    samples = with_silence(samples, random)
    if random.random() < 0.5:
        samples = speech.through_the_air(samples, random)
    return text, fbank(samples).astype(np.float16), samples


def write_wave(path, samples):
    """16-bit mono."""
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, speech.RATE, 0, "NONE", ""))
        file.writeframes((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set", choices=["training", "held-out"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--plain-share", type=float, default=0.4, help="share of the training utterances that the plain voice speaks")
    parser.add_argument("--lists-share", type=float, default=0.3, help="share of the texts that are lists of words")
    parser.add_argument("--made-share", type=float, default=0.3, help="share of the texts that have made words")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    done = options.folder / "complete"
    if done.exists():
        return
    options.folder.mkdir(parents=True, exist_ok=True)
    utterances = Utterances(options.seed, options.lists_share, options.made_share)
    seeds = standard_random.Random(options.seed)
    jobs = [(seeds.getrandbits(62), utterances.draw()) for _ in range(options.count)]
    make = partial(training_utterance, plain_share=options.plain_share) if options.set == "training" else held_out_utterance
    start, first = time.time(), 0
    with Pool(options.processes) as pool, open(options.folder / "features.f16", "wb") as features, open(
        options.folder / "index.tsv", "w", encoding="utf-8"
    ) as index:
        for number, (text, frames, samples) in enumerate(pool.imap(make, jobs, chunksize=16)):
            features.write(frames.tobytes())
            index.write(f"{first}\t{len(frames)}\t{text}\n")
            first += len(frames)
            if samples is not None:
                write_wave(options.folder / f"{number:04}.wav", samples)
            if number % 1000 == 999:
                print(f"{number + 1} utterances, {first / 360000:.1f} h, {time.time() - start:.0f} s", flush=True)
    done.write_text(f"{options.count} utterances, {first} frames\n", encoding="utf-8")


if __name__ == "__main__":
    main()
