// Callers that do not read their responses: on every protocol, a node stores no more unread
// responses than its limits allow.
import assert from "node:assert/strict";
import { connect, type ClientHttp2Session, type ClientHttp2Stream } from "node:http2";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { sql } from "kysely";
import { openDatabase } from "../../src/database/database.ts";
import {
  GetTranscriptRequestSchema,
  Transcripts,
} from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { memoryShares } from "../../src/settings/memory-settings.ts";
import { createLog } from "../../src/std/log.ts";
import { newId } from "../../src/std/ids.ts";
import { workerThreadsMax } from "../../src/transcripts/worker-threads.ts";
import { longSegments } from "../fixtures/long-transcript.ts";
import { until } from "../fixtures/until.ts";
import { openTestService, type TestService } from "./service.ts";
import { draftOf } from "./transcripts.ts";

const mb = 1 << 20;
const connectionsMax = 100;
/** The memory shares of the smallest node. */
const shares = memoryShares(
  undefined,
  { connectionsMax, workerThreads: workerThreadsMax },
  {
    machineBytes: 0,
    heapBytes: Infinity,
  },
);
const { base, connections, threads, live, bodies, answers, watches } = shares;
const held = [bodies, answers, watches].map(({ nodeBytesMax }) => nodeBytesMax);
const memoryMb = Math.ceil(
  [base, connections, threads, live, ...held].reduce((sum, bytes) => sum + bytes) / mb,
);

let service: TestService;
let transcript = "";
let job = "";

before(async () => {
  service = await openTestService({
    HLUST_ENGINE: "scripted",
    // No worker exists that would run the job.
    HLUST_ROLE: "api",
    HLUST_CONNECTIONS_MAX: `${connectionsMax}`,
    HLUST_MEMORY_MB: `${memoryMb}`,
  });
  const draft = { ...draftOf("long"), segments: longSegments(72_000) };
  transcript = (await service.call("POST", "/v1alpha1/transcripts", draft)).json.name;
  const folder = join(service.dataFolder, "postgres");
  await using database = await openDatabase({ url: undefined, folder, log: createLog("silent") });
  const { db } = database;
  const { id: account } = await db.selectFrom("account").select("id").executeTakeFirstOrThrow();
  const id = newId();
  // Metadata of this size was accepted by an earlier version.
  await sql`insert into transcript_job (id, account_id, state, metadata)
    values (${id}, ${account}, 'PROCESSING', jsonb_build_object('description', repeat('x', 1000000)))`.execute(
    db,
  );
  job = `transcriptjob/${id}`;
});
after(() => service[Symbol.asyncDispose]());

/** A call whose response is not read. */
interface Unread {
  readonly stream: ClientHttp2Stream;
  status: number | undefined;
}

function call(session: ClientHttp2Session, path: string, type = "", name = ""): Unread {
  const stream = session.request({
    ":path": path,
    ":method": type === "" ? "GET" : "POST",
    authorization: `Bearer ${service.key}`,
    ...(type.includes("/") && { "content-type": type, te: "trailers" }),
    ...(type === "" && name !== "" && { accept: name }),
  });
  const unread: Unread = { stream, status: undefined };
  stream.on("response", (headers) => {
    unread.status = Number(headers[":status"]);
  });
  stream.on("error", () => {});
  if (type !== "") stream.end(bodyOf(type, name));
  return unread;
}

function bodyOf(type: string, name: string): Uint8Array {
  if (type.includes("json")) return Buffer.from(JSON.stringify({ name }));
  // All requests that contain only a name have the same binary form.
  const message = toBinary(
    GetTranscriptRequestSchema,
    create(GetTranscriptRequestSchema, { name }),
  );
  if (type === "application/proto") return message;
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

const rpc = (method: string): string => `/${Transcripts.typeName}/${method}`;

/**
 * Makes each of these calls `count` times, on one connection per call, and returns the growth of
 * the process's memory when all calls have responses.
 */
async function grownMb(
  calls: readonly ((session: ClientHttp2Session) => Unread)[],
  count: number,
): Promise<{ readonly mb: number; readonly made: Unread[]; readonly close: () => void }> {
  const before = process.memoryUsage.rss();
  const sessions = calls.map(() => connect(service.address));
  const made = calls.flatMap((make, at) =>
    Array.from({ length: count }, () => {
      const session = sessions[at];
      assert.ok(session);
      return make(session);
    }),
  );
  await until(() => Promise.resolve(made.every(({ status }) => status !== undefined)), 60_000);
  const grown = (process.memoryUsage.rss() - before) / mb;
  return { mb: grown, made, close: () => sessions.forEach((session) => session.destroy()) };
}

test("unread watches of a job with a megabyte of metadata take bounded memory", async (t) => {
  const calls = [
    (session: ClientHttp2Session) => call(session, `/v1alpha1/${job}:watch`),
    (session: ClientHttp2Session) =>
      call(session, `/v1alpha1/${job}:watch`, "", "text/event-stream"),
    (session: ClientHttp2Session) =>
      call(session, rpc("WatchTranscriptJob"), "application/grpc+proto", job),
    (session: ClientHttp2Session) =>
      call(session, rpc("WatchTranscriptJob"), "application/connect+proto", job),
  ];
  const { mb: grown, made, close } = await grownMb(calls, 150);
  assert.ok(grown < 400, `${grown} MB for ${made.length} watches`);
  t.diagnostic(`${Math.round(grown)} MB for ${made.length} watches`);
  close();
  await until(async () => {
    const response = await fetch(`${service.address}/v1alpha1/${job}:watch`, {
      headers: { authorization: `Bearer ${service.key}` },
    });
    await response.body?.cancel();
    return response.status === 200;
  });
});

test("unread transcripts of eight hours take bounded memory", async (t) => {
  const get = rpc("GetTranscript");
  const types = [
    "application/grpc+proto",
    "application/grpc-web+proto",
    "application/proto",
    "application/json",
  ];
  const calls = [
    (session: ClientHttp2Session) => call(session, `/v1alpha1/${transcript}`),
    ...types.map((type) => (session: ClientHttp2Session) => call(session, get, type, transcript)),
  ];
  const { mb: grown, made, close } = await grownMb(calls, 30);
  assert.ok(made.some(({ status }) => status === 429));
  assert.ok(made.some(({ status }) => status === 200));
  t.diagnostic(`${Math.round(grown)} MB for ${made.length} transcripts`);
  assert.ok(grown < 500, `${grown} MB for ${made.length} transcripts`);
  close();
  await until(async () => (await service.call("GET", `/v1alpha1/${transcript}`)).status === 200);
});
