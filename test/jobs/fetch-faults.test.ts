import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { createServer as createTcpServer, type Server } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { createSecureContext, getCACertificates, setDefaultCACertificates } from "node:tls";
import { pino } from "pino";
import { TranscriptJob_State as State } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { notPublic, parseMediaAllowList } from "../../src/media/media-url.ts";
import { treeOf } from "../fault/process.ts";
import type { JobWithResult } from "../fixtures/job-result.ts";
import {
  jobRequest,
  openJobs,
  toneRecognizer,
  type JobsFixture,
} from "../fixtures/jobs-fixture.ts";
import { openTestDatabase } from "../fixtures/open-test-database.ts";
import { until } from "../fixtures/until.ts";
import { leftovers } from "../fixtures/worker-fixture.ts";
import { fetchFaults, ok, raw, secret, sent, thenWrong, tones } from "./fetch-fault-table.ts";
import { authority, certificates } from "./tls-certificates.ts";

const bytesMax = 1_000_000;
const limits = {
  backoffMs: 5,
  attemptsMax: 2,
  connectMs: 2_000,
  headersMs: 1_500,
  stallMs: 1_500,
  stallBytesMin: 3_000,
};

let jobs: JobsFixture;
let account = "";
let counted: Record<string, number>;
const opened = new AsyncDisposableStack();
const lines: string[] = [];
const servers: Server[] = [];
/** The responses by the name of the fault. */
const answers = new Map(fetchFaults.map(([fault, answer]) => [fault, answer]));
let url = (_fault: string): string => "";
let tlsPort = 0;

async function listen(server: Server, host = "127.0.0.1"): Promise<number> {
  servers.push(server);
  server.listen(0, host);
  await once(server, "listening");
  opened.defer(async () => {
    if (!server.listening) return;
    server.close();
    await once(server, "close");
  });
  const address = server.address();
  assert.ok(address !== null && typeof address === "object");
  return address.port;
}

before(async () => {
  const trusted = getCACertificates("default");
  setDefaultCACertificates([...trusted, authority]);
  opened.defer(() => setDefaultCACertificates(trusted));
  const answer: RequestListener = (request, response) => {
    const fault = new URL(request.url ?? "", "http://a").searchParams.get("fault");
    (answers.get(fault ?? "") ?? sent(tones))(request, response);
  };
  const port = await listen(createServer(answer));
  tlsPort = await listen(
    createTlsServer({
      SNICallback: (name, done) => done(null, createSecureContext(certificates[name])),
    }).on("request", answer),
  );
  url = (fault) =>
    `http://127.0.0.1:${port}/${secret}?fault=${encodeURIComponent(fault)}&signature=${secret}`;

  const database = opened.use(await openTestDatabase());
  const log = pino(
    { level: "debug", base: null, messageKey: "event" },
    { write: (line: string) => void lines.push(line) },
  );
  // TEST-NET-1 represents a host that does not respond.
  const allow = parseMediaAllowList(["127.0.0.1", "192.0.2.1"]);
  jobs = opened.use(await openJobs(database, join(database.folder, "jobs"), log, allow));
  account = await jobs.addAccount();
  opened.use(
    await jobs.openWorker(toneRecognizer(), {
      parallelism: 6,
      fetchLimits: limits,
      mediaBytesMax: bytesMax,
      async resolve(host) {
        if (host in certificates) return ["127.0.0.1"];
        if (host === "away.example") return ["192.0.2.1"];
        if (host === "inside.example") return ["127.0.0.2"];
        throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: "ENOTFOUND" });
      },
    }),
  );
  counted = await counts();
});

after(() => opened.disposeAsync());

/** Counts the rows of every table, except jobs, their workers and the record of their changes. */
async function counts(): Promise<Record<string, number>> {
  const { rows: tables } = await jobs.database.pool.query<{ name: string; count: string }>(
    `select relname as name,
            (xpath('/row/c/text()', query_to_xml('select count(*) as c from ' || oid::regclass, false, true, '')))[1]::text as count
     from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace and relname not in ('transcript_job', 'idle_worker', 'resource_change')`,
  );
  return Object.fromEntries(tables.map(({ name, count }) => [name, Number(count)]));
}

/** Submits jobs for the URLs, some concurrently, and returns the ended jobs. */
async function ended(urls: readonly string[]): Promise<JobWithResult[]> {
  const results: JobWithResult[] = [];
  const left = [...urls.entries()];
  const lane = async (): Promise<void> => {
    for (let next = left.shift(); next; next = left.shift()) {
      const [index, each] = next;
      const name = await jobs.submit(account, jobRequest(each));
      results[index] = await jobs.ended(account, name, 60_000);
    }
  };
  await Promise.all(Array.from({ length: 8 }, lane));
  return results;
}

async function openSockets(): Promise<number> {
  const each = servers
    .filter(({ listening }) => listening)
    .map(
      async (server) =>
        new Promise<number>((resolve, reject) => {
          server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
        }),
    );
  return (await Promise.all(each)).reduce((sum, count) => sum + count, 0);
}

/**
 * Asserts that no unused media, file, process or connection is left, and that no log contains a
 * secret.
 */
async function assertNothingIsLeft(): Promise<void> {
  await until(async () => (await leftovers(jobs)).length === 0 && (await openSockets()) === 0);
  const decoders = treeOf(process.pid).filter(({ command }) =>
    /ffmpeg|ffprobe|bwrap/.test(command),
  );
  assert.deepEqual(decoders, []);
  assert.ok(!process.getActiveResourcesInfo().includes("TCPConnectWrap"));
  assert.ok(lines.length > 0);
  for (const line of lines) {
    assert.doesNotThrow(() => void JSON.parse(line), line);
    assert.doesNotMatch(line, new RegExp(secret));
  }
}

test("a job whose media cannot be fetched ends as ERROR with a reason and leaves nothing behind", async () => {
  const inside = await listen(
    createTcpServer((socket) => socket.destroy()),
    "127.0.0.2",
  );
  const resets = await listen(createTcpServer((socket) => socket.resetAndDestroy()));
  const gone = createTcpServer();
  const closed = await listen(gone);
  gone.close();
  await once(gone, "close");
  const query = `?signature=${secret}`;
  const more: readonly (readonly [string, number, RegExp])[] = [
    [`http://no.example/${query}`, 5, /^the host of the media does not exist: no such name$/],
    [
      `http://away.example:8080/${query}`,
      14,
      /^the host of the media (could not be reached|refused the connection)/,
    ],
    [`http://127.0.0.1:${closed}/${query}`, 14, /^the host of the media refused the connection$/],
    [`http://127.0.0.1:${resets}/${query}`, 14, /^the server of the media closed the connection$/],
    [
      `https://expired.example:${tlsPort}/${query}`,
      9,
      /^the certificate of the host of the media has expired$/,
    ],
    [
      `https://other.example:${tlsPort}/${query}`,
      9,
      /^the certificate of the host of the media is of another host$/,
    ],
    [
      `https://self-signed.example:${tlsPort}/${query}`,
      9,
      /^the certificate of the host of the media is self-signed$/,
    ],
    [
      url("silence").replace("http:", "https:"),
      9,
      /^no secure connection to the host of the media can be made/,
    ],
    [`http://inside.example:${inside}/${query}`, 9, new RegExp(`^${notPublic}$`)],
    [`http://inside.example:${closed}/${query}`, 9, new RegExp(`^${notPublic}$`)],
  ];
  const all = [...fetchFaults.map(([fault, , ...end]) => [url(fault), ...end] as const), ...more];
  const ends = await ended(all.map(([each]) => each));
  for (const [index, [each, code, message]] of all.entries()) {
    const { state, error } = ends[index] ?? {};
    const name = `${fetchFaults[index]?.[0] ?? each}: ${error?.message}`;
    assert.equal(state, State.ERROR, name);
    assert.match(error?.message ?? "", message, name);
    assert.equal(error?.code, code, name);
    assert.doesNotMatch(error?.message ?? "", new RegExp(`${secret}|127\\.0\\.0|192\\.0`), name);
  }
  await assertNothingIsLeft();
  assert.deepEqual(await counts(), counted);
});

test("a job whose media is eventually fetched SUCCEEDS, whatever failed before", async () => {
  let count = 0;
  const md5 = createHash("md5").update(tones).digest("base64");
  const good: readonly (readonly [string, RequestListener])[] = [
    ["no length, closed once whole", raw(`${ok}\r\n`, tones)],
    ["HTTP/1.0", raw("HTTP/1.0 200 OK\r\n\r\n", tones)],
    ["more than was declared", raw(`${ok}Content-Length: ${tones.length}\r\n\r\n`, tones, "more")],
    [
      "hints before",
      raw(`HTTP/1.1 103 Early Hints\r\n\r\n${ok}Content-Length: ${tones.length}\r\n\r\n`, tones),
    ],
    ["the right checksum", sent(tones, { "content-md5": md5 })],
    [
      "damaged once",
      (_, response) => {
        const bytes = Buffer.from(tones);
        if (count++ === 0) bytes[100] = 255;
        response.writeHead(200, { "content-md5": md5 }).end(bytes);
      },
    ],
    [
      "broken once",
      thenWrong((response, from) => {
        const range = `bytes ${from}-${tones.length - 1}/${tones.length}`;
        response
          .writeHead(206, { etag: '"one"', "content-range": range })
          .end(tones.subarray(from));
      }),
    ],
  ];
  for (const [fault, answer] of good) answers.set(fault, answer);
  const urls = [...good.map(([name]) => url(name)), `https://good.example:${tlsPort}/?${secret}`];
  for (const [index, job] of (await ended(urls)).entries()) {
    assert.equal(job.state, State.SUCCESS, `${urls[index]}: ${job.error?.message}`);
  }
  assert.equal(count, 2);
  const { transcript, media } = await counts();
  assert.deepEqual([transcript, media], [urls.length, urls.length]);
  await assertNothingIsLeft();
});
