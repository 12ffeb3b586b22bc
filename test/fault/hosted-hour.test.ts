// The server of hosted models is unavailable for an hour, by the clock of the node that uses it,
// while jobs wait for it.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { espeak, joined, silence } from "../fixtures/flite.ts";
import { freePort } from "../fixtures/free-port.ts";
import { putHostedModel } from "../fixtures/hosted-model.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { until } from "../fixtures/until.ts";
import { openMediaHost } from "../spec/media-host.ts";
import { callRest } from "../spec/service.ts";
import { openFakeClock } from "./fake-clock.ts";
import { openFaultPostgres, type FaultPostgres } from "./open-fault-postgres.ts";
import { startService, type ServiceProcess } from "./process.ts";

const sentences = ["góðan daginn", "veðrið er gott í dag"];
const pause = silence(1000);
const talk = joined(pause, ...sentences.map((sentence) => joined(espeak(sentence), pause)));
/** A recording of several pieces. */
const repeats = 80;
const talks = joined(...Array.from({ length: repeats }, () => talk));

const minutesMax = 60;
const stepMinutes = 10;
/** The attempts after which a job fails, unless they are not counted. */
const attemptsMax = 3;

interface StoredJob {
  readonly id: string;
  readonly state: string;
  readonly lease: number;
  readonly tries: number;
  readonly progress: number;
}

async function storedJobs(postgres: FaultPostgres): Promise<readonly StoredJob[]> {
  const rows = await postgres.query(
    "select id, state, lease, tries, progress_percent as progress from transcript_job order by id",
  );
  return rows.map((row) => ({
    id: String(row["id"]),
    state: String(row["state"]),
    lease: Number(row["lease"]),
    tries: Number(row["tries"]),
    progress: Number(row["progress"] ?? 0),
  }));
}

/** Returns whether every job waits for its next attempt, for some seconds more. */
async function allWait(postgres: FaultPostgres): Promise<boolean> {
  const rows = await postgres.query(
    `select 1 from transcript_job
     where lease = 0 or tries > 0 or due_at < now() + interval '3 s'`,
  );
  return rows.length === 0;
}

/** Returns how many minutes the clock of a node is ahead, from the dates of its responses. */
async function minutesAhead({ address }: ServiceProcess): Promise<number> {
  const { headers } = await fetch(`${address}/healthz`);
  return Math.round((Date.parse(headers.get("date") ?? "") - Date.now()) / 60_000);
}

async function submit({ address, key }: ServiceProcess, uri: string, languageCode: string) {
  const { status, json } = await callRest(address, key, {
    method: "POST",
    path: "/v1alpha1/transcriptjob:submit",
    body: { metadata: { languageCode, fileType: "AUDIO" }, useUri: true, uri },
  });
  assert.equal(status, 200, JSON.stringify(json));
  return String(json.name);
}

async function textOf({ address, key }: ServiceProcess, job: string): Promise<string> {
  const call = (path: string) => callRest(address, key, { method: "GET", path });
  const { json } = await call(`/v1alpha1/${job}`);
  assert.equal(json.state, "SUCCESS", JSON.stringify(json));
  const { json: transcript } = await call(`/v1alpha1/${json.transcript}`);
  const words: readonly { word: string }[] = transcript.segments.flatMap(
    (segment: { words: unknown }) => segment.words,
  );
  const text = words.map(({ word }) => word).join("");
  return text.toLowerCase().replaceAll(".", "").replaceAll(/\s+/g, " ").trim();
}

test("jobs wait for a server that is unavailable for an hour, and go on where they were", async (t) => {
  await using opened = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "hlust-hour-"));
  opened.defer(() => rmSync(folder, { recursive: true, force: true }));
  const serverSettings = {
    HLUST_PORT: `${await freePort()}`,
    HLUST_DEFAULT_LANGUAGE: "is-IS",
    HLUST_VOICE_ACTIVITY: "energy",
  };
  const startServer = () => startService(join(folder, "server"), serverSettings);
  let server = await startServer();
  opened.defer(() => server[Symbol.asyncDispose]());
  const { address: at, key } = server;
  const modelsFolder = join(folder, "models");
  mkdirSync(modelsFolder);
  const put = (
    languageCode: string,
    card: Pick<Parameters<typeof putHostedModel>[1], "kind" | "address" | "options">,
  ) => putHostedModel(modelsFolder, { name: languageCode.toLowerCase(), languageCode, ...card });
  const { host } = new URL(at);
  put("fo-FO", { kind: "google-speech", address: at, options: { languageCode: "is-IS" } });
  put("da-DK", {
    kind: "openai-transcriptions",
    address: `${at}/v1`,
    options: { languageCode: "is" },
  });
  put("sv-SE", { kind: "vosk-server", address: `ws://${host}/vosk/is` });

  const nodeClock = openFakeClock(join(folder, "node.clock"), { movesTimers: true });
  const postgres = opened.use(await openFaultPostgres(join(folder, "pg"), {}));
  const node = opened.use(
    await startService(join(folder, "node"), {
      DATABASE_URL: postgres.url,
      HLUST_MODELS: modelsFolder,
      HLUST_VOICE_ACTIVITY: "energy",
      MODEL_KEY_TEST: key,
      ...nodeClock.environment,
    }),
  );
  const media = opened.use(
    await openMediaHost({ "/talk.wav": wavOf(talk), "/talks.wav": wavOf(talks) }),
  );

  // One job has begun when the server ends, and the others come while it is unavailable.
  const begun = await submit(node, `${media.address}/talks.wav`, "fo-FO");
  await until(async () => ((await storedJobs(postgres))[0]?.progress ?? 0) > 0, 60_000);
  await server.crash();
  const before = (await storedJobs(postgres))[0]?.progress ?? 0;
  assert.ok(before < 90, `${before} %`);
  const waiting: string[] = [];
  for (const languageCode of ["da-DK", "sv-SE"]) {
    waiting.push(await submit(node, `${media.address}/talk.wav`, languageCode));
  }

  for (let minutes = stepMinutes; minutes <= minutesMax; minutes += stepMinutes) {
    const leases = new Map((await storedJobs(postgres)).map(({ id, lease }) => [id, lease]));
    // A node that is suspended in the middle of an attempt would lose its lease.
    await until(() => allWait(postgres), 90_000);
    nodeClock.move(minutes * 60);
    await until(async () => (await minutesAhead(node)) >= minutes);
    await postgres.query(
      `update transcript_job set due_at = due_at - interval '${stepMinutes} min'`,
    );
    const isTried = ({ id, lease }: StoredJob) => lease > (leases.get(id) ?? 0);
    await until(async () => (await storedJobs(postgres)).every(isTried), 90_000);
    for (const job of await storedJobs(postgres)) {
      assert.equal(job.state, "PROCESSING");
      assert.ok(job.tries < attemptsMax, `${job.tries} attempts count after ${minutes} min`);
    }
  }
  const waited = await storedJobs(postgres);
  t.diagnostic(`attempts: ${waited.map(({ lease }) => lease).join()}`);
  assert.ok(waited.every(({ lease }) => lease > 2 * attemptsMax));
  assert.ok((waited[0]?.progress ?? 0) >= before, "what was recognized is kept");

  server = await startServer();
  await until(
    async () => (await storedJobs(postgres)).every(({ state }) => state !== "PROCESSING"),
    240_000,
  );
  const text = sentences.join(" ");
  assert.equal(await textOf(node, begun), Array.from({ length: repeats }, () => text).join(" "));
  for (const job of waiting) assert.equal(await textOf(node, job), text);
});
