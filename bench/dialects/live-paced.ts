import { setTimeout as sleep } from "node:timers/promises";
import { bytesOfSamples } from "../../src/engines/protocol/engine-frames.ts";
import { openDialectStream } from "../../test/dialects/dialect-stream.ts";
import type { ServiceProcess } from "../../test/fault/process.ts";
import { espeak, joined, silence } from "../../test/fixtures/flite.ts";
import { openStream, streamingConfig } from "../../test/spec/stream.ts";
import type { Figure } from "../report.ts";
import { cpuMsOf } from "./cpu-of-threads.ts";
import { withService } from "./transcribe.ts";

/** A live chunk of a dialect costs no more than the same over our own socket. */
const ratioMax = 1;
const streams = 20;
const chunkMs = 50;
const chunkBytes = 32 * chunkMs;

/** Sends one chunk of audio. */
type Send = (chunk: Buffer) => void;
type Open = (service: ServiceProcess) => Promise<{ send: Send; end: () => Promise<unknown> }>;

/**
 * Compares the CPU time that the main process takes for a chunk of 50 ms at real time: each chunk
 * wakes the process, and Vosk's protocol answers each. The kinds take turns.
 */
export async function measurePaced(options: {
  readonly rounds: number;
  readonly seconds: number;
}): Promise<Figure[]> {
  const { rounds, seconds } = options;
  return await withService({ HLUST_ENGINE: "scripted" }, async (service) => {
    const said = joined(espeak("við hittumst á kaffihúsinu"), silence(1_000));
    const audio = Buffer.from(bytesOfSamples(joined(...Array.from({ length: 40 }, () => said))));
    const kinds: readonly (readonly [name: string, open: Open])[] = [
      ["our socket", openOwn],
      ["Deepgram's socket", openDeepgram],
      ["Vosk's socket", openVosk],
    ];
    const sums = kinds.map(() => 0);
    const chunks = (1000 * seconds) / chunkMs;
    // The first rounds take longer and are not measured.
    for (let round = -1; round < rounds; round += 1) {
      for (const [at, [, open]] of kinds.entries()) {
        const all = await Promise.all(Array.from({ length: streams }, () => open(service)));
        const before = await cpuMsOf(service.pid);
        await pace(all, audio, chunks);
        const spent = (await cpuMsOf(service.pid)) - before;
        if (round >= 0) sums[at] = (sums[at] ?? 0) + spent;
        await Promise.all(all.map(({ end }) => end()));
      }
    }
    const us = (at: number) => (1000 * (sums[at] ?? NaN)) / (rounds * chunks * streams);
    return kinds.slice(1).map(([name], at) => ({
      name: `a chunk at real time over ${name}, of our socket's`,
      ratio: us(at + 1) / us(0),
      ratioMax,
      note: `${us(at + 1).toFixed(0)} and ${us(0).toFixed(0)} us of CPU of the main process for ${chunkMs} ms, ${streams} sockets`,
    }));
  });
}

/** Sends the audio in chunks at real time, spread over the interval. */
async function pace(all: readonly { send: Send }[], audio: Buffer, chunks: number): Promise<void> {
  const startMs = performance.now();
  for (let sent = 0; sent < chunks * all.length; sent += 1) {
    const due = startMs + (sent * chunkMs) / all.length;
    const waitMs = due - performance.now();
    if (waitMs > 1) await sleep(waitMs);
    const from = (Math.floor(sent / all.length) * chunkBytes) % (audio.length - chunkBytes);
    all[sent % all.length]?.send(audio.subarray(from, from + chunkBytes));
  }
}

const openOwn: Open = async ({ address, key }) => {
  const stream = await openStream(address, { token: key });
  stream.send(streamingConfig({ languageCode: "is-IS" }));
  return {
    send: (chunk) => stream.sendAudio(chunk, chunkBytes),
    async end() {
      stream.send({ audioContent: "" });
      await stream.closed;
    },
  };
};

const openDeepgram: Open = async ({ address, key }) => {
  const path = "/v1/listen?encoding=linear16&sample_rate=16000&language=is&interim_results=true";
  const headers = { authorization: `Token ${key}` };
  const stream = await openDialectStream(address, path, { headers });
  return {
    send: (chunk) => stream.sendRaw(chunk),
    async end() {
      stream.send({ type: "CloseStream" });
      await stream.closed;
    },
  };
};

const openVosk: Open = async ({ address, key }) => {
  const headers = { authorization: `Bearer ${key}` };
  const stream = await openDialectStream(address, "/vosk/is", { headers });
  stream.send({ config: { sample_rate: 16_000 } });
  return {
    send: (chunk) => stream.sendRaw(chunk),
    async end() {
      stream.send({ eof: 1 });
      await stream.closed;
    },
  };
};
