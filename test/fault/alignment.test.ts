// Alignment jobs of processes that are stopped or killed with kill -9, and of several accounts.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { until } from "../fixtures/until.ts";
import { AlignmentCalls, slow, speech, text } from "../spec/alignment.ts";
import { textOf } from "../spec/jobs.ts";
import { callRest } from "../spec/service.ts";
import { startService, type ServiceProcess } from "./process.ts";

let data: string;
before(() => {
  data = mkdtempSync(join(tmpdir(), "hlust-align-"));
});
after(() => {
  rmSync(data, { recursive: true, force: true });
});

const scripted = { HLUST_ENGINE: "scripted", HLUST_ENGINE_PROCESSES: "1" };

function callsOf({ address, key }: ServiceProcess): AlignmentCalls {
  return new AlignmentCalls({
    call: (method, path, body, headers) => callRest(address, key, { method, path, body, headers }),
  });
}

test("a job whose worker is killed is aligned once by the next one, as is one that was released", async () => {
  let service = await startService(data, scripted);
  const calls = callsOf(service);
  const name = await calls.create(slow);
  const { version } = await calls.get(name);
  const job = await calls.begin(name);
  await calls.reaches(job, "ALIGNING");
  await service.crash();
  service = await startService(data, scripted);
  const { output } = service;
  await until(() => Promise.resolve(/"event":"alignment.started"/.test(output().errors)), 40_000);
  // The lease of a worker that stops is released at once, and the attempt does not count.
  assert.equal(await service.stop(), 0);
  assert.match(service.output().errors, /"event":"alignment.released"/);
  await using last = await startService(data, scripted);
  const { state, transcriptVersion } = await callsOf(last).ended(job);
  assert.equal(state, "SUCCESS");
  const transcript = await callsOf(last).get(name);
  assert.deepEqual(
    [transcript.version.name, transcript.version.parent, textOf(transcript)],
    [transcriptVersion, version.name, text],
  );
  const { versions } = await callsOf(last).get(`${name}/versions`);
  assert.equal(versions.length, 2);
});

test("a job whose worker is killed in three attempts ends as ERROR, and changes nothing", async () => {
  const folder = join(data, "poison");
  const attempts = 3;
  let service = await startService(folder, scripted);
  const name = await callsOf(service).create(slow);
  const { version } = await callsOf(service).get(name);
  const job = await callsOf(service).begin(name);
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const started = new RegExp(`"attempts":${attempt},"event":"alignment.started"`);
    const { output } = service;
    await until(() => Promise.resolve(started.test(output().errors)), 60_000);
    await callsOf(service).reaches(job, "ALIGNING");
    await service.crash();
    service = await startService(folder, scripted);
  }
  await using last = service;
  const { state, error, transcriptVersion } = await callsOf(last).ended(job);
  assert.deepEqual([state, error.code, transcriptVersion], ["ERROR", 13, undefined]);
  const [{ reason, metadata }] = error.details;
  assert.deepEqual([reason, metadata], ["JOB_POISON", { tries: `${attempts}` }]);
  assert.equal((await callsOf(last).get(name)).version.name, version.name);
  // The transcript is not lost for alignment, and the jobs after it run.
  const again = await callsOf(last).begin(name);
  assert.notEqual(again, job);
  assert.equal((await callsOf(last).ended(again)).state, "SUCCESS");
});

test("a recording that is transcribed and transcripts that are aligned do not wait for each other's end", async () => {
  await using service = await startService(data, scripted);
  const calls = callsOf(service);
  const jobs = [
    await calls.begin(await calls.create(slow)),
    await calls.begin(await calls.create(slow)),
  ];
  const upload = await callRest(service.address, service.key, {
    method: "POST",
    path: "/v1alpha1/initupload",
    body: {},
  });
  await fetch(upload.json.storageSignedUrl, { method: "PUT", body: speech });
  const { json: job } = await callRest(service.address, service.key, {
    method: "POST",
    path: "/v1alpha1/transcriptjob:submit",
    body: {
      metadata: { languageCode: "is-IS", fileType: "AUDIO" },
      useUri: false,
      uri: upload.json.resourceName,
    },
  });
  await until(async () => (await calls.get(job.name)).state === "SUCCESS", 40_000);
  const states = await Promise.all(jobs.map(async (each) => (await calls.get(each)).state));
  const open = states.filter((state) => ["QUEUED", "TRANSCODING", "ALIGNING"].includes(state));
  assert.ok(open.length > 0, states.join(" "));
  for (const each of jobs) assert.equal((await calls.ended(each)).state, "SUCCESS");
});
