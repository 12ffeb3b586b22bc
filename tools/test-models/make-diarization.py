"""Makes the two models of test/models/diarization: small, but in the layouts that real ones have, and
good enough to distinguish voices of espeak-ng and flite.

segmentation.onnx: pyannote's layout with one speaker per window: its loudness. Windows are short, so
that most of them have one voice only; the embeddings identify it.
embedding.onnx: WeSpeaker's layout: mean and deviation of each filter bank over the loud frames, turned
by linear discriminant analysis to what differs most between 70 voices and least within one.

Debian 12: apt-get install python3-numpy python3-onnx espeak-ng flite. Takes about two minutes.
Run: nice -n 19 /usr/bin/python3 tools/test-models/make-diarization.py test/models/diarization
"""
import io
import os
import subprocess
import sys
import tempfile
import wave

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

RATE, FRAME, SHIFT, FFT, BANDS = 16000, 400, 160, 512, 80
SEGMENT_WINDOW = 24000
DIMENSIONS = 24
SENTENCES = [
    "The weather is good today and we will go to the sea in the morning.",
    "Seven men walked slowly over the old bridge while the rain was falling.",
    "Please send me the figures for the last quarter as soon as you have them.",
    "She had never seen so many birds in one place before that summer.",
    "I do not think that this is the right way to the station, sorry.",
    "Two hundred and forty five people came to the meeting on Thursday.",
    "Bring your own cup, a warm coat, and something to write with.",
    "How long have you been waiting here, and why did nobody call us?",
]
VARIANTS = (
    "m1 m2 m3 m4 m5 m6 m7 m8 f1 f2 f3 f4 f5 klatt klatt2 klatt3 klatt4 klatt5 adam Alex Alicia Andrea Andy anika antonio belinda "
    "benjamin boris caleb david Denis Diogo ed edward Gene Gene2 Henrique Hugo Jacky john Lee linda marcelo Marco Mario max norbert "
    "pablo paul pedro quincy rob robert sandro shelby steph steph2 steph3 travis victor grandma grandpa aunty"
).split()
FLITE = ["slt", "rms", "awb", "kal", "kal16"]


def read_wav(data):
    with wave.open(io.BytesIO(data)) as file:
        rate = file.getframerate()
        samples = np.frombuffer(file.readframes(1 << 30), "<i2").astype(np.float64) / 32768
    at = np.arange(int(len(samples) * RATE / rate)) * rate / RATE
    return np.interp(at, np.arange(len(samples)), samples).astype(np.float32)


def say(engine, voice, text):
    if engine == "flite":
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "said.wav")
            subprocess.run(["flite", "-voice", voice, "-t", text, "-o", path], check=True)
            with open(path, "rb") as file:
                return read_wav(file.read())
    spoken = subprocess.run(["espeak-ng", "-v", voice, "--stdout", text], check=True, capture_output=True)
    data = bytearray(spoken.stdout)
    # The header of a file that is written to a pipe has no lengths.
    data[4:8] = (len(data) - 8).to_bytes(4, "little")
    data[40:44] = (len(data) - 44).to_bytes(4, "little")
    return read_wav(bytes(data))


def filter_banks():
    mel = lambda hertz: 1127 * np.log(1 + hertz / 700)
    low, high = mel(20.0), mel(RATE / 2 - 400.0)
    width = (high - low) / (BANDS + 1)
    bins = mel(np.arange(FFT // 2 + 1) * RATE / FFT)
    centers = low + width * (1 + np.arange(BANDS))
    banks = np.maximum(0, 1 - np.abs(bins[:, None] - centers) / width)
    banks[FFT // 2] = 0
    return banks


BANKS = filter_banks()
POVEY = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(FRAME) / (FRAME - 1))) ** 0.85


def features(samples):
    """What the library computes of samples from -1 to 1, as Kaldi does."""
    count = (len(samples) + SHIFT // 2) // SHIFT
    at = (np.arange(count) * SHIFT + SHIFT // 2 - FRAME // 2)[:, None] + np.arange(FRAME)
    at = np.where(at < 0, -at - 1, at)
    at = np.where(at >= len(samples), 2 * len(samples) - 1 - at, at)
    frames = samples[np.clip(at, 0, len(samples) - 1)]
    frames = frames - frames.mean(1, keepdims=True)
    frames = np.concatenate([frames[:, :1] * 0.03, frames[:, 1:] - 0.97 * frames[:, :-1]], 1) * POVEY
    power = np.abs(np.fft.rfft(frames, FFT)) ** 2
    return np.log(np.maximum(power @ BANKS, 1.1920929e-07))


def statistics(x):
    """The features as embedding.onnx computes them: over frames that are not much quieter than the loudest."""
    level = x.mean(1)
    weight = 1 / (1 + np.exp(-(level - level.max() + 6) * 2))
    weight = (weight / weight.sum())[:, None]
    mean = (x * weight).sum(0)
    deviation = np.sqrt(((x - mean) ** 2 * weight).sum(0) + 1e-5)
    return np.concatenate([mean, deviation])


def learn():
    chance = np.random.default_rng(1)
    voices = [("flite", voice) for voice in FLITE]
    voices += [("espeak", f"{language}+{each}") for each in VARIANTS for language in ("en", "is")]
    classes = {}
    for engine, voice in voices:
        person = voice.split("+")[-1]
        for text in SENTENCES:
            samples = say(engine, voice, text)
            for _ in range(6):
                length = int(chance.uniform(0.8, 2.5) * RATE)
                if len(samples) <= length:
                    continue
                start = chance.integers(0, len(samples) - length)
                gain = 10 ** (chance.uniform(-20, 6) / 20)
                part = samples[start : start + length] * gain
                part = part + chance.standard_normal(length) * 10 ** chance.uniform(-4.5, -3.5)
                classes.setdefault(person, []).append(statistics(features(part)))
    print(len(classes), "voices,", sum(map(len, classes.values())), "samples", flush=True)
    groups = [np.array(group) for group in classes.values()]
    middle = np.mean([group.mean(0) for group in groups], 0)
    within = np.mean([np.cov(group.T) for group in groups], 0)
    between = np.cov(np.array([group.mean(0) for group in groups]).T)
    within += np.eye(len(middle)) * 0.02 * np.trace(within) / len(middle)
    # Whitens what varies within a voice, then turns to what varies most between voices.
    values, vectors = np.linalg.eigh(within)
    white = vectors / np.sqrt(values)
    values, vectors = np.linalg.eigh(white.T @ between @ white)
    return middle, white @ vectors[:, ::-1][:, :DIMENSIONS]


def save(path, nodes, inputs, outputs, constants, metadata):
    graph = helper.make_graph(
        nodes,
        "model",
        inputs,
        outputs,
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    helper.set_model_props(model, {key: str(value) for key, value in metadata.items()})
    onnx.checker.check_model(model)
    onnx.save(model, path)
    print(path, os.path.getsize(path), "bytes")


def make_embedding(path):
    middle, turn = learn()
    node = helper.make_node
    nodes = [
        node("ReduceMean", ["x"], ["level"], axes=[2], keepdims=1),
        node("ReduceMax", ["level"], ["loudest"], axes=[1], keepdims=1),
        node("Sub", ["level", "loudest"], ["below"]),
        node("Add", ["below", "six"], ["above"]),
        node("Mul", ["above", "two"], ["steep"]),
        node("Sigmoid", ["steep"], ["loud"]),
        node("ReduceSum", ["loud", "time"], ["total"], keepdims=1),
        node("Div", ["loud", "total"], ["weight"]),
        node("Mul", ["x", "weight"], ["weighted"]),
        node("ReduceSum", ["weighted", "time"], ["mean"], keepdims=1),
        node("Sub", ["x", "mean"], ["away"]),
        node("Mul", ["away", "away"], ["square"]),
        node("Mul", ["square", "weight"], ["weighted square"]),
        node("ReduceSum", ["weighted square", "time"], ["variance"], keepdims=1),
        node("Add", ["variance", "least"], ["positive"]),
        node("Sqrt", ["positive"], ["deviation"]),
        node("Concat", ["mean", "deviation"], ["both"], axis=2),
        node("Squeeze", ["both", "time"], ["statistics"]),
        node("Sub", ["statistics", "middle"], ["centered"]),
        node("MatMul", ["centered", "turn"], ["embedding"]),
    ]
    number = lambda value: np.array(value, np.float32)
    save(
        path,
        nodes,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", "T", BANDS])],
        [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["N", DIMENSIONS])],
        {
            "six": number(6),
            "two": number(2),
            "least": number(1e-5),
            "time": np.array([1], np.int64),
            "middle": middle.astype(np.float32),
            "turn": turn.astype(np.float32),
        },
        {
            "framework": "wespeaker",
            "language": "English",
            "output_dim": DIMENSIONS,
            "sample_rate": RATE,
            "normalize_samples": 1,
            "comment": "a test model: voices of espeak-ng and flite",
        },
    )


def make_segmentation(path):
    """Speech is audio that is louder than -50 dB within 50 ms: one speaker or none, a frame each 10 ms."""
    node = helper.make_node
    nodes = [
        node("Mul", ["x", "x"], ["power"]),
        node("AveragePool", ["power"], ["mean"], kernel_shape=[800], strides=[SHIFT], pads=[320, 320]),
        node("Sub", ["mean", "floor"], ["above"]),
        node("Mul", ["above", "scale"], ["speech"]),
        node("Neg", ["speech"], ["silence"]),
        node("Concat", ["silence", "speech"], ["both"], axis=1),
        node("Transpose", ["both"], ["y"], perm=[0, 2, 1]),
    ]
    save(
        path,
        nodes,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 1, "T"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", "frames", 2])],
        {"floor": np.array(1e-5, np.float32), "scale": np.array(1e5, np.float32)},
        {
            "model_type": "pyannote-segmentation-3.0",
            "sample_rate": RATE,
            "window_size": SEGMENT_WINDOW,
            "receptive_field_size": 160,
            "receptive_field_shift": SHIFT,
            "num_speakers": 1,
            "powerset_max_classes": 1,
            "num_classes": 2,
            "comment": "a test model: loudness",
        },
    )


if __name__ == "__main__":
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    make_segmentation(os.path.join(folder, "segmentation.onnx"))
    make_embedding(os.path.join(folder, "embedding.onnx"))
