import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:http2";
import { after, test } from "node:test";
import { pino } from "pino";
import { openTestMediaDoor, wav } from "../../test/fixtures/open-test-media-door.ts";
import { until } from "../../test/fixtures/until.ts";

const lines: string[] = [];
const log = pino({ messageKey: "event" }, { write: (line: string) => void lines.push(line) });
const door = await openTestMediaDoor({ log });
after(async () => {
  await door[Symbol.asyncDispose]();
});

test("a seek, for which a browser closes its request, is logged without a stack", async () => {
  const { name, url } = await door.newUpload();
  // More than the window of a stream of HTTP/2, so that the response is still being sent.
  await door.send("HTTP/2", "PUT", url, { body: wav(900_000) });
  const { pathname, search } = new URL((await door.app.client.get(name)).uri);
  const session = connect(door.bases["HTTP/2"]);
  const request = session.request({ ":path": pathname + search }).on("error", () => {});
  await once(request, "response");
  request.close();
  session.destroy();
  const brokenOff = () => lines.find((line) => line.includes("download.broken_off"));
  await until(() => Promise.resolve(brokenOff() !== undefined));
  const { event, clientClosed, stack, error } = JSON.parse(brokenOff() ?? "{}");
  assert.deepEqual(
    { event, clientClosed, stack, error },
    { event: "download.broken_off", clientClosed: true, stack: undefined, error: undefined },
  );
});
