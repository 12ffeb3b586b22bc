"""Trains the network for a number of minutes, from nothing, from a checkpoint (--resume) or from an exported model (--warm-start).
Weights are averaged over the last steps; the average is what is checked each few minutes and written to the checkpoint."""

import argparse
import copy
import math
import random
import time
from pathlib import Path

import torch
import torch.nn.functional as functional

from corpus import FLUSH_FRAMES, Corpus, statistics
from fbank import SILENCE
from model import BLANK, Model, greedy, load, save
from warm_start import take_over
from word_errors import rates


def initial_model(options, corpus):
    """The model that training begins with."""
    if options.resume:
        return load(options.resume)
    model = Model(options.hidden)
    if options.warm_start:
        take_over(model, options.warm_start)
    else:
        mean, scale = statistics(corpus)
        model.mean.copy_(mean)
        model.scale.copy_(scale)
    return model


def check(model, corpus):
    """Word and character error rate, greedy, over a set."""
    model.eval()
    pairs = []
    with torch.no_grad():
        for number in range(len(corpus.utterances)):
            frames = torch.from_numpy(corpus.frames(number))[None]
            frames = functional.pad(frames, (0, 0, 0, FLUSH_FRAMES), value=SILENCE)
            pairs.append((corpus.text(number), greedy(model(frames)[0])))
    return rates(pairs)


def update_average(average, model, step):
    """A running mean over about the last five hundred steps, fewer at the beginning."""
    keep = min(0.998, (step + 1) / (step + 10))
    with torch.no_grad():
        for kept, new in zip(average.parameters(), model.parameters()):
            kept.mul_(keep).add_(new, alpha=1 - keep)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--data", type=Path, nargs="+", required=True)
    parser.add_argument("--held-out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--rate", type=float, default=2e-3, help="highest learning rate; it rises at first, then falls as a cosine")
    parser.add_argument("--hidden", type=int, default=288)
    parser.add_argument("--frames", type=int, default=6000, help="frames in a batch")
    parser.add_argument("--mask-share", type=float, default=1, help="share of the utterances that are masked; less in a last, short run")
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--warm-up", type=int, default=300, help="steps in which the rate rises")
    parser.add_argument("--check-minutes", type=float, default=5)
    parser.add_argument("--seed", type=int, default=1)
    begin = parser.add_mutually_exclusive_group()
    begin.add_argument("--resume", type=Path)
    begin.add_argument("--warm-start", type=Path)
    return parser.parse_args()


def main():
    options = parse_options()
    random.seed(options.seed)
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    corpus, held_out = Corpus(options.data), Corpus([options.held_out])
    model = initial_model(options, corpus)
    model.dropout.p = options.dropout
    average = copy.deepcopy(model)
    fill = model.mean.numpy()
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.rate, weight_decay=1e-3)
    start = checked = time.time()
    step, losses, batches = 0, [], []
    while time.time() - start < options.minutes * 60:
        if not batches:
            corpus = Corpus(options.data)
            batches = corpus.batches(options.frames)
            print(f"{len(corpus.utterances)} utterances in {len(batches)} batches", flush=True)
        progress = min(1, (time.time() - start) / (options.minutes * 60))
        for group in optimizer.param_groups:
            group["lr"] = options.rate * min(1, (step + 1) / options.warm_up) * (0.5 + 0.5 * math.cos(math.pi * progress))
        features, outputs, texts, lengths = corpus.batch(batches.pop(), fill, options.mask_share)
        model.train()
        scores = model(features)
        loss = functional.ctc_loss(scores.transpose(0, 1), texts, outputs, lengths, blank=BLANK, zero_infinity=True)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        update_average(average, model, step)
        step += 1
        losses.append(loss.item())
        if step % 200 == 0:
            print(f"step {step}, loss {sum(losses) / len(losses):.3f}, {(time.time() - start) / 60:.1f} min", flush=True)
            losses = []
        if time.time() - checked > options.check_minutes * 60:
            report(average, held_out, options.checkpoint)
            checked = time.time()
    report(average, held_out, options.checkpoint)


def report(average, held_out, checkpoint):
    """Writes the checkpoint and prints how good it is."""
    save(average, checkpoint)
    words, letters = check(average, held_out)
    print(f"held out: {100 * words:.1f} % of words wrong, {100 * letters:.1f} % of letters", flush=True)


if __name__ == "__main__":
    main()
