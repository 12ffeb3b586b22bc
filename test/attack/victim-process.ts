import { readFileSync } from "node:fs";
import { Agent, get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { Speech } from "../../src/gen/hlust/speech/v2beta1/speech_pb.ts";
import { openStream, streamingConfig } from "../spec/stream.ts";
import { draftOf } from "../spec/transcripts.ts";
import { until } from "../fixtures/until.ts";
import type { Sample, Window } from "./figures.ts";

/**
 * Makes the calls of another account while a node is attacked. It runs in a separate process, so
 * that the attacker's work does not delay measurements: `node victim-process.ts <address> <key>
 * <pid of the service>`. It answers each message "take" with the samples since the previous
 * message.
 */
const [, , address = "", key = "", servicePid = ""] = process.argv;

/** The interval between health requests to the service. */
const probeMs = 20;
/**
 * The number of probes that do not count after the service has started, because code is slow until
 * it is compiled.
 */
const warmProbes = 150;
/**
 * The maximum number of open probes. Probes that are due while this many are open count as sent at
 * that time, and as answered with the next response.
 */
const probesMax = 16;
const callPauseMs = 40;
const submitPauseMs = 400;
const chunkMs = 100;
const callMsMax = 120_000;

let window: Window = emptyWindow();

function emptyWindow(): Window {
  return { health: [], calls: [], live: [], failures: [], rssKbMax: 0 };
}

process.on("message", () => {
  const taken = window;
  window = emptyWindow();
  process.send?.(taken);
});
process.once("disconnect", () => process.exit(0));

let workedMs = 0;

/**
 * Returns the CPU time of the service's main thread until now, or until its end, in ms. The rest of
 * a probe's waiting time is the work of other processes.
 */
function mainThreadMs(): number {
  try {
    const text = readFileSync(`/proc/${servicePid}/task/${servicePid}/schedstat`, "utf8");
    workedMs = Number(text.split(" ", 1)[0]) / 1e6;
  } catch {
    // The service has ended.
  }
  return workedMs;
}

function fail(what: string, error: unknown): void {
  if (window.failures.length < 20) window.failures.push(`${what}: ${String(error)}`);
}

/** Measures one call. */
async function measured(into: Sample[], what: string, call: () => Promise<void>): Promise<void> {
  const [startMs, startCpuMs] = [performance.now(), mainThreadMs()];
  try {
    await call();
  } catch (error) {
    fail(what, error);
  }
  into.push({ wallMs: performance.now() - startMs, cpuMs: mainThreadMs() - startCpuMs });
}

const agent = new Agent({ keepAlive: true, maxSockets: probesMax });

function probe(): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = get(`${address}/healthz`, { agent, timeout: callMsMax }, (answer) => {
      answer.resume().once("error", reject);
      answer.once("end", () => {
        if (answer.statusCode === 200) resolve();
        else reject(new Error(`HTTP ${answer.statusCode}`));
      });
    });
    request.once("timeout", () => request.destroy(new Error("timed out"))).once("error", reject);
  });
}

async function watchHealth(): Promise<void> {
  let underWay = 0;
  let due: { readonly at: number; readonly cpuMs: number }[] = [];
  for (;;) {
    await sleep(probeMs);
    window.rssKbMax = Math.max(window.rssKbMax, rssKb());
    if (underWay >= probesMax) {
      due.push({ at: performance.now(), cpuMs: mainThreadMs() });
      continue;
    }
    underWay += 1;
    void measured(window.health, "health", probe).finally(() => {
      underWay -= 1;
      const [now, cpuMs] = [performance.now(), mainThreadMs()];
      for (const each of due) {
        window.health.push({ wallMs: now - each.at, cpuMs: cpuMs - each.cpuMs });
      }
      due = [];
    });
  }
}

function rssKb(): number {
  try {
    const status = readFileSync(`/proc/${servicePid}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
  } catch {
    return 0;
  }
}

async function call(method: string, path: string, body?: unknown): Promise<string> {
  const answer = await fetch(`${address}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: body === undefined ? null : JSON.stringify(body),
    signal: AbortSignal.timeout(callMsMax),
  });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`HTTP ${answer.status} ${text.slice(0, 300)}`);
  return text;
}

async function repeat(pauseMs: number, what: string, one: () => Promise<unknown>): Promise<void> {
  for (;;) {
    await measured(window.calls, what, async () => void (await one()));
    await sleep(pauseMs);
  }
}

const job = {
  metadata: { languageCode: "en-US", fileType: "AUDIO" },
  useUri: true,
  // No server listens there.
  uri: "http://127.0.0.1:9/talk.wav",
};
/** 100 ms of digital speech: the scripted engine recognizes a word every half second. */
const chunk = Buffer.alloc((16_000 / 1_000) * chunkMs * 2, 1);
const wordChunks = 5;

/**
 * Sends audio in real time, and measures the time from the chunk that begins a word to the
 * recognized word.
 */
async function speak(
  what: string,
  send: () => void,
  answerCount: () => number,
  isOver: () => boolean,
): Promise<void> {
  const start = performance.now();
  for (let sent = 1; !isOver(); sent++) {
    const before = answerCount();
    send();
    if (sent % wordChunks === 1) {
      await measured(window.live, what, async () => {
        const giveUpAt = performance.now() + callMsMax;
        while (answerCount() === before) {
          if (isOver()) throw new Error("the stream has ended");
          if (performance.now() > giveUpAt) throw new Error("no word was returned");
          await sleep(1);
        }
      });
    }
    await sleep(Math.max(0, start + sent * chunkMs - performance.now()));
  }
}

async function liveOverWebSocket(): Promise<void> {
  const stream = await openStream(address, { token: key });
  let closed: number | undefined;
  void stream.closed.then((code) => (closed = code));
  stream.send(streamingConfig());
  const audio = JSON.stringify({ audioContent: chunk.toString("base64") });
  await speak(
    "live audio over WebSocket",
    () => stream.sendRaw(audio),
    () => stream.messages.length,
    () => closed !== undefined,
  );
  throw new Error(`closed with ${closed}`);
}

async function liveOverGrpc(): Promise<void> {
  const client = createClient(Speech, createGrpcTransport({ baseUrl: address }));
  const unsent: Uint8Array[] = [];
  let wake = (): void => {};
  async function* requests() {
    const config = { encoding: 1 as const, sampleRateHertz: 16_000, languageCode: "en-US" };
    const value = { config, interimResults: true };
    yield { streamingRequest: { case: "streamingConfig" as const, value } };
    for (;;) {
      const next = unsent.shift();
      if (next) yield { streamingRequest: { case: "audioContent" as const, value: next } };
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  }
  let answers = 0;
  let ended: unknown;
  const headers = { authorization: `Bearer ${key}` };
  const read = async (): Promise<void> => {
    for await (const _ of client.streamingRecognize(requests(), { headers })) answers += 1;
  };
  read().then(
    () => (ended = new Error("it ended")),
    (error: unknown) => (ended = error),
  );
  await speak(
    "live audio over gRPC",
    () => {
      unsent.push(chunk);
      wake();
    },
    () => answers,
    () => ended !== undefined,
  );
  throw ended;
}

const name = /transcripts\/[0-9a-f-]+/.exec(
  await call("POST", "/v1alpha1/transcripts", draftOf("fundur")),
)?.[0];
void watchHealth();
void repeat(callPauseMs, "list", () => call("GET", "/v1alpha1/transcripts?pageSize=20"));
void repeat(callPauseMs, "get", () => call("GET", `/v1alpha1/${String(name)}`));
void repeat(2 * callPauseMs, "create", () =>
  call("POST", "/v1alpha1/transcripts", draftOf("nýr fundur")),
);
void repeat(submitPauseMs, "submit", () => call("POST", "/v1alpha1/transcriptjob:submit", job));
void liveOverWebSocket().catch((error: unknown) => fail("live audio over WebSocket", error));
void liveOverGrpc().catch((error: unknown) => fail("live audio over gRPC", error));
await until(async () => window.health.length >= warmProbes, 120_000);
process.send?.("begun");
