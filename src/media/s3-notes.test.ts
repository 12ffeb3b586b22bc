import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text as textOf } from "node:stream/consumers";
import { test } from "node:test";
import { until } from "../../test/fixtures/until.ts";
import { createLog } from "../std/log.ts";
import type { StoreNotes } from "./media-store.ts";
import { S3Bucket } from "./s3-bucket.ts";
import { openS3Notes } from "./s3-notes.ts";

type Creator = "first" | "second";

/**
 * Opens an S3 store with a single object. The store ignores If-None-Match, so the last PUT wins.
 * Both creators look for the object, and do not find it, before either writes. The PUT of `second`
 * waits until `mayWrite` returns true.
 */
async function openRace(mayWrite: (reads: Readonly<Record<Creator, number>>) => boolean) {
  await using opened = new AsyncDisposableStack();
  let object: string | undefined;
  const reads = { first: 0, second: 0 };
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const creator = request.url?.startsWith("/first/") ? "first" : "second";
    if (request.method === "PUT") {
      const text = await textOf(request);
      await until(() => Promise.resolve(reads.first > 0 && reads.second > 0));
      if (creator === "second") await until(() => Promise.resolve(mayWrite(reads)));
      object = text;
      response.end();
    } else {
      reads[creator] += 1;
      response.statusCode = object === undefined ? 404 : 200;
      response.end(object ?? "<Error><Code>NoSuchKey</Code></Error>");
    }
  };
  const server = createServer((request, response) => void respond(request, response));
  opened.defer(() => {
    server.close();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address);
  const notesOf = (bucket: Creator): StoreNotes => {
    const settings = {
      bucket,
      endpoint: `http://127.0.0.1:${address.port}`,
      publicEndpoint: undefined,
      region: "us-east-1",
      key: { id: "id", secret: "secret" },
      prefix: "",
      presigns: false,
    };
    return openS3Notes(opened.use(new S3Bucket(settings, { log: createLog("silent") })), "");
  };
  const [first, second] = [notesOf("first"), notesOf("second")];
  const open = opened.move();
  return { first, second, [Symbol.asyncDispose]: () => open.disposeAsync() };
}

test("only one of two creators creates a note, even if one replaces the text that the other has read back", async () => {
  // The second read of a creator is the one after its PUT.
  await using race = await openRace((reads) => reads.first === 2);
  const created = await Promise.all([
    race.first.create("hlust-archive", "first"),
    race.second.create("hlust-archive", "second"),
  ]);
  assert.deepEqual(created, [false, true]);
  assert.equal(await race.first.read("hlust-archive"), "second");
});

test("a creator whose text arrives after the other creator has created the note has not created the note", async () => {
  let isCreated = false;
  await using race = await openRace(() => isCreated);
  const [first, second] = await Promise.all([
    race.first.create("hlust-archive", "first").finally(() => {
      isCreated = true;
    }),
    race.second.create("hlust-archive", "second"),
  ]);
  assert.deepEqual([first, second], [true, false]);
});
