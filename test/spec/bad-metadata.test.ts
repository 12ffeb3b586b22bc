// Metadata with wrong values: it is refused with a reason, and nothing from it is stored.
import assert from "node:assert/strict";
import { after, afterEach, test } from "node:test";
import { fieldsOf } from "./jobs.ts";
import type { Answer } from "./service.ts";
import { openStoredService } from "./stored-service.ts";
import { draftOf } from "./transcripts.ts";

const path = "/v1alpha1/transcripts";
const stored = await openStoredService();
const { service, name } = stored;
after(() => stored[Symbol.asyncDispose]());
afterEach(stored.assertUnchanged);

/** Sends metadata in a creation and in an update. */
async function sendBoth(metadata: object): Promise<Answer[]> {
  return [
    await service.call("POST", path, { ...draftOf("Slæm"), metadata }),
    await service.call("PATCH", `/v1alpha1/${name}`, { metadata }),
  ];
}

test("speakers with members, ages or genders that do not exist are refused", async () => {
  const [ages, genders] = [
    "AGE_GROUP_UNSPECIFIED, CHILD, TEENAGER, ADULT, PENSIONER",
    "GENDER_UNSPECIFIED, MALE, FEMALE, OTHER",
  ];
  const rows: [speaker: unknown, member: string, problem: string][] = [
    ...["OLD", "adult", "3", "", true, 1.5].map((ageGroup): [unknown, string, string] => [
      { ageGroup },
      ".ageGroup",
      `expected one of ${ages}, found ${JSON.stringify(ageGroup)}`,
    ]),
    [{ ageGroup: 9 }, ".ageGroup", `is 9: one of ${ages} is expected`],
    [{ ageGroup: -1 }, ".ageGroup", `is -1: one of ${ages} is expected`],
    ...["WOMAN", "Female", "2", ["MALE"]].map((gender): [unknown, string, string] => [
      { gender },
      ".gender",
      `expected one of ${genders}, found ${JSON.stringify(gender)}`,
    ]),
    [{ gender: 9 }, ".gender", `is 9: one of ${genders} is expected`],
    // The name of a speaker in earlier versions.
    [{ name: "Anna" }, ".name", "SpeakerInfo has no such field"],
    ["Anna", "", 'expected an object, found "Anna"'],
    [null, "", "must not be null"],
  ];
  for (const [speaker, member, problem] of rows) {
    const metadata = { ...draftOf("Slæm").metadata, speakers: { a: speaker } };
    const field = `metadata.speakers["a"]${member}`;
    for (const answer of await sendBoth(metadata)) {
      assert.equal(answer.status, 400, JSON.stringify(speaker));
      assert.deepEqual(fieldsOf(answer), [field]);
      assert.equal(answer.json.message, `${field}: ${problem}`);
    }
  }
});

test("several original sources in a body: dictation counts, and each has the type of its field", async () => {
  const [uri, file] = [{ originalUri: "http://a.example/" }, { originalFilename: "a.wav" }];
  const refused: [sources: object, field: string, problem: RegExp][] = [
    [{ originalUri: 5, dictation: true }, "originalUri", /expected a string, found 5/],
    [{ dictation: true, originalUri: 5 }, "originalUri", /expected a string, found 5/],
    [
      { dictation: true, originalFilename: [] },
      "originalFilename",
      /expected a string, found \[\]/,
    ],
    [{ ...uri, dictation: "yes" }, "dictation", /expected true or false, found "yes"/],
    [{ ...uri, original_uri: "x" }, "originalUri", /given twice, also as original_uri/],
  ];
  const { dictation: _, ...plain } = draftOf("Slæm").metadata;
  for (const [sources, field, problem] of refused) {
    for (const answer of await sendBoth({ ...plain, ...sources })) {
      assert.equal(answer.status, 400, JSON.stringify(sources));
      assert.deepEqual(fieldsOf(answer), [`metadata.${field}`]);
      assert.match(answer.json.message, problem);
    }
  }
  for (const sources of [
    { ...uri, dictation: true },
    { dictation: true, ...uri },
    { ...uri, ...file, dictation: true },
  ]) {
    const { status, json } = await service.call("POST", path, {
      ...draftOf("Um stund"),
      metadata: { ...plain, ...sources },
    });
    assert.equal(status, 200, json.message);
    const { json: made } = await service.call("GET", `/v1alpha1/${json.name}`);
    const { originalUri, originalFilename, dictation } = made.metadata;
    assert.deepEqual([originalUri, originalFilename, dictation], [undefined, undefined, true]);
    await service.call("DELETE", `/v1alpha1/${json.name}`);
  }
  // The service sets both of these, so neither is a source of a new transcript.
  const both = { metadata: { ...uri, ...file } };
  const patched = await service.call("PATCH", `/v1alpha1/${name}`, both);
  assert.equal(patched.status, 400);
  assert.match(patched.json.message, /metadata\.originalUri: is set by the service/);
});
