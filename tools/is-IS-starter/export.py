"""Writes a checkpoint as model.onnx (a stream, as NeMo exports a CTC model) and tokens.txt and words.txt into one folder, and as
model.onnx (whole utterances, as Icefall exports a zipformer with CTC) into another. sherpa-onnx reads both layouts too."""

import argparse
from pathlib import Path

import onnx
import torch
import torch.nn.functional as functional
from torch import nn

from corpus import FLUSH_FRAMES
from fbank import SILENCE
from model import RECEPTIVE_FRAMES, STRIDE, SYMBOLS, load, outputs_of
from utterances import vocabulary

WINDOW_OUTPUTS = 4
WINDOW_FRAMES = RECEPTIVE_FRAMES + STRIDE * (WINDOW_OUTPUTS - 1)
SHIFT_FRAMES = STRIDE * WINDOW_OUTPUTS
COMMENT = "Icelandic starter model of Hlust, trained on synthetic speech only"


class Streaming(nn.Module):
    """One window: frames [B, 80, 25], lengths [B], the states of the GRUs in the two caches [B, 1, 1, hidden], their length [B]."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, frames, lengths, cache1, cache2, cache_lengths):
        scores, next1, next2 = self.model.stream(frames.transpose(1, 2), cache1.flatten(1), cache2.flatten(1))
        return scores, outputs_of(lengths), next1[:, None, None], next2[:, None, None], cache_lengths + lengths


class Whole(nn.Module):
    """Whole utterances: frames [B, T, 80], lengths [B]."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, frames, lengths):
        scores = self.model(functional.pad(frames, (0, 0, 0, FLUSH_FRAMES), value=SILENCE))
        return scores, torch.clamp((lengths - 1) // STRIDE + 1, max=scores.shape[1])


def export(module, inputs, path, input_names, output_names, dynamic_axes, metadata):
    """Runs torch's exporter, then sets the metadata."""
    torch.onnx.export(
        module, inputs, str(path), opset_version=13, input_names=input_names, output_names=output_names, dynamic_axes=dynamic_axes
    )
    graph = onnx.load(str(path))
    assert [each.name for each in graph.graph.input] == input_names
    del graph.metadata_props[:]
    onnx.helper.set_model_props(graph, {key: str(value) for key, value in {**metadata, "language": "is", "comment": COMMENT}.items()})
    onnx.checker.check_model(graph)
    onnx.save(graph, str(path))
    print(path, path.stat().st_size, "bytes")


def export_streaming(model, path):
    frames = torch.randn(2, 80, WINDOW_FRAMES) * 3 - 8
    lengths, zero = torch.full((2,), WINDOW_FRAMES, dtype=torch.int64), torch.zeros(2, dtype=torch.int64)
    inputs = ["audio_signal", "length", "cache_last_channel", "cache_last_time", "cache_last_channel_len"]
    outputs = ["logprobs", "encoded_lengths"] + [f"{name}_next" for name in inputs[2:]]
    metadata = {
        "model_type": "EncDecCTCModel", "window_size": WINDOW_FRAMES, "chunk_shift": SHIFT_FRAMES, "subsampling_factor": STRIDE,
        "vocab_size": len(SYMBOLS) - 1, "normalize_type": "",
    }
    for cache in inputs[2:4]:
        metadata.update({f"{cache}_dim1": 1, f"{cache}_dim2": 1, f"{cache}_dim3": model.hidden})
    cache = torch.zeros(2, 1, 1, model.hidden)
    export(
        Streaming(model), (frames, lengths, cache, cache.clone(), zero), path, inputs, outputs,
        {name: {0: "B"} for name in inputs + outputs}, metadata,
    )


def export_whole(model, path):
    inputs, outputs = ["x", "x_lens"], ["log_probs", "log_probs_len"]
    axes = {"x": {0: "N", 1: "T"}, "x_lens": {0: "N"}, "log_probs": {0: "N", 1: "T_out"}, "log_probs_len": {0: "N"}}
    metadata = {"model_type": "zipformer2_ctc", "subsampling_factor": STRIDE, "vocab_size": len(SYMBOLS)}
    export(Whole(model), (torch.randn(1, 200, 80) * 3 - 8, torch.tensor([200])), path, inputs, outputs, axes, metadata)


def write_lines(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("streaming", type=Path, help="folder of the streaming model")
    parser.add_argument("whole", type=Path, help="folder of the whole-utterance model")
    options = parser.parse_args()
    model = load(options.checkpoint).eval()
    for folder in (options.streaming, options.whole):
        folder.mkdir(parents=True, exist_ok=True)
    export_streaming(model, options.streaming / "model.onnx")
    export_whole(model, options.whole / "model.onnx")
    write_lines(options.streaming / "tokens.txt", (f"{'▁' if symbol == ' ' else symbol} {number}" for number, symbol in enumerate(SYMBOLS)))
    write_lines(options.streaming / "words.txt", vocabulary())


if __name__ == "__main__":
    main()
