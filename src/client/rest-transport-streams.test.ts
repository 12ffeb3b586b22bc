// Tests the transport with the service's own REST and WebSocket, and with kinds of methods that the
// contract does not have yet.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Code, createClient } from "@connectrpc/connect";
import { connectFailure } from "../../test/fixtures/connect-failure.ts";
import { Streams } from "../../test/gen/streams_pb.ts";
import { openTestStreams, token } from "../../test/fixtures/open-test-streams.ts";
import { until } from "../../test/fixtures/until.ts";
import { createRestTransport } from "./rest-transport.ts";

test("the transport reads the streams and bodies that the service sends", async () => {
  await using server = await openTestStreams();
  const streams = createClient(Streams, createRestTransport({ url: server.address, token }));
  const numbers = await Array.fromAsync(streams.count({ from: 1, to: 4, size: 2 }));
  assert.deepEqual(
    numbers.map(({ n, name }) => [n, name]),
    [1, 2, 3].map((n) => [n, "xx"]),
  );
  const names = await Array.fromAsync(streams.names({ to: 2, size: 70_000 }));
  assert.deepEqual(
    names.map(({ name }) => name.length),
    [70_000, 70_000],
  );
  const parts = await Array.fromAsync(streams.export({ from: 1, to: 3, size: 100_000 }));
  const bytes = Buffer.concat(parts.map(({ data }) => data));
  assert.equal(bytes.toString(), `1,${"x".repeat(100_000)}\n2,${"x".repeat(100_000)}\n`);
  assert.equal(parts[0]?.contentType, "text/csv");
  const file = { contentType: "audio/wav", data: Uint8Array.of(0, 255) };
  const uploaded = await streams.upload({ name: "a/b", file });
  assert.deepEqual([uploaded.name, uploaded.contentType], ["a/b:\0\u00ff", "audio/wav"]);
  const echoed = await streams.echo(file);
  assert.deepEqual([echoed.contentType, [...echoed.data]], ["audio/wav", [0, 255]]);
  assert.equal((await streams.download({ to: 1, size: 3 })).data.length, 3);

  const rows = [
    [{ atEnd: "refuse" }, Code.FailedPrecondition],
    [{ to: 2, atEnd: "refuse" }, Code.FailedPrecondition],
    [{ to: 2, atEnd: "bug" }, Code.Internal],
    [{ to: 2, atEnd: "away" }, Code.Unavailable],
  ] as const;
  for (const [request, code] of rows) {
    const seen: number[] = [];
    const read = async () => {
      for await (const { n } of streams.count(request)) seen.push(n);
    };
    assert.equal((await connectFailure(read())).code, code);
    assert.deepEqual(seen, "to" in request ? [0, 1] : []);
  }
  const hanging = streams.count({ to: 1, atEnd: "hang" }, { timeoutMs: 1_000 });
  assert.equal((await connectFailure(Array.fromAsync(hanging))).code, Code.DeadlineExceeded);
  await until(async () => await Promise.resolve(server.seen.over === 8));

  const aborting = new AbortController();
  async function* talk() {
    yield { from: 7 };
    yield { from: 8 };
    await new Promise(() => {});
  }
  const received: number[] = [];
  const listen = async () => {
    for await (const { n } of streams.talk(talk(), { signal: aborting.signal })) {
      if (received.push(n) === 2) aborting.abort();
    }
  };
  assert.equal((await connectFailure(listen())).code, Code.Canceled);
  assert.deepEqual(received, [7, 8]);
});
