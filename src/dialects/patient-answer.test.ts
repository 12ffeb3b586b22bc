import assert from "node:assert/strict";
import { createServer, type Server, type ServerResponse } from "node:http";
import { after, before, test } from "node:test";
import { PatientAnswer, type PatientAnswerOptions } from "./patient-answer.ts";

const subtitles = { contentType: "text/vtt", opening: "WEBVTT\n", filler: "\n" };
let server: Server;
let address: string;
/** Called with the next response. */
let take: (response: ServerResponse) => void;

before(async () => {
  server = createServer((_request, response) => take(response));
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const bound = server.address();
  address = `http://127.0.0.1:${typeof bound === "object" ? bound?.port : 0}`;
});
after(() => server.close());

/** Begins a call, whose answer the test ends. */
async function begin(options: PatientAnswerOptions) {
  const taken = Promise.withResolvers<ServerResponse>();
  take = taken.resolve;
  const received = fetch(address);
  const response = await taken.promise;
  return { received, response, answer: new PatientAnswer(response, options) };
}

test("an answer in time has its length and all of its headers", async () => {
  const { received, answer } = await begin({ ...subtitles, afterMs: 60_000 });
  answer.end("\n1\n", { "x-own": "yes" });
  const { headers, ...rest } = await received.then(async (got) => ({
    headers: got.headers,
    text: await got.text(),
  }));
  assert.equal(headers.get("content-length"), "10");
  assert.equal(headers.get("x-own"), "yes");
  assert.equal(rest.text, "WEBVTT\n\n1\n");
});

test("a late answer begins with its opening, and continues with what means nothing", async () => {
  const { received, answer } = await begin({ ...subtitles, afterMs: 1, everyMs: 1 });
  const got = await received;
  assert.equal(got.status, 200);
  assert.equal(got.headers.get("content-type"), "text/vtt");
  answer.end("\n1\n");
  assert.match(await got.text(), /^WEBVTT\n+\n1\n$/);
});

test("JSON may begin with spaces", async () => {
  const json = { contentType: "application/json", filler: " ", afterMs: 1, everyMs: 1 };
  const { received, answer } = await begin(json);
  const got = await received;
  answer.end('{"text":"a"}');
  assert.deepEqual(await got.json(), { text: "a" });
});

test("an answer that has begun is cut if the call fails", async () => {
  const { received, response, answer } = await begin({ ...subtitles, afterMs: 1 });
  const got = await received;
  answer[Symbol.dispose]();
  response.destroy();
  await assert.rejects(got.text(), { name: "TypeError" });
});
