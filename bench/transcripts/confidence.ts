// Measures what the confidences of words cost: eight hours of words with and without them.
//
// Usage: npm run bench:transcripts -- --only confidence
import { zstdCompressSync } from "node:zlib";
import { TranscriptSchema } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { takeSegments } from "../../src/transcripts/read-segments.ts";
import { zstdOptions } from "../../src/transcripts/segments.ts";
import { wireSegments } from "../../src/transcripts/wire-segments.ts";
import { longSegments } from "../../test/fixtures/long-transcript.ts";
import type { Figure } from "../report.ts";

const rounds = 15;

/** Returns the ratios of the sizes and of the CPU times of a transcript of eight hours. */
export function runConfidence(): Figure[] {
  const plain = Buffer.from(JSON.stringify(storedForm(() => undefined)));
  let state = 7;
  const confidence = (): number => {
    state = (state * 48_271) % 2_147_483_647;
    // Most words are clear, as in the results of the engines.
    return Math.round(1000 * Math.sqrt(Math.sqrt(state / 2_147_483_647))) / 1000;
  };
  const sure = Buffer.from(JSON.stringify(storedForm(confidence)));
  const zstd = [plain, sure].map((json) => zstdCompressSync(json, zstdOptions));
  const sizes = [plain.length, sure.length, ...zstd.map(({ length }) => length)];
  const [plainBytes = 0, sureBytes = 0, plainZstd = 0, sureZstd = 0] = sizes;
  const read = leastCpuMs([plain, sure], (json) => takeFrom(json));
  const wire = leastCpuMs([plain, sure], (json, index) =>
    wireSegments({ jsonZstd: zstd[index] ?? Buffer.alloc(0), jsonBytes: json.length }),
  );
  const figure = (
    name: string,
    [one = NaN, other = NaN]: number[],
    ratioMax: number,
    unit: string,
  ) => ({
    name,
    ratio: other / one,
    ratioMax,
    note: `${one.toFixed(1)} ${unit} without, ${other.toFixed(1)} ${unit} with`,
  });
  return [
    figure("72,000 words, JSON", [plainBytes / 1e6, sureBytes / 1e6], 1.35, "MB"),
    figure("72,000 words, stored", [plainZstd / 1e3, sureZstd / 1e3], 1.6, "kB"),
    figure("72,000 words, read, checked and packed", read, 1.4, "ms"),
    figure("72,000 words, written as Protobuf", wire, 1.5, "ms"),
  ];
}

function storedForm(confidence: () => number | undefined) {
  return longSegments(72_000).map((segment) => ({
    ...segment,
    words: segment.words.map((word) => ({ ...word, confidence: confidence() })),
    speakerId: "",
  }));
}

function takeFrom(json: Uint8Array): void {
  const bytes = Buffer.concat([Buffer.from('{"segments":'), json, Buffer.from("}")]);
  const path = [TranscriptSchema.field.segments];
  const taken = takeSegments({ bytes, path, format: "json", isStrict: true }, false);
  if (!("list" in taken) || "violations" in taken.list) throw new Error("was not read");
}

/** Runs alternating rounds, and returns the least CPU time for each input. */
function leastCpuMs(
  inputs: readonly Buffer[],
  run: (json: Buffer, index: number) => void,
): number[] {
  const least = inputs.map(() => Infinity);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, json] of inputs.entries()) {
      const before = process.cpuUsage();
      run(json, index);
      const { user, system } = process.cpuUsage(before);
      least[index] = Math.min(least[index] ?? Infinity, (user + system) / 1000);
    }
  }
  return least;
}
