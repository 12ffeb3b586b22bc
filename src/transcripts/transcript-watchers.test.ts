import assert from "node:assert/strict";
import { after, test, type TestContext } from "node:test";
import { openTestTranscripts, metadataWith } from "../../test/fixtures/open-test-transcripts.ts";
import { within } from "../../test/fixtures/until.ts";
import { ServiceError } from "../std/service-error.ts";
import { NodeWatches, watchesMax } from "../watches/node-watches.ts";
import { addPresence } from "./presence-store.ts";
import { TranscriptWatchers } from "./transcript-watchers.ts";

const app = await openTestTranscripts();
after(async () => {
  await app[Symbol.asyncDispose]();
});
const { db, accountId } = app;
const repeatMs = 300;

async function newTranscript(): Promise<string> {
  const name = await app.client.create({ metadata: metadataWith(), segments: [] });
  return name.slice("transcripts/".length);
}

/** Opens watches that end with the test, also if it fails: open ones would keep it running. */
function openWatchers(t: TestContext) {
  const node = new NodeWatches(db, { repeatMs });
  let statements = 0;
  const counted = db.withPlugin({
    transformQuery({ node: query }) {
      statements++;
      return query;
    },
    transformResult: async ({ result }) => result,
  });
  const watchers = new TranscriptWatchers(counted, node);
  const watches: AsyncGenerator[] = [];
  t.after(async () => {
    node.stop(new ServiceError("unavailable", "the test has ended"));
    await Promise.allSettled(watches.map(async (watch) => await watch.return(undefined)));
  });
  const watch = (...call: Parameters<typeof watchers.watch>) => {
    const watch = watchers.watch(...call);
    watches.push(watch);
    return watch;
  };
  return { node, watchers: { watch }, statements: () => statements };
}

test("a state that does not change is sent again, so that proxies do not consider the stream dead", async (t) => {
  const { watchers } = openWatchers(t);
  const id = await newTranscript();
  const watch = watchers.watch(accountId, id, new AbortController().signal);
  const first = await watch.next();
  const startMs = performance.now();
  const second = await within("the same again", watch.next());
  assert.deepEqual(second, first);
  assert.ok(performance.now() - startMs >= repeatMs - 1);
  await watch.return();
});

test("a hundred watches of one transcript share the reads of its state", async (t) => {
  const { watchers, statements } = openWatchers(t);
  const id = await newTranscript();
  const { signal } = new AbortController();
  const watches = Array.from({ length: 100 }, () => watchers.watch(accountId, id, signal));
  await Promise.all(watches.map(async (watch) => await watch.next()));
  assert.equal(statements(), 2);
  await db.transaction().execute(async (trx) => {
    const client = { accountId, transcriptId: id, actor: `members/${accountId}`, session: "a" };
    await addPresence(trx, client, { isEditing: true, position: null, clientsMax: 1 });
  });
  const present = async (watch: (typeof watches)[number]): Promise<void> => {
    for await (const { participants } of watch) if (participants.length === 1) return;
  };
  await within("the participant", Promise.all(watches.map(present)));
  assert.equal(statements(), 4);
  await Promise.all(watches.map(async (watch) => await watch.return()));
});

test("the number of watches of an account is limited, and a place that is left is free", async (t) => {
  const { node, watchers } = openWatchers(t);
  const id = await newTranscript();
  const { signal } = new AbortController();
  const places = Array.from({ length: watchesMax.account - 1 }, () => node.enter(accountId));
  const watch = watchers.watch(accountId, id, signal);
  await watch.next();
  const refused = watchers.watch(accountId, id, signal).next();
  await assert.rejects(refused, { code: "resource_exhausted", reason: "WATCHES_FULL" });
  await watch.return();
  const next = watchers.watch(accountId, id, signal);
  assert.ok((await next.next()).value);
  await next.return();
  for (const place of places) place[Symbol.dispose]();
});

test("a watch of another account's transcript fails with NOT_FOUND, also if the account watches it", async (t) => {
  const { watchers } = openWatchers(t);
  const id = await newTranscript();
  const { signal } = new AbortController();
  const watch = watchers.watch(accountId, id, signal);
  await watch.next();
  const foreign = watchers.watch(await app.newAccount(), id, signal).next();
  await assert.rejects(foreign, { code: "not_found", reason: "TRANSCRIPT_NOT_FOUND" });
  await watch.return();
});

test("watches end with their call, and with the node", async (t) => {
  const { node, watchers } = openWatchers(t);
  const id = await newTranscript();
  const leaving = new AbortController();
  const [one, other] = [
    watchers.watch(accountId, id, leaving.signal),
    watchers.watch(accountId, id, new AbortController().signal),
  ];
  await Promise.all([one.next(), other.next()]);
  leaving.abort(new Error("left"));
  await assert.rejects(within("the end of one", endOf(one)), /left/);
  node.stop(new ServiceError("unavailable", "stopping"));
  await assert.rejects(within("the end of the other", endOf(other)), /stopping/);
  const late = watchers.watch(accountId, id, new AbortController().signal).next();
  await assert.rejects(late, /stopping/);
});

async function endOf(watch: AsyncGenerator): Promise<void> {
  while ((await watch.next()).done !== true);
}
