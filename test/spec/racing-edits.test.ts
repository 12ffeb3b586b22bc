// Several clients edit one transcript at the same time with ModifySegments and If-Match, and merge
// with the model of the console's editor: nothing that any of them wrote is lost.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { EditedParagraph } from "../../src/console/transcript/edit/model/base.ts";
import { differentWords } from "../fixtures/different-words.ts";
import { RacingClient, withTextAt } from "../fixtures/racing-client.ts";
import { within } from "../fixtures/until.ts";
import { openTestService } from "./service.ts";
import { draftOf } from "./transcripts.ts";

const service = await openTestService({ HLUST_ENGINE: "scripted" });
after(() => service[Symbol.asyncDispose]());

const clients = 4;
const rounds = 12;

async function create(): Promise<string> {
  const draft = { ...draftOf("Fundur"), segments: differentWords() };
  const { status, json } = await service.call("POST", "/v1alpha1/transcripts", draft);
  assert.equal(status, 200, JSON.stringify(json));
  return json.name;
}

async function wordsOf(name: string): Promise<string[]> {
  const { json } = await service.call("GET", `/v1alpha1/${name}`);
  const text = json.segments
    .map(({ words }: { words: { word: string }[] }) => words.map(({ word }) => word).join(""))
    .join(" ");
  return text.split(/\s+/).filter((word: string) => word !== "");
}

/** Adds a word between two words of a paragraph, or at its start or end. */
function withWord(
  paragraphs: readonly EditedParagraph[],
  word: string,
  drawn: number,
): readonly EditedParagraph[] {
  const index = drawn % paragraphs.length;
  const { text = "" } = paragraphs[index] ?? {};
  const gaps = [0, ...Array.from(text.matchAll(/\s+/g), (gap) => gap.index), text.length];
  return withTextAt(paragraphs, index, gaps[drawn % gaps.length] ?? 0, ` ${word} `);
}

async function race(name: string, placeOf: (client: number, round: number) => number) {
  const written: string[] = [];
  const racing = Array.from({ length: clients }, () => new RacingClient(service, name));
  await within(
    "all rounds",
    Promise.all(
      racing.map(async (client, at) => {
        await client.read();
        for (let round = 0; round < rounds; round++) {
          const word = `k${at}u${round}`;
          written.push(word);
          await client.save((paragraphs) => withWord(paragraphs, word, placeOf(at, round)));
        }
      }),
    ),
    120_000,
  );
  const sum = (count: "merges" | "clashes") =>
    racing.reduce((total, client) => total + client[count], 0);
  return { written, merges: sum("merges"), clashes: sum("clashes") };
}

test("every word of clients that race all over a text is in the end text, under load", async () => {
  const name = await create();
  const before = await wordsOf(name);
  const over = new AbortController();
  const load = Array.from({ length: 3 }, async () => {
    while (!over.signal.aborted) {
      await service.call("GET", `/v1alpha1/${name}`);
      await service.call("GET", `/v1alpha1/${name}/versions`);
    }
  });
  const { written, merges } = await race(name, (client, round) => client * 7_919 + round * 104_729);
  over.abort();
  await Promise.all(load);
  const words = await wordsOf(name);
  for (const word of [...before, ...written]) assert.ok(words.includes(word), `${word} is lost`);
  assert.ok(merges >= rounds, `only ${merges} merges`);
  const { json } = await service.call("GET", `/v1alpha1/${name}/versions?pageSize=1000`);
  assert.equal(json.versions.length, 1 + clients * rounds);
});

test("clients that all write at one place lose nothing, because clashes keep both", async () => {
  const name = await create();
  const before = await wordsOf(name);
  const { written, clashes } = await race(name, () => 3);
  const words = await wordsOf(name);
  for (const word of [...before, ...written]) assert.ok(words.includes(word), `${word} is lost`);
  assert.ok(clashes > 0);
});
