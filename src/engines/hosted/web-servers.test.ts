// Servers on this machine, which answer as real ones have, or wrongly.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { after, describe, test } from "node:test";
import { assertFails, key, recognize, settings } from "../../../test/fixtures/hosted-calls.ts";
import { openaiJson } from "../../../test/fixtures/recorded-openai.ts";
import { openHttpServer, openSocketServer } from "../../../test/fixtures/speech-servers.ts";
import { openOpenaiServer } from "./openai-server.ts";
import { type FailureKind, ServerFailure } from "./server-failure.ts";
import { openVoskServer } from "./vosk-server.ts";

const { text: plainJson } = openaiJson;
const opened = new AsyncDisposableStack();
after(() => opened.disposeAsync());

describe("a server of OpenAI's protocol", () => {
  /** Opens a server that answers each request with this text. */
  async function answering(text: string, status = 200, headers: Record<string, string> = {}) {
    const requests: { url: string; authorization: string; body: string }[] = [];
    const server = opened.use(
      await openHttpServer((request, response) => {
        void buffer(request).then((body) => {
          const { url = "", headers: given } = request;
          requests.push({
            url,
            authorization: given.authorization ?? "",
            body: body.toString("latin1"),
          });
          response.writeHead(status, headers).end(text);
        });
      }),
    );
    return { address: `http://${server.host}/v1`, requests };
  }

  test("it gets a WAVE file, the language, the hints as prompt, and the key", async () => {
    const { address, requests } = await answering(plainJson);
    const more = { model: "large-v3", responseFormat: "json" } as const;
    await recognize(openOpenaiServer(settings(address, more)));
    const [request] = requests;
    assert.ok(request);
    assert.equal(request.url, "/v1/audio/transcriptions");
    assert.equal(request.authorization, `Bearer ${key}`);
    const field = (name: string) =>
      new RegExp(`name="${name}"\r\n\r\n([^\r]*)\r\n`).exec(request.body)?.[1];
    assert.equal(field("model"), "large-v3");
    assert.equal(field("language"), "en");
    assert.equal(field("response_format"), "json");
    assert.equal(field("prompt"), "good day");
    assert.equal(field("timestamp_granularities\\[\\]"), undefined);
    const wav = request.body.slice(request.body.indexOf("RIFF"));
    assert.equal(wav.indexOf("\r\n--hlust"), 44 + 2 * 19_200);
  });

  test("its failures are distinguished, in its own words and without the key", async () => {
    const error = JSON.stringify({ error: { message: `no such key:\n ${key}` } });
    const rows: [status: number, kind: FailureKind, text: string, words: RegExp][] = [
      [401, "denied", error, /answered 401: no such key: \*\*\*$/],
      [404, "denied", '{"detail":"Model not found"}', /answered 404: Model not found$/],
      [400, "refused", '{"error":"audio is too short"}', /answered 400: audio is too short$/],
      [413, "refused", "", /answered 413: nothing$/],
      [500, "error", '{"error":"CUDA error"}', /answered 500: CUDA error$/],
      [502, "unreachable", "", /answered 502: nothing$/],
      [503, "unreachable", `<html>${"x".repeat(2000)}`, /answered 503: <html>x+\.\.\.$/],
      [200, "broken", "<html>", /is not JSON/],
      [200, "broken", '{"words":[]}', /has no text/],
      [200, "refused", `{"text":"${"a".repeat(100_000)}"}`, /more than 10000 characters/],
      [200, "refused", `{"text":"${"a ".repeat(1_000_000)}"}`, /exceeded|size/i],
    ];
    for (const [status, kind, text, expected] of rows) {
      const { address } = await answering(text, status);
      await assertFails(openOpenaiServer(settings(address)), kind, expected);
    }
    const { address } = await answering("slow down", 429, { "retry-after": "3" });
    const busy = await assertFails(openOpenaiServer(settings(address)), "busy", /slow down/);
    assert.equal(busy.retryAfterMs, 3000);
  });

  test("words with impossible times cost the times, not the text", async () => {
    for (const word of [
      '"start":"0"',
      '"start":null,"end":1',
      '"start":-1,"end":1',
      '"end":1e999',
    ]) {
      const { address } = await answering(`{"text":"a","words":[{"word":"a",${word}}]}`);
      const { readings } = await recognize(openOpenaiServer(settings(address)));
      assert.deepEqual(readings, [{ text: "a", words: [] }], word);
    }
  });

  test("a redirect is not followed, so that the key stays with its server", async () => {
    const other = await answering(plainJson);
    const { address } = await answering("", 307, { location: `${other.address}/x` });
    await assertFails(openOpenaiServer(settings(address)), "denied", /answered 307/);
    assert.deepEqual(other.requests, []);
  });

  test("a server that is gone, or hangs, is unreachable", async () => {
    const gone = openOpenaiServer(settings("http://127.0.0.1:1/v1"));
    await assertFails(gone, "unreachable", /ECONNREFUSED/);
    const hanging = opened.use(await openHttpServer(() => {}));
    const server = openOpenaiServer(settings(`http://${hanging.host}/v1`));
    await assert.rejects(
      recognize(server, "short", 1, { signal: AbortSignal.timeout(50) }),
      ServerFailure,
    );
  });

  test("its certificate must be valid", async () => {
    const plain = await answering(plainJson);
    const server = openOpenaiServer(settings(plain.address.replace("http:", "https:")));
    await assertFails(server, "unreachable", /SSL|TLS|wrong version/i);
  });

  test("a check finds out whether it answers", async () => {
    const { signal } = new AbortController();
    const { address, requests } = await answering("", 404);
    await openOpenaiServer(settings(address)).probe(signal);
    assert.equal(requests[0]?.url, "/v1/models");
    const down = await answering("", 502);
    await assert.rejects(openOpenaiServer(settings(down.address)).probe(signal), /answered 502/);
    const denied = await answering("", 401);
    await assert.rejects(openOpenaiServer(settings(denied.address)).probe(signal), /answered 401/);
  });
});

describe("a server of Vosk's protocol", () => {
  /** Opens a server that answers each message with the next text, and eof with the last ones. */
  async function answering(texts: readonly string[], code = 1000, reason = "") {
    const received: (string | number)[] = [];
    const server = opened.use(
      await openSocketServer((socket) => {
        const waiting = [...texts];
        socket.on("message", (data: Buffer, isBinary: boolean) => {
          received.push(isBinary ? data.length : data.toString());
          if (isBinary) socket.send(waiting.shift() ?? '{"partial" : ""}');
          if (isBinary || !data.toString().includes("eof")) return;
          for (const text of waiting) socket.send(text);
          socket.close(code, reason);
        });
      }),
    );
    return { address: `ws://${server.host}`, received };
  }

  test("its failures are distinguished", async () => {
    const rows: [code: number, kind: FailureKind, reason: string, words: RegExp][] = [
      [1013, "busy", "no room", /closed with 1013: no room/],
      [1008, "refused", "config.sample_rate: must be", /closed with 1008: config/],
      [1011, "error", key, /closed with 1011: \*\*\*/],
    ];
    for (const [code, kind, reason, expected] of rows) {
      const { address } = await answering([], code, reason);
      await assertFails(openVoskServer(settings(address)), kind, expected);
    }
    const wrong: [text: string, words: RegExp][] = [
      ["hello", /is not JSON/],
      ['{"txt" : ""}', /has no text/],
    ];
    for (const [text, expected] of wrong) {
      const { address } = await answering([text]);
      await assertFails(openVoskServer(settings(address)), "broken", expected);
    }
    const { address } = await answering(Array.from({ length: 300 }, () => '{"text" : "a"}'));
    await assertFails(openVoskServer(settings(address)), "refused", /more than 200 results/);
    await assertFails(openVoskServer(settings("ws://127.0.0.1:1")), "unreachable", /ECONNREFUSED/);
  });

  test("one that is killed in the middle is unreachable, and one that sends too much refuses the audio", async () => {
    for (const [end, kind] of [
      ["terminate", "unreachable"],
      ["flood", "refused"],
    ] as const) {
      const server = opened.use(
        await openSocketServer((socket) => {
          socket.on("message", (_data, isBinary) => {
            if (!isBinary) return;
            if (end === "terminate") socket.terminate();
            else socket.send(`{"text" : "${"a".repeat(2 << 20)}"}`);
          });
        }),
      );
      const closed = end === "terminate" ? /closed with 1006/ : /Max payload/;
      await assertFails(openVoskServer(settings(`ws://${server.host}`)), kind, closed);
    }
  });

  test("a refused handshake is a wrong key, and a redirect is not followed", async () => {
    let others = 0;
    const other = opened.use(await openSocketServer(() => void (others += 1)));
    for (const status of [401, 302]) {
      const server = createServer().on("upgrade", (_request, socket) => {
        const head = `HTTP/1.1 ${status} No\r\nlocation: ws://${other.host}/\r\n`;
        socket.end(`${head}content-length: 0\r\n\r\n`);
      });
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      opened.defer(() => void server.close());
      const address = server.address();
      assert.ok(typeof address === "object" && address !== null);
      const words = new RegExp(`answered ${status}`);
      const hosted = openVoskServer(settings(`ws://127.0.0.1:${address.port}`));
      await assertFails(hosted, "denied", words);
    }
    assert.equal(others, 0);
  });

  test("a check ends the audio before any, and waits for the server to close", async () => {
    const { signal } = new AbortController();
    const { address, received } = await answering(['{"text": ""}']);
    await openVoskServer(settings(address)).probe(signal);
    assert.equal(received[0], '{"eof" : 1}');
    const busy = await answering([], 1013, "no room");
    await assert.rejects(openVoskServer(settings(busy.address)).probe(signal), /1013: no room/);
    const hanging = opened.use(await openSocketServer(() => {}));
    const server = openVoskServer(settings(`ws://${hanging.host}`));
    await assert.rejects(server.probe(AbortSignal.timeout(100)), /closed with 1006/);
  });
});
