import assert from "node:assert/strict";
import { once } from "node:events";
import { get } from "node:http";
import { after, test } from "node:test";
import {
  openTestMediaDoor,
  protocols,
  reasonOf,
  wav,
} from "../../test/fixtures/open-test-media-door.ts";

const door = await openTestMediaDoor();
after(async () => {
  await door[Symbol.asyncDispose]();
});
const { app, send, newUpload } = door;

/** The longest recording that is described: eight hours. */
const longest = { pixels: 576_000, pieces: 48 };

/**
 * Creates a transcript with media whose waveform has this number of rows of 12,000 pixels. Returns
 * the transcript and the waveform's address.
 */
async function withWaveform(pieces: number): Promise<{ name: string; url: string; id: string }> {
  const { name, url } = await newUpload();
  assert.equal((await send("HTTP/1.1", "PUT", url, { body: wav(100) })).status, 200);
  const id = /media\/([^?]+)/.exec((await app.client.get(name)).uri)?.[1] ?? "";
  const rows = Array.from({ length: pieces }, (_, number) => ({
    media_id: id,
    number,
    peaks: Buffer.from(Array.from({ length: 24_000 }, (__, at) => (at * 7 + number) & 0xff)),
  }));
  await app.db.insertInto("media_peaks").values(rows).execute();
  const facts = { peaks_count: pieces * 12_000, described_at: new Date() };
  await app.db.updateTable("media").set(facts).where("id", "=", id).execute();
  return { name, id, url: (await app.client.get(name)).metadata?.waveformUri ?? "" };
}

for (const protocol of protocols) {
  test(`${protocol}: the waveform of an eight-hour recording is complete`, async () => {
    const { url } = await withWaveform(longest.pieces);
    const { status, headers, body } = await send(protocol, "GET", url);
    assert.equal(status, 200);
    assert.equal(headers["content-type"], "application/json");
    assert.equal(headers["x-content-type-options"], "nosniff");
    const { data, ...rest } = JSON.parse(body.toString());
    assert.equal(rest.length, longest.pixels);
    assert.equal(data.length, 2 * longest.pixels);
    const isRight = (value: number, at: number): boolean => {
      const byte = ((at % 24_000) * 7 + Math.floor(at / 24_000)) & 0xff;
      return value === (byte > 127 ? byte - 256 : byte);
    };
    assert.equal(
      data.findIndex((value: number, at: number) => !isRight(value, at)),
      -1,
    );

    const head = await send(protocol, "HEAD", url);
    assert.deepEqual([head.status, head.body.length], [200, 0]);
    assert.equal(head.headers["etag"], headers["etag"]);
    const known = { "if-none-match": `"other", ${String(headers["etag"])}` };
    const same = await send(protocol, "GET", url, { headers: known });
    assert.deepEqual([same.status, same.body.length], [304, 0]);
  });

  test(`${protocol}: a waveform that does not exist or was deleted is not found`, async () => {
    const { name, url, id } = await withWaveform(1);
    await app.db.updateTable("media").set({ peaks_count: null }).where("id", "=", id).execute();
    const undescribed = await send(protocol, "GET", url);
    assert.deepEqual([undescribed.status, reasonOf(undescribed)], [404, "NOT_FOUND"]);
    await app.client.delete(name);
    assert.equal((await send(protocol, "GET", url)).status, 404);
    assert.equal((await send(protocol, "PUT", url)).status, 403);
    assert.equal((await send(protocol, "POST", url)).status, 405);
    const rows = await app.db.selectFrom("media_peaks").where("media_id", "=", id).execute();
    assert.equal(rows.length, 0, "it was deleted with its media");
  });
}

test("the response is aborted, not shortened, if media is deleted while its waveform is sent", async () => {
  const { url, id } = await withWaveform(longest.pieces);
  await app.db
    .deleteFrom("media_peaks")
    .where("media_id", "=", id)
    .where("number", "=", 40)
    .execute();
  const [response] = await once(get(url), "response");
  assert.equal(response.statusCode, 200);
  await assert.rejects(async () => {
    for await (const _ of response);
  }, /aborted/);
});
