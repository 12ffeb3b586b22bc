import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { addAccount } from "../../test/fixtures/auth-fixture.ts";
import { openTestDatabase } from "../../test/fixtures/open-test-database.ts";
import { callBy, testCaller } from "../../test/fixtures/test-caller.ts";
import {
  CreateVocabularyPhraseRequestSchema,
  DeleteVocabularyPhraseRequestSchema,
  ImportVocabularyPhrasesRequestSchema,
  ListVocabularyPhrasesRequestSchema,
  UpdateVocabularyPhraseRequestSchema,
  VocabularyPhrase_Source as Source,
  VocabularyPhrase_State as State,
  type VocabularyPhraseSchema,
  type Vocabulary,
} from "../gen/hlust/speech/v2beta1/vocabulary_pb.ts";
import { createLog } from "../std/log.ts";
import { createPageTokens } from "../std/page-token.ts";
import { ServiceError } from "../std/service-error.ts";
import { createAccountHints } from "./account-hints.ts";
import { createVocabularyService } from "./vocabulary-service.ts";

type Phrase = MessageInitShape<typeof VocabularyPhraseSchema>;

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let service: ServiceImpl<typeof Vocabulary>;
before(async () => {
  database = await openTestDatabase();
  const { db } = database;
  const pageTokens = createPageTokens(randomBytes(32));
  service = createVocabularyService({ db, pageTokens, log: createLog("silent") });
});
after(() => database[Symbol.asyncDispose]());

/** The calls of a new account. */
async function openAccount() {
  const accountId = await addAccount(database.db);
  const context: HandlerContext = callBy(testCaller(accountId, ["transcripts.write"]));
  return {
    accountId,
    add: async (phrase: Phrase) =>
      await service.createVocabularyPhrase(
        create(CreateVocabularyPhraseRequestSchema, { phrase }),
        context,
      ),
    importAll: async (phrases: Phrase[], skipExisting = false) =>
      await service.importVocabularyPhrases(
        create(ImportVocabularyPhrasesRequestSchema, { phrases, skipExisting }),
        context,
      ),
    update: async (phrase: Phrase, paths: string[] = []) =>
      await service.updateVocabularyPhrase(
        create(UpdateVocabularyPhraseRequestSchema, { phrase, updateMask: { paths } }),
        context,
      ),
    remove: async (name: string) =>
      await service.deleteVocabularyPhrase(
        create(DeleteVocabularyPhraseRequestSchema, { name }),
        context,
      ),
    list: async (request: MessageInitShape<typeof ListVocabularyPhrasesRequestSchema> = {}) =>
      await service.listVocabularyPhrases(
        create(ListVocabularyPhrasesRequestSchema, request),
        context,
      ),
  };
}

const icelandic = (phrase: string, more: Phrase = {}): Phrase => ({
  phrase,
  languageCode: "is-IS",
  ...more,
});

async function failure(call: Promise<unknown>): Promise<ServiceError> {
  const error: unknown = await call.then(
    () => assert.fail("the call succeeded"),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof ServiceError, String(error));
  return error;
}

const fieldsOf = ({ violations }: ServiceError) =>
  violations.map(({ field, description }) => `${field}: ${description}`);

test("a phrase is created, listed, changed and deleted", async () => {
  const { add, list, update, remove } = await openAccount();
  const made = await add(icelandic("Kópasker", { soundsLike: ["kópa sker"] }));
  assert.deepEqual(
    [made.phrase, made.languageCode, made.weight, made.soundsLike, made.source, made.state],
    ["Kópasker", "is-IS", 10, ["kópa sker"], Source.USER, State.ACTIVE],
  );
  await add(icelandic("Ásbyrgi"));
  const phrasesOf = async (request?: Parameters<typeof list>[0]) =>
    ((await list(request)).phrases ?? []).map(({ phrase }) => phrase);
  assert.deepEqual(await phrasesOf(), ["Kópasker", "Ásbyrgi"]);
  assert.deepEqual(await phrasesOf({ languageCode: "en-US" }), []);
  const changed = await update({ name: made.name ?? "", state: State.REJECTED, weight: 3 });
  assert.deepEqual([changed.state, changed.weight, changed.phrase], [3, 3, "Kópasker"]);
  assert.deepEqual(await phrasesOf({ state: State.ACTIVE }), ["Ásbyrgi"]);
  // A mask clears a field; a weight of 0 is the default.
  const cleared = await update({ name: made.name ?? "" }, ["sounds_like", "weight"]);
  assert.deepEqual([cleared.soundsLike, cleared.weight], [[], 10]);
  await remove(made.name ?? "");
  assert.deepEqual(await phrasesOf(), ["Ásbyrgi"]);
  assert.equal((await failure(remove(made.name ?? ""))).reason, "PHRASE_NOT_FOUND");
});

test("pages list every phrase once", async () => {
  const { importAll, list } = await openAccount();
  const phrases = Array.from({ length: 25 }, (_, index) => icelandic(`orð ${index}`));
  await importAll(phrases);
  const found: string[] = [];
  for (let pageToken = ""; ;) {
    const page = await list({ pageSize: 10, pageToken });
    found.push(...(page.phrases ?? []).map(({ phrase = "" }) => phrase));
    pageToken = page.nextPageToken ?? "";
    if (pageToken === "") break;
  }
  assert.deepEqual(found.toSorted(), phrases.map(({ phrase = "" }) => phrase).toSorted());
  const { nextPageToken = "" } = await list({ pageSize: 10 });
  const error = await failure(
    Promise.resolve(list({ pageToken: nextPageToken, state: State.ACTIVE })),
  );
  assert.deepEqual(
    error.violations.map(({ field }) => field),
    ["pageToken"],
  );
});

test("an import names all that is wrong at once, and imports nothing", async () => {
  const { add, importAll, list } = await openAccount();
  await add(icelandic("Ásbyrgi"));
  const error = await failure(
    importAll([
      icelandic(""),
      icelandic("Kópasker"),
      icelandic("KÓPASKER!"),
      icelandic("Raufarhöfn 🏔️"),
      icelandic("Þórs\u0007höfn"),
      icelandic("ásbyrgi"),
      { phrase: "Ásbyrgi", languageCode: "en-US" },
      { phrase: "Húsavík" },
    ]),
  );
  assert.equal(error.code, "invalid_argument");
  assert.deepEqual(fieldsOf(error), [
    "phrases[0].phrase: is required",
    "phrases[2].phrase: is the same as phrases[1]",
    "phrases[3].phrase: has an emoji, U+1F3D4",
    "phrases[4].phrase: has a control character, U+0007",
    "phrases[7].languageCode: is required, for example is-IS",
    "phrases[5].phrase: is in the vocabulary already",
  ]);
  assert.equal((await list()).phrases?.length, 1);
});

test("an import of 10 000 phrases is refused with the number of all violations", async () => {
  const { importAll } = await openAccount();
  const empty = Array.from({ length: 10_000 }, () => icelandic(""));
  const error = await failure(importAll(empty));
  assert.equal(error.violations.length, 100);
  assert.deepEqual(fieldsOf(error).slice(0, 2), [
    "phrases: has 10000 phrases; at most 5000 are allowed",
    "phrases[0].phrase: is required",
  ]);
  assert.match(error.message, /; and 9991 more$/);
  assert.deepEqual(fieldsOf(await failure(importAll([]))), ["phrases: at least one is required"]);
});

test("a vocabulary has at most 5000 active phrases", async () => {
  const { add, importAll, update, list } = await openAccount();
  const phrases = Array.from({ length: 5000 }, (_, index) => icelandic(`orð ${index}`));
  assert.equal((await importAll(phrases)).importedCount, 5000);
  const error = await failure(Promise.resolve(add(icelandic("annað"))));
  assert.deepEqual([error.code, error.reason], ["resource_exhausted", "VOCABULARY_FULL"]);
  const candidate = await add(icelandic("annað", { state: State.CANDIDATE }));
  const full = await failure(
    Promise.resolve(update({ name: candidate.name ?? "", state: State.ACTIVE })),
  );
  assert.equal(full.reason, "VOCABULARY_FULL");
  assert.equal((await list({ state: State.CANDIDATE })).phrases?.length, 1);
  // What is there already needs no room.
  assert.deepEqual((await importAll(phrases.slice(0, 3), true)).skippedCount, 3);
});

test("an import that skips what exists adds the rest, and accepts candidates", async () => {
  const { add, importAll, list } = await openAccount();
  await add(icelandic("Ásbyrgi", { weight: 20 }));
  await add(icelandic("kopasker", { state: State.CANDIDATE }));
  const imported = await importAll(
    ["Ásbyrgi", "Kopasker", "kopasker", "Húsavík"].map((phrase) => icelandic(phrase)),
    true,
  );
  assert.deepEqual([imported.importedCount, imported.skippedCount], [2, 2]);
  const { phrases = [] } = await list();
  assert.deepEqual(
    phrases.map(({ phrase, state, weight }) => [phrase, state, weight]),
    [
      ["Húsavík", State.ACTIVE, 10],
      ["Kopasker", State.ACTIVE, 10],
      ["Ásbyrgi", State.ACTIVE, 20],
    ],
  );
});

test("one of two imports of the same phrases at the same time is refused", async () => {
  const { importAll, list } = await openAccount();
  const phrases = Array.from({ length: 300 }, (_, index) => icelandic(`orð ${index}`));
  const results = await Promise.allSettled([importAll(phrases), importAll(phrases.toReversed())]);
  const reasons = results.flatMap((result): unknown[] =>
    result.status === "rejected" ? [result.reason] : [],
  );
  assert.equal(reasons.length, 1);
  const [refused] = reasons;
  assert.ok(refused instanceof ServiceError);
  assert.match(refused.message, /is in the vocabulary already; and 290 more$/);
  assert.equal((await list({ pageSize: 1000 })).phrases?.length, 300);
});

test("two imports that skip what exists together import each phrase once", async () => {
  const { importAll, list } = await openAccount();
  const phrases = Array.from({ length: 300 }, (_, index) => icelandic(`orð ${index}`));
  const both = await Promise.all([
    importAll(phrases.slice(0, 200), true),
    importAll(phrases.slice(100).toReversed(), true),
  ]);
  const counts = both.map(({ importedCount = 0 }) => importedCount).toSorted((a, b) => a - b);
  assert.deepEqual(counts, [100, 200]);
  assert.equal((await list({ pageSize: 1000 })).phrases?.length, 300);
});

test("a phrase cannot become the same as another one", async () => {
  const { add, update } = await openAccount();
  await add(icelandic("Ásbyrgi"));
  const other = await add(icelandic("Húsavík"));
  const error = await failure(
    Promise.resolve(update({ name: other.name ?? "", phrase: "ÁSBYRGI" })),
  );
  assert.match(fieldsOf(error)[0] ?? "", /^phrase: is in the vocabulary already/);
  // Its own text in other letters is no other phrase.
  assert.equal((await update({ name: other.name ?? "", phrase: "HÚSAVÍK" })).phrase, "HÚSAVÍK");
});

test("an account sees and changes only its own phrases", async () => {
  const [one, other] = [await openAccount(), await openAccount()];
  const made = await one.add(icelandic("Ásbyrgi"));
  await other.add(icelandic("Ásbyrgi"));
  const name = made.name ?? "";
  assert.equal(
    (await failure(Promise.resolve(other.update({ name, weight: 1 })))).code,
    "not_found",
  );
  assert.equal((await failure(Promise.resolve(other.remove(name)))).code, "not_found");
  assert.equal((await one.list()).phrases?.[0]?.weight, 10);
  const hints = createAccountHints({ db: database.db });
  const { accountId } = await openAccount();
  assert.equal(await hints.extend(undefined, { accountId, languageCode: "is-IS" }), undefined);
});

test("hints are extended by the phrases with the greatest weight, and then the newest", async () => {
  const { accountId, importAll } = await openAccount();
  let now = 0;
  const hints = createAccountHints({ db: database.db, now: () => now });
  const extend = async (own: string[] = [], languageCode = "is-IS") => {
    now += 1000;
    const called = own.map((phrase) => ({ phrase, boost: 1 }));
    const all = await hints.extend(called, { accountId, languageCode });
    return (all ?? []).map(({ phrase }) => phrase);
  };
  assert.deepEqual(await extend(["eigið"]), ["eigið"]);
  await importAll([
    icelandic("létt", { weight: 1 }),
    icelandic("þungt", { weight: 20, soundsLike: ["thungt"] }),
    icelandic("Eigið", { weight: 15 }),
    { phrase: "heavy", languageCode: "en-US" },
  ]);
  assert.deepEqual(await extend(["eigið"]), ["eigið", "þungt", "létt"]);
  assert.deepEqual(await extend([], "IS-is"), ["þungt", "Eigið", "létt"]);
  assert.deepEqual(await extend([], "en-US"), ["heavy"]);
  assert.deepEqual(await extend([], "de-DE"), []);
  const all = await hints.extend([], { accountId, languageCode: "is-IS" });
  assert.deepEqual(all?.[0], { phrase: "þungt", boost: 20, soundsLike: ["thungt"] });
  await importAll(Array.from({ length: 600 }, (_, index) => icelandic(`orð ${index}`)));
  const most = await extend(["eigið", "annað"]);
  assert.equal(most.length, 500);
  assert.deepEqual(most.slice(0, 3), ["eigið", "annað", "þungt"]);
  assert.ok(!most.includes("létt"));
});

test("hints of a language include the phrases of the same one with or without a region", async () => {
  const { accountId, importAll } = await openAccount();
  const hints = createAccountHints({ db: database.db });
  await importAll([
    { phrase: "Kópasker", languageCode: "is", weight: 3 },
    { phrase: "kópasker!", languageCode: "is-IS", weight: 9 },
    { phrase: "Húsavík", languageCode: "is", weight: 5 },
    { phrase: "Esja", languageCode: "is-IS-x-exp", weight: 4 },
    { phrase: "lorry", languageCode: "en-GB" },
    { phrase: "Eis", languageCode: "de" },
  ]);
  const rows: [languageCode: string, phrases: string[]][] = [
    ["is-IS", ["kópasker! 9", "Húsavík 5", "Esja 4"]],
    ["is-IS-x-exp", ["kópasker! 9", "Húsavík 5", "Esja 4"]],
    ["is", ["kópasker! 9", "Húsavík 5", "Esja 4"]],
    ["en", ["lorry 10"]],
    ["en-US", []],
  ];
  for (const [languageCode, expected] of rows) {
    const found = await hints.extend([], { accountId, languageCode });
    assert.deepEqual(
      found?.map(({ phrase, boost }) => `${phrase} ${boost}`),
      expected,
      languageCode,
    );
  }
});

test("a change of another node is used within a second, and nothing is read again before", async () => {
  const { accountId, add } = await openAccount();
  let now = 0;
  const hints = createAccountHints({ db: database.db, now: () => now });
  const extend = async () => await hints.extend([], { accountId, languageCode: "is-IS" });
  await add(icelandic("Ásbyrgi"));
  const before = await extend();
  assert.equal(before?.length, 1);
  now += 1000;
  // The same list, as long as the revision is the same.
  assert.equal(await extend(), before);
  await add(icelandic("Húsavík"));
  assert.equal(await extend(), before);
  now += 1000;
  assert.equal((await extend())?.length, 2);
});
