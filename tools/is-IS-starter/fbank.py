"""Kaldi's log-mel filter banks as the recognizer computes them: 16 kHz, samples in -1..1, 80 bins of 20 to 7600 Hz, frames of 25 ms
every 10 ms, centered (snip_edges=false), Povey window, pre-emphasis 0.97, without the DC offset."""

import numpy as np

RATE, LENGTH, SHIFT, FFT, BINS = 16000, 400, 160, 512, 80
FLOOR = np.float32(1.1920929e-07)
SILENCE = float(np.log(FLOOR))  # a bin of digital silence
WINDOW = np.power(0.5 - 0.5 * np.cos(2 * np.pi * np.arange(LENGTH) / (LENGTH - 1)), 0.85).astype(np.float32)


def mel(hertz):
    return 1127.0 * np.log(1.0 + hertz / 700.0)


def triangles(low=20.0, high=7600.0):
    """The weights of the power spectrum in every bin: [257, 80]."""
    first, step = mel(low), (mel(high) - mel(low)) / (BINS + 1)
    at = mel(np.arange(FFT // 2) * RATE / FFT)
    weights = np.zeros((FFT // 2 + 1, BINS), np.float32)
    for number in range(BINS):
        left = first + number * step
        rising, falling = (at - left) / step, (left + 2 * step - at) / step
        weights[: FFT // 2, number] = np.maximum(0, np.minimum(rising, falling))
    return weights


TRIANGLES = triangles()


def fbank(samples):
    """Samples to [frames, 80]; the signal is mirrored at both ends."""
    count = len(samples)
    starts = np.arange((count + SHIFT // 2) // SHIFT) * SHIFT + SHIFT // 2 - LENGTH // 2
    at = starts[:, None] + np.arange(LENGTH)[None]
    at = np.where(at < 0, -at - 1, at)
    at = np.where(at >= count, 2 * count - 1 - at, at)
    frames = np.asarray(samples, np.float32)[np.clip(at, 0, count - 1)]
    frames = frames - frames.mean(1, keepdims=True)
    emphasized = np.empty_like(frames)
    emphasized[:, 1:] = frames[:, 1:] - 0.97 * frames[:, :-1]
    emphasized[:, 0] = frames[:, 0] * (1 - 0.97)
    power = np.abs(np.fft.rfft(emphasized * WINDOW, FFT, axis=1)).astype(np.float32) ** 2
    return np.log(np.maximum(power @ TRIANGLES, FLOOR))
