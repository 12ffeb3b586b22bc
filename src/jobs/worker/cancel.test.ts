// A cancelled job leaves nothing in the system after two seconds, whatever its phase.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { create } from "@bufbuild/protobuf";
import { withBundledPackages } from "../../../test/fixtures/bundled-program.ts";
import { toneRecognizer, toneWav } from "../../../test/fixtures/jobs-fixture.ts";
import { mediaPrograms } from "../../../test/fixtures/media-programs.ts";
import { onceWithin, until } from "../../../test/fixtures/until.ts";
import {
  numbers,
  openWorkerFixture,
  type WorkerFixture,
} from "../../../test/fixtures/worker-fixture.ts";
import type { Sandbox } from "../../audio/sandbox.ts";
import type { Recognizer } from "../../engines/protocol/recognizer.ts";
import {
  CancelTranscriptJobRequestSchema,
  TranscriptJob_State as State,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";

/** The limit for each phase. On a shared machine, only one of a few attempts must meet it. */
const stopMsMax = 2_000;
/** The limit for every attempt. */
const giveUpMs = 10_000;

let fixture: WorkerFixture;
let jobs: WorkerFixture["jobs"];
let account = "";
/**
 * Minutes of sound that a program decodes. The program runs as long as pieces are being recognized.
 */
let flac: Buffer;
/** The number of engine calls in progress, and the number of calls that have begun. */
let running = 0;
let begun = 0;

before(async () => {
  fixture = await openWorkerFixture();
  ({ jobs, account } = fixture);
  const [wav, file] = [join(fixture.folder, "long.wav"), join(fixture.folder, "long.flac")];
  await writeFile(wav, toneWav(numbers(400)));
  await promisify(execFile)("ffmpeg", ["-v", "error", "-i", wav, file]);
  flac = await readFile(file);
});

after(() => fixture[Symbol.asyncDispose]());

async function cancel(name: string): Promise<void> {
  const request = create(CancelTranscriptJobRequestSchema, { name });
  await jobs.service.cancelTranscriptJob(request, jobs.call(account));
}

/**
 * Cancels a job in some phase, after which no part of it may continue or remain. Returns the
 * milliseconds that this took.
 */
async function cancelled(name: string, isQuiet: () => boolean = () => true): Promise<number> {
  const startedAt = performance.now();
  await cancel(name);
  await until(async () => {
    const scratch = await readdir(jobs.scratchFolder);
    return scratch.length + running + mediaPrograms().length === 0 && isQuiet();
  }, giveUpMs);
  const tookMs = performance.now() - startedAt;
  await fixture.isTidy();
  const { state, error, progressPercent } = await jobs.get(account, name);
  assert.deepEqual([state, error?.code], [State.CANCELLED, 1]);
  assert.ok((progressPercent ?? 0) < 100);
  return tookMs;
}

/**
 * Returns a recognizer with engines that hang until they are aborted, in recognition and in
 * diarization.
 */
function stuckRecognizer(hangs: { readonly words: boolean }): Recognizer {
  const tones = toneRecognizer();
  const hang = async (signal: AbortSignal | undefined): Promise<never> => {
    begun++;
    running++;
    await new Promise((resolve) => signal?.addEventListener("abort", resolve));
    running--;
    throw signal?.reason;
  };
  return {
    ...tones,
    canDiarize: () => !hangs.words,
    diarize: async (_window, signal) => await hang(signal),
    async *recognize(input, options) {
      if (hangs.words) await hang(options.signal);
      yield* tones.recognize(input, options);
    },
  };
}

test("a job that is cancelled in the queue is never leased", async () => {
  const asked: string[] = [];
  const name = await fixture.submit("/waits.wav", ({ url = "" }, response) => {
    asked.push(url);
    response.end();
  });
  await cancel(name);
  await using _worker = await jobs.openWorker(toneRecognizer());
  const next = await fixture.submit("/next.wav", toneWav([7]));
  assert.equal((await jobs.ended(account, next)).state, State.SUCCESS);
  assert.deepEqual(asked, []);
  assert.equal((await jobs.get(account, name)).error?.code, 1);
});

test("a job that is cancelled while its media is being fetched closes the connection", async () => {
  await using _worker = await jobs.openWorker(toneRecognizer());
  let open = 0;
  await onceWithin(stopMsMax, async () => {
    const name = await fixture.submit("/slow.wav", (_, response) => {
      open++;
      response.on("close", () => open--);
      response.writeHead(200, { "content-length": 1e6 }).write(toneWav([7]));
    });
    await until(() => Promise.resolve(open === 1));
    return await cancelled(name, () => open === 0);
  });
});

test("a job that is cancelled while its media is being probed kills the program", async () => {
  const sandbox: Sandbox = {
    ...jobs.sandbox,
    async start(options) {
      const run = await jobs.sandbox.start(options);
      if (options.program === "ffprobe" && run.pid !== undefined) process.kill(-run.pid, "SIGSTOP");
      return run;
    },
  };
  await using _worker = await jobs.openWorker(toneRecognizer(), { sandbox });
  await onceWithin(stopMsMax, async () => {
    // This media cannot be read without a program.
    const name = await fixture.submit("/probed.wav", Buffer.from("fLaC and no more".repeat(99)));
    await until(() => Promise.resolve(mediaPrograms().length > 0));
    return await cancelled(name);
  });
});

test("a job that is cancelled while it is being recognized stops the decoder and the engines", async () => {
  await using _worker = await jobs.openWorker(stuckRecognizer({ words: true }));
  await onceWithin(stopMsMax, async () => {
    const before = begun;
    const name = await fixture.submit("/recognized.flac", flac);
    await until(() => Promise.resolve(begun - before === 2));
    assert.ok(mediaPrograms().length > 0);
    const tookMs = await cancelled(name);
    assert.equal(begun - before, 2, "and no further piece begins");
    return tookMs;
  });
});

test("a job that is cancelled during diarization stops the diarization", async () => {
  await using _worker = await jobs.openWorker(stuckRecognizer({ words: false }));
  await onceWithin(stopMsMax, async () => {
    const before = begun;
    const name = await fixture.submit("/speakers.wav", toneWav(numbers(40)));
    await until(() => Promise.resolve(begun - before === 1));
    return await cancelled(name);
  });
});

test("a job that is cancelled on another node leaves no decoder or scratch file, and the node continues", async () => {
  const program = new URL("../../../test/fixtures/worker-process.ts", import.meta.url).pathname;
  const node = spawn(process.execPath, [...withBundledPackages, program, fixture.folder, "60000"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const gone = once(node, "exit");
  try {
    let pieces = 0;
    createInterface({ input: node.stdout }).on("line", () => pieces++);
    await onceWithin(stopMsMax, async () => {
      const before = pieces;
      const name = await fixture.submit("/elsewhere.flac", flac);
      await until(() => Promise.resolve(pieces - before === 2), 60_000);
      const startedAt = performance.now();
      await cancel(name);
      await until(async () => {
        const scratch = await readdir(jobs.scratchFolder);
        return scratch.length + mediaPrograms(node.pid).length === 0;
      }, giveUpMs);
      const tookMs = performance.now() - startedAt;
      await fixture.isTidy();
      return tookMs;
    });
    const before = pieces;
    await fixture.submit("/after.wav", toneWav([7]));
    await until(() => Promise.resolve(pieces - before === 1));
  } finally {
    node.kill("SIGTERM");
    await gone;
  }
});
