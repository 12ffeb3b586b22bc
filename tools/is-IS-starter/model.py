"""The network: two strided convolutions (13 frames seen, one output for 4 frames), two GRUs, one linear layer to the symbols, CTC."""

import torch
import torch.nn.functional as functional
from torch import nn

from recurrent import recurrence

SYMBOLS = [" "] + list("aábcdðeéfghiíjklmnoóprstuúvxyýzþæöqw") + ["<blk>"]
ID = {symbol: number for number, symbol in enumerate(SYMBOLS)}
BLANK = len(SYMBOLS) - 1
RECEPTIVE_FRAMES, STRIDE = 13, 4
HIDDEN, CHANNELS = 288, (64, 160)


def outputs_of(frames):
    """How many outputs this many frames give."""
    return (frames - RECEPTIVE_FRAMES) // STRIDE + 1


class Model(nn.Module):
    """No convolution is padded: a stream runs over overlapping windows and carries over the states of the GRUs, nothing else."""

    def __init__(self, hidden=HIDDEN, channels=CHANNELS):
        super().__init__()
        self.hidden, self.channels = hidden, tuple(channels)
        self.register_buffer("mean", torch.zeros(80))
        self.register_buffer("scale", torch.ones(80))
        self.conv1 = nn.Conv1d(80, channels[0], 5, 2)
        self.conv2 = nn.Conv1d(channels[0], channels[1], 5, 2)
        self.gru1 = nn.GRU(channels[1], hidden, batch_first=True)
        self.gru2 = nn.GRU(hidden, hidden, batch_first=True)
        self.dropout = nn.Dropout(0.1)
        self.out = nn.Linear(hidden, len(SYMBOLS))

    def front(self, frames):
        """[batch, frames, 80] to [batch, outputs, channels]."""
        x = ((frames - self.mean) * self.scale).transpose(1, 2)
        return functional.relu(self.conv2(functional.relu(self.conv1(x)))).transpose(1, 2)

    def forward(self, frames):
        """Log probabilities [batch, outputs, symbols] of whole utterances. Training takes the fast layers of recurrent.py."""
        run = recurrence if self.training else lambda layer, inputs: layer(inputs)[0]
        x = run(self.gru1, self.dropout(self.front(frames)))
        x = run(self.gru2, self.dropout(x))
        return functional.log_softmax(self.out(self.dropout(x)), -1)

    def stream(self, frames, state1, state2):
        """Log probabilities of one window, and the states [batch, hidden] after it."""
        x, next1 = self.gru1(self.front(frames), state1[None])
        x, next2 = self.gru2(x, state2[None])
        return functional.log_softmax(self.out(x), -1), next1[0], next2[0]


def save(model, path):
    """The weights, with the sizes that load() needs."""
    torch.save({"weights": model.state_dict(), "hidden": model.hidden, "channels": model.channels}, path)


def load(path):
    """The model of save()."""
    kept = torch.load(path, map_location="cpu")
    model = Model(kept["hidden"], kept["channels"])
    model.load_state_dict(kept["weights"])
    return model


def greedy(log_probabilities):
    """The text of the likeliest symbol of every output."""
    best = log_probabilities.argmax(-1).tolist()
    kept = [now for before, now in zip([None] + best, best) if now != before and now != BLANK]
    return " ".join("".join(SYMBOLS[each] for each in kept).split())
