"""Trains the network from nothing, by steps. Whatever chance decides in a step follows from the seed and the number of the step, so that
a run that was stopped continues from its last checkpoint as if nothing had happened, and the same machine gives the same weights.
Weights are averaged over the last steps; the average is what is checked and exported."""

import argparse
import copy
import math
import os
import random
import time
from pathlib import Path

import torch
import torch.nn.functional as functional

from corpus import FLUSH_FRAMES, Corpus, statistics
from fbank import SILENCE
from model import BLANK, HIDDEN, Model, greedy, save
from word_errors import rates

# The first steps see the first sets only, without masks; the last third sees them and the late
# sets; the very last steps have no masks, less dropout.
EARLY_SHARE, EARLY_SETS, LATE_SHARE, LAST_SHARE = 0.1, 2, 1 / 3, 0.1
DROPOUT, LAST_DROPOUT, MASK_SHARE = 0.1, 0.03, 0.5
WARM_UP_STEPS = 400


class Run:
    """All that a checkpoint keeps: the weights, their average, the optimizer, the step, and the place in the data."""

    def __init__(self, options):
        self.options = options
        first = options.data[:EARLY_SETS]
        self.corpora = {"early": Corpus(first), "middle": Corpus(options.data), "late": Corpus([*first, *options.late_data])}
        torch.manual_seed(options.seed)
        self.model = Model(options.hidden)
        mean, scale = statistics(self.corpora["middle"], random.Random(options.seed))
        self.model.mean.copy_(mean)
        self.model.scale.copy_(scale)
        self.average = copy.deepcopy(self.model)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=options.rate, weight_decay=1e-3)
        self.step, self.turn, self.taken = 0, 0, 0
        self.begin_turn(self.stage_now())

    def restore(self, path):
        """Continues from a checkpoint."""
        kept = torch.load(path, map_location="cpu")
        for name in ("model", "average", "optimizer"):
            getattr(self, name).load_state_dict(kept[name])
        self.step, self.turn, taken = kept["step"], kept["turn"], kept["taken"]
        self.begin_turn(kept["stage"])
        self.taken = taken

    def keep(self, path):
        """Writes a checkpoint; one that is half written never takes its place."""
        parts = {name: getattr(self, name).state_dict() for name in ("model", "average", "optimizer")}
        partial = path.with_suffix(".part")
        torch.save({**parts, "step": self.step, "turn": self.turn, "taken": self.taken, "stage": self.stage}, partial)
        os.replace(partial, path)

    def stage_now(self):
        """The sets that this step draws from."""
        if self.step < EARLY_SHARE * self.options.steps:
            return "early"
        return "late" if self.options.late_data and self.step >= (1 - LATE_SHARE) * self.options.steps else "middle"

    def begin_turn(self, stage):
        """Puts all utterances of a stage into batches, in the random order of this turn."""
        self.stage, self.taken = stage, 0
        self.batches = self.corpora[stage].batches(self.options.frames, random.Random(f"turn {self.options.seed} {self.turn}"))

    def next_batch(self, chance):
        """The features and texts of this step. When all were taken, or the stage changes, a new turn begins."""
        stage = self.stage_now()
        if self.taken == len(self.batches) or stage != self.stage:
            self.turn += 1
            self.begin_turn(stage)
        numbers = self.batches[self.taken]
        self.taken += 1
        last = self.step >= (1 - LAST_SHARE) * self.options.steps
        self.model.dropout.p = LAST_DROPOUT if last else DROPOUT
        share = 0.0 if last or stage == "early" else MASK_SHARE
        return self.corpora[stage].batch(numbers, chance, self.model.mean.numpy(), share)

    def rate(self):
        """The learning rate: it rises in the first steps, then falls as a cosine."""
        rise = min(1, (self.step + 1) / WARM_UP_STEPS)
        return self.options.rate * rise * (0.5 + 0.5 * math.cos(math.pi * self.step / self.options.steps))

    def advance(self):
        """One step; returns its loss."""
        torch.manual_seed(self.options.seed * 10_000_000 + self.step)
        features, outputs, texts, lengths = self.next_batch(random.Random(f"step {self.options.seed} {self.step}"))
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate()
        self.model.train()
        scores = self.model(features)
        loss = functional.ctc_loss(scores.transpose(0, 1), texts, outputs, lengths, blank=BLANK, zero_infinity=True)
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
        self.optimizer.step()
        update_average(self.average, self.model, self.step)
        self.step += 1
        return loss.item()


def update_average(average, model, step):
    """A running mean over about the last five hundred steps, fewer at the beginning."""
    keep = min(0.998, (step + 1) / (step + 10))
    with torch.no_grad():
        for kept, new in zip(average.parameters(), model.parameters()):
            kept.mul_(keep).add_(new, alpha=1 - keep)


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


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path, help="the averaged weights; the checkpoint has the same name and the ending .checkpoint")
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="sets of generate.py, in this order")
    parser.add_argument("--late-data", type=Path, nargs="*", default=[], help="sets for the last third of the steps")
    parser.add_argument("--held-out", type=Path, required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--stop", type=int, help="end after this step, as if the run had been killed")
    parser.add_argument("--rate", type=float, default=1.2e-3, help="highest learning rate")
    parser.add_argument("--hidden", type=int, default=HIDDEN)
    parser.add_argument("--frames", type=int, default=9000, help="frames in a batch")
    parser.add_argument("--check-steps", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def main():
    options = parse_options()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    run, held_out = Run(options), Corpus([options.held_out])
    checkpoint = options.model.with_suffix(".checkpoint")
    if checkpoint.exists():
        run.restore(checkpoint)
        print(f"continues after step {run.step}", flush=True)
    start, first, losses = time.time(), run.step, []
    while run.step < options.steps:
        losses.append(run.advance())
        if run.step % 100 == 0:
            pace = (time.time() - start) / (run.step - first)
            print(f"step {run.step}, loss {sum(losses) / len(losses):.3f}, {1000 * pace:.0f} ms a step", flush=True)
            losses = []
        if run.step % options.check_steps == 0 or run.step in (options.steps, options.stop):
            run.keep(checkpoint)
            save(run.average, options.model)
            words, letters = check(run.average, held_out)
            print(f"held out: {100 * words:.1f} % of words wrong, {100 * letters:.1f} % of letters", flush=True)
        if run.step == options.stop:
            break


if __name__ == "__main__":
    main()
