// Alignment jobs of transcripts that a job has made with a CTC model: the outputs that recognition
// has kept are aligned, and the sound where they cannot be used.
import assert from "node:assert/strict";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { openDatabase, type Database } from "../../src/database/database.ts";
import { createLog } from "../../src/std/log.ts";
import { espeakWords, type TimedSpeech } from "../fixtures/flite.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { AlignmentCalls } from "./alignment.ts";
import { pollJob, textOf } from "./jobs.ts";
import { openTestService, type TestService } from "./service.ts";
import { segmentOf } from "./transcripts.ts";

/** The maximum distance of a word's start from where it is said. */
const offMsMax = 150;

const parts = new AsyncDisposableStack();
let service: TestService;
let calls: AlignmentCalls;
let database: Database;
let speech: TimedSpeech;
before(async () => {
  service = parts.use(await openTestService({ HLUST_LOG: "silent" }));
  calls = new AlignmentCalls(service);
  const folder = join(service.dataFolder, "postgres");
  database = parts.use(await openDatabase({ url: undefined, folder, log: createLog("silent") }));
  speech = espeakWords("góðan daginn veðrið er gott í dag takk fyrir klukkan er tólf", 300);
});
after(() => parts.disposeAsync());

/** Transcribes the speech, and then moves all words to the first second. Returns the transcript. */
async function transcribe(): Promise<{ readonly name: string; readonly mediaId: string }> {
  const upload = await service.call("POST", "/v1alpha1/initupload", {});
  const body = wavOf(speech.samples);
  assert.equal((await fetch(upload.json.storageSignedUrl, { method: "PUT", body })).status, 200);
  const { json: job } = await service.call("POST", "/v1alpha1/transcriptjob:submit", {
    metadata: { languageCode: "is-IS", fileType: "AUDIO" },
    useUri: false,
    uri: upload.json.resourceName,
  });
  const { last } = await pollJob(service, job.name);
  assert.equal(last.state, "SUCCESS", JSON.stringify(last));
  const name: string = last.transcript;
  const spoken = speech.words.map(({ text }) => text).join(" ");
  const segments = [segmentOf(spoken, 0, 0.08)];
  const { status, json } = await service.call("PATCH", `/v1alpha1/${name}`, { segments });
  assert.equal(status, 200, JSON.stringify(json));
  const row = await database.db
    .selectFrom("transcript")
    .where("id", "=", name.slice("transcripts/".length))
    .select("media_id")
    .executeTakeFirstOrThrow();
  return { name, mediaId: row.media_id ?? assert.fail() };
}

async function assertAligned(name: string): Promise<void> {
  const transcript = await calls.get(name);
  assert.equal(textOf(transcript), speech.words.map(({ text }) => text).join(" "));
  const [{ words: found }] = transcript.segments;
  const offMs = speech.words.map(({ startMs }, at) =>
    Math.round(Number.parseFloat(found[at].startTime) * 1000 - startMs),
  );
  const far = offMs.filter((ms) => Math.abs(ms) > offMsMax);
  assert.ok(far.length <= 1, offMs.join(" "));
}

/** Aligns a transcript while the bytes of its media are not in the store. Returns the job. */
async function alignWithoutSound({ name, mediaId }: { name: string; mediaId: string }) {
  const folder = join(service.dataFolder, "media", "finished", mediaId.slice(-2));
  await rename(join(folder, mediaId), join(service.dataFolder, mediaId));
  try {
    return await calls.ended(await calls.begin(name));
  } finally {
    await rename(join(service.dataFolder, mediaId), join(folder, mediaId));
  }
}

test("words are aligned to the outputs that recognition has kept, without the sound", async () => {
  const made = await transcribe();
  const { state, error } = await alignWithoutSound(made);
  assert.equal(state, "SUCCESS", JSON.stringify(error));
  await assertAligned(made.name);
});

const damages: readonly [what: string, statement: string][] = [
  ["missing", "delete from media_outputs where media_id = $1"],
  ["of another model", "update media_outputs set model = 'another 1' where media_id = $1"],
  ["damaged", "update media_outputs set outputs = '\\x0102' where media_id = $1"],
  [
    "damaged before their hash was made",
    "update media_outputs set outputs = '\\x0102', sha256 = sha256('\\x0102') where media_id = $1",
  ],
];
for (const [what, statement] of damages) {
  test(`words are aligned to the sound if the outputs are ${what}`, async () => {
    const made = await transcribe();
    const { rowCount } = await database.pool.query(statement, [made.mediaId]);
    assert.ok(rowCount);
    const { state, error } = await calls.ended(await calls.begin(made.name));
    assert.equal(state, "SUCCESS", JSON.stringify(error));
    await assertAligned(made.name);
  });
}

test("outputs are deleted with the transcript", async () => {
  const { name, mediaId } = await transcribe();
  const count = async () => {
    const rows = database.db.selectFrom("media_outputs").where("media_id", "=", mediaId);
    return (await rows.select("number").execute()).length;
  };
  assert.equal(await count(), 1);
  assert.equal((await service.call("DELETE", `/v1alpha1/${name}`)).status, 200);
  assert.equal(await count(), 0);
});
