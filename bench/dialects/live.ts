import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import {
  RecognitionConfig_AudioEncoding as AudioEncoding,
  Speech,
} from "../../src/gen/hlust/speech/v2beta1/speech_pb.ts";
import { bytesOfSamples } from "../../src/engines/protocol/engine-frames.ts";
import { openDialectStream } from "../../test/dialects/dialect-stream.ts";
import type { ServiceProcess } from "../../test/fault/process.ts";
import { espeak, joined, silence } from "../../test/fixtures/flite.ts";
import { finalsOf, openStream, streamingConfig } from "../../test/spec/stream.ts";
import type { Figure } from "../report.ts";
import { cpuMsOf } from "./cpu-of-threads.ts";
import { withService } from "./transcribe.ts";

/** A live chunk of a dialect costs no more than the same over our own socket. */
const ratioMax = 1;
const chunkBytes = 3_200;
const utterances = 40;
const bytesPerMs = 32;

/** Sends the audio in one stream, and returns its text. */
type Stream = (service: ServiceProcess, chunks: readonly Buffer[]) => Promise<string>;

const kinds = { base64, grpc, deepgram, vosk } satisfies Record<string, Stream>;
type Kind = keyof typeof kinds;

/**
 * Compares the CPU time that the main process takes for a chunk of 100 ms over the sockets of
 * Deepgram and Vosk, which have binary frames, with that over our own socket, which has base64 in
 * JSON. Our gRPC is binary, too. The kinds take turns. The scripted engine recognizes, since its
 * process costs the same for all.
 */
export async function measureLive({ rounds }: { readonly rounds: number }): Promise<Figure[]> {
  return await withService({ HLUST_ENGINE: "scripted" }, async (service) => {
    const said = espeak("við hittumst á kaffihúsinu");
    const parts = Array.from({ length: utterances }, () => joined(said, silence(1_000)));
    const audio = Buffer.from(bytesOfSamples(joined(...parts)));
    const chunks = Array.from({ length: Math.floor(audio.length / chunkBytes) }, (_, at) =>
      audio.subarray(at * chunkBytes, (at + 1) * chunkBytes),
    );
    const sums: Record<Kind, number> = { base64: 0, grpc: 0, deepgram: 0, vosk: 0 };
    const texts = new Set<string>();
    // The first rounds take longer and are not measured.
    for (let round = -2; round < rounds; round += 1) {
      for (const [kind, stream] of entriesOf(kinds)) {
        const before = await cpuMsOf(service.pid);
        texts.add(await stream(service, chunks));
        if (round >= 0) sums[kind] += (await cpuMsOf(service.pid)) - before;
      }
    }
    if (texts.size !== 1) throw new Error(`the streams differ: ${[...texts].join(" | ")}`);
    const microseconds = (kind: Kind) => (1000 * sums[kind]) / (rounds * chunks.length);
    const figure = (name: string, kind: Kind): Figure => ({
      name: `a chunk over ${name}, of our socket's`,
      ratio: sums[kind] / sums.base64,
      ratioMax,
      note: `${microseconds(kind).toFixed(0)} and ${microseconds("base64").toFixed(0)} us of CPU of the main process for ${chunkBytes / bytesPerMs} ms`,
    });
    return [
      figure("Deepgram's socket", "deepgram"),
      figure("Vosk's socket", "vosk"),
      { ...figure("our gRPC", "grpc"), ratioMax: Infinity },
    ];
  });
}

function entriesOf(all: typeof kinds): [Kind, Stream][] {
  return [
    ["base64", all.base64],
    ["deepgram", all.deepgram],
    ["vosk", all.vosk],
    ["grpc", all.grpc],
  ];
}

async function base64({ address, key }: ServiceProcess, chunks: readonly Buffer[]) {
  const stream = await openStream(address, { token: key });
  stream.send(streamingConfig({ languageCode: "is-IS" }));
  for (const chunk of chunks) stream.sendAudio(chunk, chunkBytes);
  stream.send({ audioContent: "" });
  await stream.closed;
  return textOf(finalsOf(stream.messages).map(({ transcript }) => transcript));
}

async function grpc({ address, key }: ServiceProcess, chunks: readonly Buffer[]) {
  const client = createClient(Speech, createGrpcTransport({ baseUrl: address }));
  const config = {
    encoding: AudioEncoding.LINEAR16,
    sampleRateHertz: 16_000,
    languageCode: "is-IS",
  };
  async function* requests() {
    const streamingConfig = { config, interimResults: true };
    yield { streamingRequest: { case: "streamingConfig", value: streamingConfig } } as const;
    for (const value of chunks)
      yield { streamingRequest: { case: "audioContent", value } } as const;
  }
  const texts: string[] = [];
  const options = { headers: { authorization: `Bearer ${key}` } };
  for await (const { results } of client.streamingRecognize(requests(), options)) {
    const finals = results.filter(({ isFinal }) => isFinal);
    texts.push(...finals.map(({ alternatives }) => alternatives[0]?.transcript ?? ""));
  }
  return textOf(texts);
}

async function deepgram({ address, key }: ServiceProcess, chunks: readonly Buffer[]) {
  const path = "/v1/listen?encoding=linear16&sample_rate=16000&language=is&interim_results=true";
  const headers = { authorization: `Token ${key}` };
  const stream = await openDialectStream(address, path, { headers });
  for (const chunk of chunks) stream.sendRaw(chunk);
  stream.send({ type: "CloseStream" });
  await stream.closed;
  const finals = stream.messages.filter((message) => message.is_final === true);
  return textOf(finals.map((message) => message.channel.alternatives[0].transcript));
}

async function vosk({ address, key }: ServiceProcess, chunks: readonly Buffer[]) {
  const headers = { authorization: `Bearer ${key}` };
  const stream = await openDialectStream(address, "/vosk/is", { headers });
  stream.send({ config: { sample_rate: 16_000 } });
  for (const chunk of chunks) stream.sendRaw(chunk);
  stream.send({ eof: 1 });
  await stream.closed;
  return textOf(stream.messages.map((message) => message.text ?? ""));
}

/** Returns the words of final results, whatever is between the results. */
function textOf(texts: readonly string[]): string {
  return texts.join(" ").trim().replaceAll(/\s+/g, " ").toLowerCase();
}
