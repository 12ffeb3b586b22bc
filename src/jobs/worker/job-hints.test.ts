// The hints of jobs, and the vocabulary of their accounts.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type JobRequest, toneRecognizer, toneWav } from "../../../test/fixtures/jobs-fixture.ts";
import {
  numbers,
  openWorkerFixture,
  type WorkerFixture,
} from "../../../test/fixtures/worker-fixture.ts";
import type { Recognizer } from "../../engines/protocol/recognizer.ts";
import { TranscriptMetadata_FileType as FileType } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { beginChange, putPhrases } from "../../vocabulary/phrase-store.ts";

let fixture: WorkerFixture;
let jobs: WorkerFixture["jobs"];
let submit: WorkerFixture["submit"];
let transcriptOf: WorkerFixture["transcriptOf"];
let account = "";

before(async () => {
  fixture = await openWorkerFixture();
  ({ jobs, submit, transcriptOf, account } = fixture);
});
after(() => fixture[Symbol.asyncDispose]());

test("the hints of a job are used for each of its pieces, and for no other job", async () => {
  const used: unknown[] = [];
  const recognizer = toneRecognizer({ onHints: (hints) => used.push(hints) });
  const words = numbers(120);
  fixture.serve("/hinted.wav", toneWav(words));
  const request: JobRequest = {
    metadata: { languageCode: "en-US", fileType: FileType.AUDIO },
    useUri: true,
    uri: `${fixture.url}/hinted.wav`,
    speechContexts: [{ phrases: ["Anna", "Eyjafjallajökull"], boost: 5 }, { phrases: ["seven"] }],
  };
  const name = await jobs.submit(account, request);
  await using _worker = await jobs.openWorker(recognizer);
  const { text } = await transcriptOf(await jobs.ended(account, name));
  assert.equal(text, words.join(" "));
  assert.ok(used.length > 1, "there are several pieces");
  for (const hints of used.splice(0)) {
    assert.deepEqual(hints, [
      { phrase: "Anna", boost: 5 },
      { phrase: "Eyjafjallajökull", boost: 5 },
      { phrase: "seven", boost: 10 },
    ]);
  }
  const plain = await submit("/plain.wav", toneWav([4]));
  await jobs.ended(account, plain);
  assert.deepEqual(used, [[]]);
});

test("the vocabulary of the account follows the hints of a job, unless the job ignores it", async () => {
  const used: unknown[] = [];
  const recognizer = toneRecognizer({ onHints: (hints) => used.push(hints) });
  fixture.serve("/named.wav", toneWav([4, 2]));
  const owner = await jobs.addAccount();
  const { db } = jobs.database;
  const phrase = { languageCode: "en-US", weight: 7, soundsLike: ["shivawn"] };
  await db.transaction().execute(async (trx) => {
    await beginChange(trx, owner);
    const phrases = [
      { ...phrase, phrase: "Siobhan", folded: "siobhan" },
      { ...phrase, phrase: "Anna", folded: "anna" },
      { ...phrase, phrase: "Ása", folded: "ása", languageCode: "is-IS" },
    ];
    await putPhrases(trx, owner, phrases, { source: "USER", state: "ACTIVE" });
  });
  await using _worker = await jobs.openWorker(recognizer);
  const usedBy = async (ignoreVocabulary: boolean) => {
    const name = await jobs.submit(owner, {
      metadata: { languageCode: "en-US", fileType: FileType.AUDIO },
      useUri: true,
      uri: `${fixture.url}/named.wav`,
      speechContexts: [{ phrases: ["Anna"], boost: 5 }],
      ignoreVocabulary,
    });
    await jobs.ended(owner, name);
    return used.splice(0);
  };
  const own = { phrase: "Anna", boost: 5 };
  const stored = { phrase: "Siobhan", boost: 7, soundsLike: ["shivawn"] };
  assert.deepEqual(await usedBy(false), [[own, stored]]);
  assert.deepEqual(await usedBy(true), [[own]]);
});

test("a worker whose model takes no hints ignores those of a job", async () => {
  fixture.serve("/ignored.wav", toneWav([4, 2]));
  const name = await jobs.submit(account, {
    metadata: { languageCode: "en-US", fileType: FileType.AUDIO },
    useUri: true,
    uri: `${fixture.url}/ignored.wav`,
    speechContexts: [{ phrases: ["Anna"] }],
  });
  const tones = toneRecognizer();
  const used: unknown[] = [];
  const recognizer: Recognizer = {
    ...tones,
    recognize: (input, options) => {
      used.push(options.hints);
      return tones.recognize(input, options);
    },
  };
  await using _worker = await jobs.openWorker(recognizer);
  assert.equal((await transcriptOf(await jobs.ended(account, name))).text, "4 2");
  assert.deepEqual(used, [[]]);
});
