"""Makes the starter model from nothing: data, training, figures, export. Killed and started again, it continues where it was. Only with
--install are models/is-IS-starter and test/models/is-IS-whole replaced; otherwise the exports stay in the folder."""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

TOOLS = Path(__file__).resolve().parent
ROOT = TOOLS.parent.parent
STEPS, SEED = 22000, 1
SET_COUNT = 8000
# The sets of utterances: seed, share of the plain voice, of texts with made words, of lists.
# Training begins with the first two, and has the last one only in its last third.
SETS = {
    "training-1": (101, 0.85, 0.25, 0.2), "training-2": (102, 0.85, 0.25, 0.2), "training-3": (103, 0.6, 0.25, 0.2),
    "training-4": (104, 0.6, 0.25, 0.2), "training-5": (105, 0.6, 0.25, 0.2), "training-6": (106, 0.6, 0.25, 0.2),
    "training-7": (107, 0.75, 0.05, 0.15),
}


def surroundings():
    """One thread, because the products are small and a sum over threads has no fixed order; the kernels of OpenBLAS that fit the processor,
    because Debian's version treats a newer one as very old."""
    wide = "avx512bw" in Path("/proc/cpuinfo").read_text(encoding="utf-8")
    return {
        **os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OPENBLAS_CORETYPE": "SkylakeX" if wide else "Haswell",
        "PYTHONHASHSEED": "0",
    }


def run(script, *arguments, output=None):
    """Runs a script of this folder; prints what it prints, or writes it to a file."""
    command = [sys.executable, str(TOOLS / script), *map(str, arguments)]
    if output is None:
        subprocess.run(command, check=True, env=surroundings())
        return
    with open(output, "w", encoding="utf-8") as file:
        subprocess.run(command, check=True, env=surroundings(), stdout=file)
    print(output.read_text(encoding="utf-8"), end="")


def generate(folder):
    """The sets of training, and the set that training is checked with."""
    for name, (seed, plain_share, made_share, lists_share) in SETS.items():
        run(
            "generate.py", "training", folder / name, "--count", SET_COUNT, "--seed", seed, "--plain-share", plain_share,
            "--made-share", made_share, "--lists-share", lists_share,
        )
    run("generate.py", "held-out", folder / "held-out", "--count", 100, "--seed", 900, "--made-share", 0)
    return [folder / name for name in SETS]


def update_card(path):
    """Writes sizes and sums of the files into a model.json, whose form stays as it is."""
    text = path.read_text(encoding="utf-8")
    for file in json.loads(text)["files"].values():
        content = (path.parent / file["path"]).read_bytes()
        text = text.replace(file["sha256"], hashlib.sha256(content).hexdigest())
        text = re.sub(rf'("path": "{re.escape(file["path"])}",\s*"bytes": )\d+', rf"\g<1>{len(content)}", text)
    path.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="for data, checkpoints and exports: 3 GB")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--install", action="store_true", help="export into the repository; then run its tests")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    sets, model = generate(options.folder), options.folder / "model.pt"
    run(
        "train.py", model, "--data", *sets[:-1], "--late-data", sets[-1], "--held-out", options.folder / "held-out",
        "--steps", options.steps, "--seed", SEED,
    )
    streaming, whole = options.folder / "is-IS-starter", options.folder / "is-IS-whole"
    if options.install:
        streaming, whole = ROOT / "models" / "is-IS-starter", ROOT / "test" / "models" / "is-IS-whole"
    run("export.py", model, streaming, whole)
    if options.install:
        for folder in (streaming, whole):
            update_card(folder / "model.json")
    run("evaluate.py", streaming / "model.onnx", streaming / "words.txt", output=options.folder / "figures.txt")


if __name__ == "__main__":
    main()
