import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { ServiceError } from "../../std/service-error.ts";
import { EventSocket } from "./event-socket.ts";
import { writeEvent } from "./write-event.ts";

interface Pair extends AsyncDisposable {
  readonly client: Socket;
  readonly events: EventSocket;
}

async function openPair(idleMsMax = 60_000): Promise<Pair> {
  const server = createServer({ allowHalfOpen: true });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  const accepted = once(server, "connection");
  const client = connect(address.port, address.address);
  const [socket]: Socket[] = await accepted;
  assert.ok(socket);
  const events = new EventSocket(socket, idleMsMax);
  return {
    client,
    events,
    async [Symbol.asyncDispose]() {
      await events.close();
      client.destroy();
      await once(server.close(), "close");
    },
  };
}

function reasonOf({ signal }: EventSocket): string | undefined {
  return signal.aborted && signal.reason instanceof ServiceError ? signal.reason.reason : undefined;
}

async function typeOfNext(events: EventSocket): Promise<string | undefined> {
  const { value } = await events.next();
  return value?.kind === "event" ? value.type : value?.kind;
}

test("a drained socket ends audio that is incomplete, but finishes audio with its end", async () => {
  await using cut = await openPair();
  cut.client.write(writeEvent("audio-start", { rate: 16_000 }));
  assert.equal(await typeOfNext(cut.events), "audio-start");
  cut.events.beginAudio();
  cut.events.drain();
  assert.equal(reasonOf(cut.events), "SHUTTING_DOWN");
  await assert.rejects(cut.events.next(), { reason: "SHUTTING_DOWN" });

  await using whole = await openPair();
  whole.client.write(writeEvent("audio-start", { rate: 16_000 }));
  assert.equal(await typeOfNext(whole.events), "audio-start");
  whole.events.beginAudio();
  whole.client.write(writeEvent("audio-stop"));
  assert.equal(await typeOfNext(whole.events), "audio-stop");
  whole.events.drain();
  assert.equal(reasonOf(whole.events), undefined);
  assert.equal(await typeOfNext(whole.events), undefined);
});

test("a client that leaves ends the audio, unless its end has come", async () => {
  await using cut = await openPair();
  cut.client.write(writeEvent("audio-start", { rate: 16_000 }));
  assert.equal(await typeOfNext(cut.events), "audio-start");
  cut.events.beginAudio();
  cut.client.end();
  await assert.rejects(cut.events.next(), { code: "cancelled" });
  assert.ok(cut.events.signal.aborted);

  await using whole = await openPair();
  whole.client.end(Buffer.concat([writeEvent("audio-start"), writeEvent("audio-stop")]));
  assert.equal(await typeOfNext(whole.events), "audio-start");
  whole.events.beginAudio();
  assert.equal(await typeOfNext(whole.events), "audio-stop");
  assert.equal(await typeOfNext(whole.events), undefined);
  assert.equal(whole.events.signal.aborted, false);

  await using early = await openPair();
  early.client.end(writeEvent("audio-start"));
  assert.equal(await typeOfNext(early.events), "audio-start");
  assert.equal(await typeOfNext(early.events), undefined);
  assert.throws(() => early.events.beginAudio(), { code: "cancelled" });
});

test("a socket whose next event does not come is ended, also in the middle of one", async () => {
  await using idle = await openPair(20);
  idle.client.write('{"type":"des');
  await assert.rejects(idle.events.next(), { reason: "IDLE", message: "no event for 0.02 s" });
  assert.equal(reasonOf(idle.events), "IDLE");
});

test("a flood of tiny events is refused", async () => {
  await using flood = await openPair();
  flood.client.write('{"type":"ping"}\n'.repeat(1_000));
  const reading = async (): Promise<void> => {
    while ((await flood.events.next()).done !== true);
  };
  await assert.rejects(reading(), { reason: "PIECES_TOO_SMALL" });
});
