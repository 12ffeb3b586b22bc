// Nearly valid requests over real connections: none gets a 5xx response, and the service keeps
// working.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { mutated } from "../fixtures/mutated.ts";
import { runs } from "../fixtures/property-runs.ts";
import { RawConnection, type RawAnswer } from "../fixtures/raw-http.ts";
import { openTestService, type TestService } from "./service.ts";

let service: TestService;
before(async () => {
  service = await openTestService({ HLUST_ENGINE: "scripted", HLUST_LOG: "silent" });
});
after(() => service[Symbol.asyncDispose]());

interface Parts {
  readonly method: string;
  readonly target: string;
  readonly headers: string;
  readonly body: string;
}

const id = "0190a0a0-0000-7000-8000-000000000000";
const config = '"config":{"encoding":"LINEAR16","sampleRateHertz":16000,"languageCode":"en-US"}';
const draft =
  '{"metadata":{"fileType":"AUDIO","languageCode":"is-IS","subject":"þ","keywords":["a"],"additionalMetadata":{"k":"v"}},"segments":[{"startTime":"0s","endTime":"1.5s","words":[{"startTime":"0s","endTime":"1s","word":"a "}]}]}';

/** Calls of every kind, most of them valid. */
const calls: readonly (readonly [method: string, target: string, body?: string])[] = [
  [
    "GET",
    "/v1alpha1/transcripts?pageSize=2&pageToken=&filter=metadata.subject%20CONTAINS%20%22a%22",
  ],
  ["GET", '/v1alpha1/transcripts?filter=metadata.keywords+CONTAINS+["a"]&pageSize=1'],
  ["GET", `/v1alpha1/transcripts/${id}`],
  ["POST", "/v1alpha1/transcripts", draft],
  [
    "PATCH",
    `/v1alpha1/transcripts/${id}?updateMask=metadata.subject`,
    '{"metadata":{"subject":"b"}}',
  ],
  ["PATCH", `/v1alpha1/transcripts/${id}`, draft],
  ["DELETE", `/v1alpha1/transcripts/${id}`],
  ["GET", `/v1alpha1/transcripts/${id}/versions`],
  ["GET", `/v1alpha1/transcripts/${id}:export?format=SRT`],
  ["POST", `/v1alpha1/transcripts/${id}:restore`, '{"version":"x"}'],
  ["POST", "/v1alpha1/initupload", `{"resourceName":"transcripts/${id}"}`],
  [
    "POST",
    "/v1alpha1/transcriptjob:submit",
    '{"metadata":{"languageCode":"en-US","fileType":"AUDIO"},"useUri":true,"uri":"ftp://x/y"}',
  ],
  ["GET", `/v1alpha1/transcriptjob/${id}`],
  ["POST", `/v1alpha1/transcriptjob/${id}:cancel`, "{}"],
  ["POST", "/v2beta1/speech:recognize", `{${config},"audio":{"content":"AAAAAAAA"}}`],
  ["GET", "/v2beta1/speech:streamingrecognize"],
  [
    "POST",
    "/v1/apiKeys",
    '{"displayName":"a","scopes":["speech"],"expireTime":"2030-01-01T00:00:00Z"}',
  ],
  ["POST", "/v1/streamTokens", "{}"],
  ["GET", "/v1/account"],
  ["GET", "/livez"],
  ["PUT", `/media/${id}?expires=1&signature=x`, "bytes"],
];
const headers = [
  "content-type: application/json\r\n",
  "content-type: application/x-www-form-urlencoded\r\n",
  "accept: text/event-stream\r\n",
  "accept: application/json;q=0.5, */*\r\n",
  "if-match: a\r\n",
  "idempotency-key: a\r\n",
  // The timeout is long enough that a busy machine does not return 504.
  "x-server-timeout: 60\r\n",
  "grpc-timeout: 60S\r\n",
  "expect: 100-continue\r\n",
  "upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n",
];

/**
 * The parts of a request whose framing remains valid, so that each request gets its response on a
 * kept connection.
 */
const framed: fc.Arbitrary<Parts> = fc
  .constantFrom(...calls)
  .chain(([method, target, body = ""]) => {
    const inTarget = [
      "/",
      "//",
      "?",
      "&",
      "=",
      "%",
      "%ff",
      "%2F",
      ":",
      "..",
      ".",
      "+",
      "a",
      "1",
      "\u00ff",
      "\u00c3\u00be",
      "__proto__",
      "[",
      "-",
      "*",
      "token=a&",
      "&pageSize=x",
      "#",
      "http://h",
    ];
    const inBody = [
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      '"',
      "\\",
      "null",
      "-1",
      "1e9",
      '"x":1,',
      '"__proto__":{},',
      "\\ud800",
      "\u00ff",
      "\u0000",
      "þ",
      "0s",
      "AUDIO",
      " ",
    ];
    return fc.record({
      method: fc.oneof(
        { weight: 9, arbitrary: fc.constant(method) },
        {
          weight: 1,
          arbitrary: fc.constantFrom("GET", "HEAD", "POST", "PUT", "OPTIONS", "TRACE", "QUERY"),
        },
      ),
      target: mutated(fc.constant(target), inTarget),
      headers: fc.subarray(headers, { maxLength: 2 }).map((lines) => lines.join("")),
      body: mutated(fc.constant(body), body === "" ? [""] : inBody),
    });
  });

function bytesOf({ method, target, headers, body }: Parts): Buffer {
  const content = Buffer.from(body, "latin1");
  const length = content.length > 0 ? `content-length: ${content.length}\r\n` : "";
  const head = `${method} ${target} HTTP/1.1\r\nhost: h\r\nauthorization: Bearer ${service.key}\r\n${headers}${length}\r\n`;
  return Buffer.concat([Buffer.from(head, "latin1"), content]);
}

function checkAnswer(answer: RawAnswer, what: string): void {
  assert.ok(answer.status < 500, `${what}\n${answer.status} ${answer.body.toString()}`);
}

/** `npm run test:long` makes 10,000 runs. */
const turns = runs(100);

test("nearly valid requests on a kept connection all get responses, none of them 5xx", async () => {
  const statuses = new Map<number, number>();
  let connections = 0;
  const ask = async (requests: readonly Parts[]): Promise<void> => {
    let connection: RawConnection | undefined;
    for (const request of requests) {
      if (connection === undefined || connection.isEnded) {
        await connection?.[Symbol.asyncDispose]();
        connection = await RawConnection.open(service.address);
        connections++;
      }
      connection.send(bytesOf(request));
      const answer = await connection.answer(request.method === "HEAD");
      // The server may have closed the connection just before this request, so it is sent again.
      const what = JSON.stringify(request);
      if (answer === undefined) {
        await connection[Symbol.asyncDispose]();
        connection = undefined;
        continue;
      }
      checkAnswer(answer, what);
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      if (answer.status === 101 || answer.headers.get("connection") === "close") {
        await connection[Symbol.asyncDispose]();
        connection = undefined;
      }
    }
    await connection?.[Symbol.asyncDispose]();
  };
  await fc.assert(fc.asyncProperty(fc.array(framed, { minLength: 100, maxLength: 100 }), ask), {
    numRuns: turns,
    endOnFailure: true,
  });
  const answered = [...statuses.values()].reduce((sum, count) => sum + count, 0);
  assert.ok(answered > 99 * turns, `${answered} were answered`);
  assert.ok(connections < 50 * turns, `${connections} connections`);
  for (const status of [200, 400, 404, 405])
    assert.ok((statuses.get(status) ?? 0) > turns / 2, `${status}`);
  assert.equal((await service.call("GET", "/v1alpha1/transcripts")).status, 200);
});

test("nearly valid HTTP gets a status below 500 or no response", async () => {
  const pieces = [
    "\r\n",
    "\r",
    "\n",
    "\r\n\r\n",
    " ",
    ":",
    "\t",
    "\u0000",
    "\u00ff",
    "HTTP/1.1",
    "HTTP/9.9",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "content-length: 5\r\n",
    "content-length: -1\r\n",
    "content-length: 99999999999999999999\r\n",
    "transfer-encoding: chunked\r\n",
    "host: a\r\n",
    "x".repeat(20_000),
    "GET / HTTP/1.1\r\nhost: h\r\n\r\n",
    "0\r\n\r\n",
    "ffffffffffffffff\r\n",
  ];
  const bytes = mutated(
    framed.map((parts) => bytesOf(parts).toString("latin1")),
    pieces,
    4,
  );
  let answered = 0;
  const send = async (text: string): Promise<void> => {
    await using connection = await RawConnection.open(service.address);
    connection.send(Buffer.from(text, "latin1"));
    await connection.end();
    for (;;) {
      const answer = await connection.answer();
      if (answer === undefined) break;
      checkAnswer(answer, JSON.stringify(text));
      answered++;
      if (answer.status === 101) break;
    }
  };
  await fc.assert(
    fc.asyncProperty(fc.array(bytes, { minLength: 8, maxLength: 8 }), async (texts) => {
      await Promise.all(texts.map(send));
    }),
    { numRuns: runs(125), endOnFailure: true },
  );
  assert.ok(answered > runs(200), `${answered} were answered`);
  assert.equal((await service.call("GET", "/v1alpha1/transcripts")).status, 200);
});

test("the longest paths and the deepest bodies are refused immediately", async () => {
  const open = '{"metadata":{"additionalMetadata":';
  const bombs = [
    "[".repeat(1_000_000),
    '{"a":'.repeat(200_000),
    `${open}${"[".repeat(500_000)}${"]".repeat(500_000)}}}`,
    `${open}${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}}}`,
    `{"segments":[{"words":${"[".repeat(65)}`,
  ];
  for (const body of bombs) {
    const answer = await service.call("POST", "/v1alpha1/transcripts", body);
    assert.equal(answer.status, 400);
    assert.match(answer.json.message, /nests deeper than 64 levels/);
  }
  const rows: [method: string, path: string, status: number][] = [
    ["GET", "/".repeat(64_000), 431],
    ["GET", `/v1alpha1/transcripts${"/".repeat(16_000)}`, 404],
    ["GET", `/v1alpha1/transcripts?${"&".repeat(16_000)}`, 200],
    ["GET", `/v1alpha1/transcripts?${"a&".repeat(8_000)}`, 400],
    ["GET", `/v1alpha1/transcripts?filter=${"%ff".repeat(5_000)}`, 400],
    ["GET", "/v1alpha1/transcripts?pageSize=1&pageSize=2", 400],
    ["GET", "/v1alpha1/transcripts?__proto__=1", 400],
    ["GET", "/v1alpha1/transcripts/__proto__", 404],
    ["GET", "/constructor", 404],
  ];
  for (const [method, path, status] of rows) {
    const answer = await service.call(method, path);
    assert.equal(answer.status, status, path.slice(0, 60));
  }
});
