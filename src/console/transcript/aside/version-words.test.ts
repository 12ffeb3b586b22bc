import assert from "node:assert/strict";
import { test } from "node:test";
import type { Version_KindJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { asideText } from "../../text/transcript-aside.ts";
import { changedCounts, changedParts, madePhrase, renamedSpeakers } from "./version-words.ts";

const label = (diff: Parameters<typeof changedParts>[0]) =>
  asideText.changed.is(changedParts(diff).map(({ is }) => is));

test("changedParts() names each part that a diff changes, without repetitions", () => {
  assert.equal(label({ wordsAdded: 3 }), "Texta breytt");
  assert.equal(label({ wordsRetimed: 1, wordsRespoken: 2 }), "Tímum og mælendum breytt");
  assert.equal(label({ wordsResegmented: 1 }), "Málsgreinum breytt");
  const metadataChanges = [
    { field: "speakers.S1" },
    { field: "speakers.S2" },
    { field: "subject" },
    { field: "additionalMetadata.salur" },
    { field: "dictation" },
  ];
  assert.equal(label({ metadataChanges }), "Nöfnum, titli og öðrum upplýsingum breytt");
  assert.deepEqual(changedParts({ wordsKept: 100 }), []);
});

test("changedCounts() lists the counts that are not 0, each with the right singular or plural", () => {
  const texts = (diff: Parameters<typeof changedCounts>[0]) =>
    changedCounts(diff).map(({ phrase, count }) => phrase.is(count));
  assert.deepEqual(texts({ wordsAdded: 21, wordsRemoved: 11 }), [
    "21 orð bættist við",
    "11 orð féllu út",
  ]);
  assert.deepEqual(texts({ wordsRetimed: 1, wordsRespoken: 2, wordsResegmented: 5 }), [
    "1 orð færðist í tíma",
    "2 orð fengu annan mælanda",
    "málsgreinaskil breyttust við 5 orð",
  ]);
});

test("renamedSpeakers() returns the new names of speakers", () => {
  const metadataChanges = [
    { field: "speakers.1", value: { fullName: "Guðrún" }, againstValue: { fullName: "Ari" } },
    { field: "speakers.2", value: null, againstValue: { fullName: "Ari" } },
    { field: "speakers.3", value: { fullName: "" } },
    { field: "subject", value: "Fundur" },
  ];
  assert.deepEqual(renamedSpeakers({ metadataChanges }), ["Guðrún"]);
  assert.deepEqual(renamedSpeakers({}), []);
});

test("madePhrase() says how a version was made, and by whom if that is known", () => {
  const made = (kind: Version_KindJson, by: string) => {
    const phrase = madePhrase({ kind });
    return phrase && [phrase.is(by), phrase.en(by)];
  };
  assert.deepEqual(made("RECOGNIZED", ""), ["Greint sjálfvirkt", "Recognized"]);
  assert.deepEqual(made("EDITED", "Anna"), ["Anna breytti", "Edited by Anna"]);
  assert.deepEqual(made("EDITED", ""), ["Breytt", "Edited"]);
  assert.deepEqual(made("IMPORTED", "Anna"), ["Anna sendi textann inn", "Text submitted by Anna"]);
  assert.deepEqual(made("MERGED", "Anna"), [
    "Anna felldi saman við aðra útgáfu",
    "Merged with another version by Anna",
  ]);
  assert.deepEqual(made("RESTORED", "Anna"), [
    "Anna endurheimti eldri útgáfu",
    "Earlier version restored by Anna",
  ]);
  assert.deepEqual(made("ALIGNED", ""), [
    "Orðin tímasett eftir hljóðinu",
    "Words aligned to the audio",
  ]);
  assert.equal(made("KIND_UNSPECIFIED", "Anna"), undefined);
  assert.equal(madePhrase({}), undefined);
});
