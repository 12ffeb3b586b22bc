import { randomBytes } from "node:crypto";
import { createServer, type RequestListener } from "node:http";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type HandlerContext } from "@connectrpc/connect";
import { scopes } from "../src/auth/caller.ts";
import { chooseSandbox, type Sandbox } from "../src/audio/sandbox.ts";
import type { Meter } from "../src/auth/meter.ts";
import type { Database } from "../src/database/database.ts";
import { engineSampleRate } from "../src/engines/engine.ts";
import { endUtterance, type Recognition, type Recognizer } from "../src/engines/recognizer.ts";
import {
  GetTranscriptJobRequestSchema,
  SubmitTranscriptJobRequestSchema,
  TranscriptJobSchema,
  type TranscriptJob,
} from "../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { openDescriber, type DescriberParts } from "../src/jobs/describer.ts";
import { openJobQueue, type JobQueue } from "../src/jobs/job-queue.ts";
import { createJobsService, type JobsService } from "../src/jobs/jobs-service.ts";
import { openWorker, type WorkerParts } from "../src/jobs/worker.ts";
import { askForDescription } from "../src/media/description-queue.ts";
import { openDiskStore } from "../src/media/disk-store.ts";
import { insertMedia } from "../src/media/media-records.ts";
import type { MediaStore } from "../src/media/media-store.ts";
import { parseMediaAllowList, type MediaAllowList } from "../src/media/media-url.ts";
import { newId } from "../src/std/ids.ts";
import { createLog, type Log } from "../src/std/log.ts";
import { createPageTokens } from "../src/std/page-token.ts";
import { callBy, testCaller } from "./test-caller.ts";
import { openTestMeter } from "./open-test-meter.ts";

/** Pulses of this many samples between silences are the words of toneRecognizer(). */
const toneSamples = 4_800;
const pauseSamples = 4_000;
const stepHertz = 40;

/**
 * A recording of words that are tones: word n is named by its frequency. A missing, doubled, split or misplaced word shows in
 * the text.
 */
export function toneWav(words: readonly number[], pause = pauseSamples): Buffer {
  const stride = toneSamples + pause;
  const samples = new Int16Array(pause + words.length * stride);
  for (const [index, word] of words.entries()) {
    const start = pause + index * stride;
    for (let i = 0; i < toneSamples; i++) {
      const phase = (2 * Math.PI * i * word * stepHertz) / engineSampleRate;
      samples[start + i] = Math.round(8_000 * Math.sin(phase));
    }
  }
  return wavOf(samples);
}

/** A WAV file of samples at 16 kHz. */
export function wavOf(samples: Int16Array): Buffer {
  const wav = Buffer.alloc(44 + samples.length * 2);
  wav.write("RIFF");
  wav.writeUInt32LE(36 + samples.length * 2, 4);
  wav.write("WAVEfmt ", 8);
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20);
  wav.writeUInt16LE(1, 22);
  wav.writeUInt32LE(engineSampleRate, 24);
  wav.writeUInt32LE(engineSampleRate * 2, 28);
  wav.writeUInt16LE(2, 32);
  wav.writeUInt16LE(16, 34);
  wav.write("data", 36);
  wav.writeUInt32LE(samples.length * 2, 40);
  for (const [i, sample] of samples.entries()) wav.writeInt16LE(sample, 44 + i * 2);
  return wav;
}

export interface ToneRecognizerOptions {
  /** How long each piece takes. */
  readonly pieceMs?: number;
  /** Called with the words of each piece before they are answered. */
  readonly onPiece?: (words: readonly string[]) => Promise<void> | void;
}

/** Hears the recordings of toneWav(): the numbers of the tones, an utterance for every four of them. */
export function toneRecognizer(options: ToneRecognizerOptions = {}): Recognizer {
  return {
    languageCodes: () => ["en-US", "is-IS"],
    takesHints: () => false,
    tellsSpeakers: () => false,
    tellSpeakers: () => Promise.reject(new Error("nobody asks")),
    async *recognize(input, { signal }) {
      const parts: Int16Array[] = [];
      for await (const part of input) if (part !== endUtterance) parts.push(part);
      const samples = new Int16Array(parts.reduce((sum, { length }) => sum + length, 0));
      let at = 0;
      for (const part of parts) {
        samples.set(part, at);
        at += part.length;
      }
      const words = hearTones(samples);
      await options.onPiece?.(words.map(({ text }) => text));
      if (options.pieceMs !== undefined) {
        await sleep(options.pieceMs, undefined, signal && { signal });
      }
      for (let first = 0; first < words.length; first += 4) {
        const heard = words.slice(first, first + 4);
        const text = heard.map((word) => word.text).join(" ");
        const audioEndMs = heard.at(-1)?.endMs ?? 0;
        const message: Recognition = {
          isFinal: true,
          alternatives: [{ text, words: heard }],
          audioEndMs,
        };
        yield message;
      }
    },
  };
}

function hearTones(samples: Int16Array): { text: string; startMs: number; endMs: number }[] {
  const words: { text: string; startMs: number; endMs: number }[] = [];
  const frame = 160;
  let start = -1;
  for (let at = 0; at <= samples.length; at += frame) {
    const isLoud = samples.subarray(at, at + frame).some((sample) => Math.abs(sample) > 2_000);
    if (isLoud && start < 0) start = at;
    if (isLoud || start < 0) continue;
    const tone = samples.subarray(start, at);
    let crossings = 0;
    for (let i = 1; i < tone.length; i++) {
      if ((tone[i - 1] ?? 0) < 0 !== (tone[i] ?? 0) < 0) crossings++;
    }
    const hertz = crossings / 2 / (toneSamples / engineSampleRate);
    words.push({
      text: `${Math.round(hertz / stepHertz)}`,
      startMs: (start * 1000) / engineSampleRate,
      endMs: (at * 1000) / engineSampleRate,
    });
    start = -1;
  }
  return words;
}

/** A server of media on the loopback, at `url`. */
export async function serveMedia(
  listener: RequestListener,
): Promise<{ readonly url: string; readonly port: number } & AsyncDisposable> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type JobRequest = MessageInitShape<typeof SubmitTranscriptJobRequestSchema>;

/** What is wanted of a job by URL, for tests that are about something else. */
export function jobRequest(
  uri: string,
  additionalMetadata: Record<string, string> = {},
  languageCode = "en-US",
): JobRequest {
  const metadata = { languageCode, fileType: 1, additionalMetadata } as const;
  return { metadata, useUri: true, uri };
}

/** Everything that jobs need, on a database of the test's. */
export interface JobsFixture extends AsyncDisposable {
  readonly database: Database;
  readonly queue: JobQueue;
  readonly store: MediaStore;
  readonly meter: Meter;
  readonly sandbox: Sandbox;
  readonly service: JobsService;
  readonly scratchFolder: string;
  readonly mediaFolder: string;
  addAccount(): Promise<string>;
  call(accountId: string, header?: Record<string, string>): HandlerContext;
  submit(accountId: string, request: JobRequest, header?: Record<string, string>): Promise<string>;
  get(accountId: string, name: string): Promise<TranscriptJob>;
  /** The job once it has ended; rejects after 30 s. */
  ended(accountId: string, name: string, msMax?: number): Promise<TranscriptJob>;
  openWorker(recognizer: Recognizer, parts?: Partial<WorkerParts>): Promise<AsyncDisposable>;
  /** Media as an upload leaves it, waiting to be described; its id. */
  addMedia(accountId: string, bytes: Buffer): Promise<string>;
  openDescriber(parts?: Partial<DescriberParts>): Promise<AsyncDisposable>;
}

/** What HLUST_ALLOW_MEDIA_FROM is in these tests. */
export const loopbackAllowed = parseMediaAllowList(["127.0.0.1"]);

export const testAccountJobsMax = 1_000;

/** `folder`: where media and scratch files are; it is the caller's. */
export async function openJobs(
  database: Database,
  folder: string,
  log: Log = createLog("silent"),
  allow: MediaAllowList = loopbackAllowed,
): Promise<JobsFixture> {
  await using opened = new AsyncDisposableStack();
  const queue = opened.use(await openJobQueue({ database, log, supervise: true }));
  const mediaFolder = join(folder, "media");
  const store = opened.use(await openDiskStore(mediaFolder, { log }));
  const sandbox = await chooseSandbox("auto", log);
  const { db } = database;
  const meter = opened.use(openTestMeter(db, { queuedJobs: testAccountJobsMax }));
  const service = createJobsService({
    db,
    queue,
    // Into a folder nothing is put past the service.
    uploads: { collectUpload: async () => {} },
    pageTokens: createPageTokens(randomBytes(32)),
    allow,
    languageCodes: () => ["en-US", "is-IS"],
    meter,
  });
  const call = (accountId: string, header: Record<string, string> = {}): HandlerContext =>
    callBy(testCaller(accountId, scopes), header);
  const parts = opened.move();
  const scratchFolder = join(folder, "scratch");
  const get = async (accountId: string, name: string): Promise<TranscriptJob> => {
    const request = create(GetTranscriptJobRequestSchema, { name });
    return create(TranscriptJobSchema, await service.getTranscriptJob(request, call(accountId)));
  };
  return {
    database,
    queue,
    store,
    meter,
    sandbox,
    service,
    scratchFolder,
    mediaFolder,
    call,
    get,
    async addAccount() {
      const id = newId();
      await db.insertInto("account").values({ id, display_name: "test" }).execute();
      return id;
    },
    async submit(accountId, request, header) {
      const message = create(SubmitTranscriptJobRequestSchema, request);
      const { name } = await service.submitTranscriptJob(message, call(accountId, header));
      return name ?? "";
    },
    async ended(accountId, name, msMax = 30_000) {
      const giveUpAt = Date.now() + msMax;
      for (;;) {
        const job = await get(accountId, name);
        if (job.state !== 1) return job;
        if (Date.now() > giveUpAt)
          throw new Error(`still ${job.progressPercent} % after ${msMax} ms`);
        await sleep(50);
      }
    },
    async openWorker(recognizer, more) {
      return await openWorker({
        database,
        queue,
        store,
        sandbox,
        recognizer,
        parallelism: 2,
        allow,
        scratchFolder,
        meter,
        keepMedia: true,
        mediaBytesMax: 100_000_000,
        durationMsMax: 3_600_000,
        log,
        retryMs: 5,
        fetchLimits: { backoffMs: 10 },
        ...more,
      });
    },
    async addMedia(accountId, bytes) {
      const id = newId();
      const stored = await store.put(id, Readable.from([bytes]), { bytesMax: bytes.length });
      await db.transaction().execute(async (trx) => {
        await insertMedia(trx, { id, accountId, ...stored });
        await askForDescription(trx, id);
      });
      return id;
    },
    async openDescriber(more) {
      const working = { database, store, sandbox, scratchFolder, log };
      return await openDescriber({ ...working, durationMsMax: 8 * 3_600_000, ...more });
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}
