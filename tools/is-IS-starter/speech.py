"""Speech from espeak-ng, and what happens to it on its way to a microphone. Samples are 16 kHz, -1..1."""

import subprocess

import numpy as np
from scipy.signal import butter, fftconvolve, resample_poly, sosfilt

RATE = 16000
# espeak-ng silently falls back to the plain voice when it lacks a variant: these are of Debian's
# 1.51.
TRAINING_VOICES = (
    "m1 m2 m3 m4 m5 m6 m8 f1 f2 f3 f5 klatt klatt2 klatt3 klatt5 klatt6 Gene2 adam Alex Alicia Andrea Andy Annie antonio aunty belinda "
    "benjamin boris caleb david Denis Diogo ed edward edward2 grandma grandpa gustave Henrique Hugo iven2 iven3 iven4 john kaukovalta "
    "Lee linda marcelo Marco Mario max michel miguel Mike Nguyen pablo paul pedro quincy RicishayMax rob robert sandro shelby steph "
    "steph2 travis victor zac"
).split()
HELD_OUT_VOICES = "m7 f4 klatt4 Gene anika norbert steph3 Jacky Michael iven".split()


def speak(text, voice="", pitch=50, speed=175, amplitude=100, gap=0):
    """The text as espeak-ng's Icelandic voice says it, in one of its variants."""
    name = f"is+{voice}" if voice else "is"
    wave = subprocess.run(
        ["espeak-ng", "-v", name, "-p", str(pitch), "-s", str(speed), "-a", str(amplitude), "-g", str(gap), "--stdout", text],
        capture_output=True, check=True,
    ).stdout
    samples = np.frombuffer(wave[44:], dtype="<i2").astype(np.float32) / 32768
    return resample_poly(samples, 320, 441).astype(np.float32)


def trimmed(samples, threshold=0.003):
    """Removes the silence at both ends."""
    loud = np.flatnonzero(np.abs(samples) > threshold)
    return samples[loud[0] : loud[-1] + 1] if len(loud) else samples


def padded(samples, lead_seconds, tail_seconds):
    """Adds silence at both ends."""
    return np.pad(samples, (int(lead_seconds * RATE), int(tail_seconds * RATE)))


def reverberated(samples, random):
    """Adds a room whose echo dies away in 0.1 to 0.5 s."""
    length = int(random.uniform(0.08, 0.5) * RATE)
    room = random.standard_normal(length) * np.exp(-6.9 * np.arange(length) / length) * random.uniform(0.02, 0.12)
    room[0] = 1
    return fftconvolve(samples, room)[: len(samples)]


def band_limited(samples, random):
    """Sounds as through a small loudspeaker, a poor microphone or a telephone."""
    if random.random() < 0.4:
        telephone = resample_poly(resample_poly(samples, 1, 2), 2, 1)[: len(samples)]
        band = butter(2, [random.uniform(150, 320), random.uniform(3300, 3700)], "band", fs=RATE, output="sos")
        return sosfilt(band, telephone)
    return sosfilt(butter(2, [random.uniform(60, 350), random.uniform(3200, 7500)], "band", fs=RATE, output="sos"), samples)


def noisy(samples, random, ratio_low=8, ratio_high=45):
    """Adds noise between white and brown, now and then with a hum, at a signal-to-noise ratio in dB drawn evenly."""
    noise = random.standard_normal(len(samples))
    kind = random.random()
    if kind < 0.6:
        spectrum = np.fft.rfft(noise)
        slope = np.maximum(np.arange(len(spectrum)), 8) ** random.uniform(0.2, 0.9)
        noise = np.fft.irfft(spectrum / slope, len(samples))
    elif kind < 0.7:
        noise = noise + 3 * np.sin(2 * np.pi * random.choice([50, 60, 100, 120]) * np.arange(len(samples)) / RATE)
    ratio = 10 ** (random.uniform(ratio_low, ratio_high) / 10)
    return samples + noise * np.sqrt(np.mean(samples**2) / ratio / np.mean(noise**2))


def through_the_air(samples, random):
    """Applies room, microphone, noise, level and clipping, each by chance."""
    if random.random() < 0.35:
        samples = reverberated(samples, random)
    if random.random() < 0.3:
        samples = band_limited(samples, random)
    if random.random() < 0.3:
        samples = np.append(samples[:1], samples[1:] - random.uniform(-0.5, 0.5) * samples[:-1])
    if random.random() < 0.75:
        samples = noisy(samples, random)
    samples = samples / (np.max(np.abs(samples)) + 1e-6) * 10 ** (random.uniform(-30, -0.5) / 20)
    if random.random() < 0.08:
        samples = samples * random.uniform(1, 2.5)
    return in_sixteen_bits(samples)


def in_sixteen_bits(samples):
    """Rounds samples to 16 bits, as in a file or a stream."""
    return (np.round(np.clip(samples, -1, 1) * 32767) / 32768).astype(np.float32)
