// WatchTranscript and ReportPresence (extension), with two nodes on one database.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Code, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { createHlustClient } from "../../src/client/hlust-client.ts";
import { Transcripts } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { newId } from "../../src/std/ids.ts";
import { participantsMax } from "../../src/transcripts/presence-methods.ts";
import { connectFailure } from "../fixtures/connect-failure.ts";
import { onceWithin, within } from "../fixtures/until.ts";
import { openCluster, type Cluster, type ClusterNode } from "../fault/cluster.ts";
import { callRest, type Answer } from "./service.ts";
import { draftOf } from "./transcripts.ts";

let cluster: Cluster;
let nodes: readonly [ClusterNode, ClusterNode];
before(async () => {
  cluster = await openCluster({});
  nodes = [cluster.addNode("api"), cluster.addNode("api")];
  // The first node creates the account and its key.
  await nodes[0].start();
  await nodes[1].start();
});
after(() => cluster[Symbol.asyncDispose]());

const keyOf = (): string => nodes[0].service.key;

async function call(at: 0 | 1, method: string, path: string, body?: unknown): Promise<Answer> {
  const { address } = nodes[at].service;
  return await callRest(address, keyOf(), { method, path: `/v1alpha1/${path}`, body });
}

async function newTranscript(): Promise<string> {
  const { json } = await call(0, "POST", "transcripts", draftOf("fundur"));
  return json.name;
}

interface TestWatch extends AsyncDisposable {
  /** Resolves with the first message that passes, and fails without one in time. */
  until(passes: (message: Answer["json"]) => boolean, what: string): Promise<Answer["json"]>;
  /** Resolves when the stream has ended. */
  ended(): Promise<void>;
}

/** Opens a stream over REST at a node. */
async function watch(at: 0 | 1, name: string, query = ""): Promise<TestWatch> {
  const leaving = new AbortController();
  const response = await fetch(`${nodes[at].service.address}/v1alpha1/${name}:watch${query}`, {
    headers: { authorization: `Bearer ${keyOf()}` },
    signal: leaving.signal,
  });
  assert.equal(response.status, 200);
  const messages = messagesIn(response);
  return {
    async until(passes, what) {
      const find = async (): Promise<Answer["json"]> => {
        for (;;) {
          const { value, done } = await messages.next();
          assert.ok(done !== true, `the stream has ended without ${what}`);
          if (passes(value)) return value;
        }
      };
      return await within(what, find());
    },
    async ended() {
      const { done } = await within("the end", messages.next());
      assert.ok(done);
    },
    async [Symbol.asyncDispose]() {
      leaving.abort();
      await messages.return(undefined).catch(() => {});
    },
  };
}

async function* messagesIn(response: Response): AsyncGenerator<Answer["json"], void> {
  let text = "";
  const { body } = response;
  for await (const chunk of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n")) {
      const line = JSON.parse(text.slice(0, at));
      assert.ok("result" in line, text);
      yield line.result;
      text = text.slice(at + 1);
    }
  }
}

/** Shows participants as `session editing position`. */
function shown({ participants }: Answer["json"]): string[] {
  return participants.map(
    ({ session, editing, position = "-" }: Record<string, unknown>) =>
      `${String(session)} ${String(editing)} ${String(position)}`,
  );
}

async function report(at: 0 | 1, name: string, presence: object): Promise<void> {
  const { status, json } = await call(at, "POST", `${name}:reportPresence`, presence);
  assert.equal(status, 200, JSON.stringify(json));
}

test("a watch shows the state immediately, then each change of any node, and that the transcript was deleted", async () => {
  const name = await newTranscript();
  const { json: transcript } = await call(0, "GET", name);
  await using here = await watch(0, name);
  await using there = await watch(1, name);
  const both = async (
    passes: (message: Answer["json"]) => boolean,
    what: string,
  ): Promise<Answer["json"]> => {
    const [one, other] = await Promise.all([here.until(passes, what), there.until(passes, what)]);
    assert.deepEqual(one, other);
    return one;
  };
  assert.deepEqual(await both(() => true, "the first message"), {
    version: transcript.version,
    participants: [],
    reviewEtag: "",
    deleted: false,
  });
  const { json: edited } = await call(1, "PATCH", name, { metadata: { subject: "annar" } });
  const second = await both(
    ({ version }) => version.name === edited.version.name,
    "the new version",
  );
  assert.deepEqual(second.version, edited.version);
  const add = [{ kind: "CHECKED", startTime: "0s", endTime: "1s" }];
  const { json: review } = await call(0, "POST", `${name}:modifyReview`, { add });
  await both(({ reviewEtag }) => reviewEtag === review.etag, "the review");
  await report(1, name, { session: "a", editing: true, position: "1.5s" });
  const present = await both((message) => shown(message)[0] === "a true 1.500s", "a participant");
  const [participant] = present.participants;
  assert.match(participant.actor, /^apiKeys\//);
  assert.equal(participant.name, "First key");
  await call(1, "DELETE", name);
  assert.deepEqual(await both(({ deleted }) => deleted, "the deletion"), {
    participants: [],
    reviewEtag: "",
    deleted: true,
  });
  await Promise.all([here.ended(), there.ended()]);
});

test("participants of both nodes come, change and leave within about a second", async () => {
  const name = await newTranscript();
  await using here = await watch(0, name);
  await using there = await watch(1, name);
  await onceWithin(1_500, async () => {
    await report(0, name, { session: "b" });
    const startMs = performance.now();
    await Promise.all(
      [here, there].map((each) =>
        each.until((message) => shown(message).includes("b false -"), "b"),
      ),
    );
    const tookMs = performance.now() - startMs;
    await report(1, name, { session: "b", leave: true });
    await Promise.all(
      [here, there].map((each) => each.until((message) => shown(message).length === 0, "no b")),
    );
    return tookMs;
  });
  await report(0, name, { session: "b" });
  await report(1, name, { session: "a", editing: true });
  await report(1, name, { session: "b", position: "3s" });
  const all = ["a true -", "b false 3s"];
  for (const each of [here, there]) {
    await each.until((message) => shown(message).join() === all.join(), "both participants");
  }
  await report(0, name, { session: "a", leave: true });
  // Leaving twice is not an error.
  await report(0, name, { session: "a", leave: true });
  for (const each of [here, there]) {
    await each.until((message) => shown(message).join() === "b false 3s", "one participant");
  }
});

test("a participant that does not report again disappears, and one that does stays", async () => {
  const name = await newTranscript();
  await report(0, name, { session: "old" });
  await report(0, name, { session: "new" });
  const expire = async (session: string, inMs: number): Promise<void> => {
    await cluster.postgres.query(
      `update transcript_participant set expires_at = now() + ${inMs} * interval '1 ms'
       where transcript_id = '${name.slice(-36)}' and session = '${session}'`,
    );
  };
  const [row] = await cluster.postgres.query(
    `select extract(epoch from min(expires_at) - now())::int as left from transcript_participant
     where transcript_id = '${name.slice(-36)}'`,
  );
  const left = Number(row?.["left"]);
  assert.ok(left > 40 && left <= 45, `${left}`);
  await using here = await watch(0, name);
  await here.until((message) => shown(message).length === 2, "both");
  // Nothing changes in the database when the time is over.
  await expire("old", 1_500);
  await expire("new", 1_500);
  await report(1, name, { session: "new" });
  await here.until((message) => shown(message).join() === "new false -", "one of them");
  await using there = await watch(1, name);
  await there.until((message) => shown(message).join() === "new false -", "the same elsewhere");
  // A client whose time was over comes again.
  await report(1, name, { session: "old", editing: true });
  for (const each of [here, there]) {
    await each.until((message) => shown(message).join() === "old true -,new false -", "both again");
  }
});

test("a transcript has at most 50 participants, also if all come at the same time", async () => {
  const name = await newTranscript();
  const answers = await Promise.all(
    Array.from({ length: participantsMax + 10 }, async (_, at) =>
      call(at % 2 === 0 ? 0 : 1, "POST", `${name}:reportPresence`, { session: `s${at}` }),
    ),
  );
  const refused = answers.filter(({ status }) => status !== 200);
  assert.equal(refused.length, 10);
  for (const { status, json } of refused) {
    assert.deepEqual([status, json.error.details[0].reason], [429, "PRESENCE_FULL"]);
  }
  const present = answers.findIndex(({ status }) => status === 200);
  await report(0, name, { session: `s${present}`, editing: true });
  // The place of a participant whose time is over is free.
  await cluster.postgres.query(
    `update transcript_participant set expires_at = now() where session = 's${present}'
     and transcript_id = '${name.slice(-36)}'`,
  );
  await report(0, name, { session: "another" });
});

test("a participant that edits takes the place of one that reads, and is shown first", async () => {
  const name = await newTranscript();
  for (let at = 0; at < participantsMax; at += 1) {
    await report(at % 2 === 0 ? 0 : 1, name, { session: `r${String(at).padStart(2, "0")}` });
  }
  await report(0, name, { session: "z1", editing: true });
  await report(1, name, { session: "r01", editing: true });
  await using here = await watch(1, name);
  await here.until((message) => {
    const all = shown(message);
    return (
      all.length === participantsMax &&
      all.slice(0, 2).join() === "r01 true -,z1 true -" &&
      !all.some((one) => one.startsWith("r00"))
    );
  }, "both that edit, and not the reader whose report is the oldest");
  // Readers take no place of others.
  const reader = { session: "r00" };
  assert.equal((await call(0, "POST", `${name}:reportPresence`, reader)).status, 429);
  // When all edit, no further one has a place.
  for (let at = 0; at < participantsMax - 2; at += 1) {
    await report(0, name, { session: `e${at}`, editing: true });
  }
  const { status, json } = await call(0, "POST", `${name}:reportPresence`, {
    session: "late",
    editing: true,
  });
  assert.deepEqual([status, json.error.details[0].reason], [429, "PRESENCE_FULL"]);
});

test("a report names every wrong value, and needs a transcript", async () => {
  const name = await newTranscript();
  const table: [body: object, problem: RegExp][] = [
    [{}, /^session: is required$/],
    [{ session: "" }, /^session: is required$/],
    [{ leave: true }, /^session: is required$/],
    [{ session: "a".repeat(65) }, /^session: has 65 characters; at most 64 are allowed$/],
    [{ session: "a b" }, /^session: must be visible ASCII characters, not "a b"$/],
    [{ session: "á" }, /^session: must be visible ASCII/],
    [{ session: 7 }, /session/],
    [{ session: "a", position: "-0.1s" }, /^position: is negative$/],
    [
      { session: "", position: "3600001s" },
      /^session: is required; position: is after 1000 hours$/,
    ],
    [{ session: "a", position: "1" }, /position/],
    [{ session: "a", editing: "yes" }, /editing/],
    [{ session: "a", writing: true }, /writing/],
  ];
  for (const [body, problem] of table) {
    const { status, json } = await call(0, "POST", `${name}:reportPresence`, body);
    assert.equal(status, 400, JSON.stringify(json));
    assert.match(json.error.message, problem);
  }
  for (const missing of [`transcripts/${newId()}`, "transcripts/x"]) {
    for (const body of [{ session: "a" }, { session: "a", leave: true }]) {
      const { status, json } = await call(0, "POST", `${missing}:reportPresence`, body);
      assert.deepEqual([status, json.error.details[0].reason], [404, "TRANSCRIPT_NOT_FOUND"]);
    }
    const { status } = await call(0, "GET", `${missing}:watch`);
    assert.equal(status, 404);
  }
  await report(0, name, { session: "a".repeat(64), position: "3600000s" });
});

test("a key that can only read is present, and cannot edit", async () => {
  const name = await newTranscript();
  const { address } = nodes[0].service;
  const key = { method: "POST", path: "/v1/apiKeys", body: { scopes: ["transcripts.read"] } };
  const { json } = await callRest(address, keyOf(), key);
  const path = `/v1alpha1/${name}:reportPresence`;
  const by = async (body: object): Promise<Answer> =>
    await callRest(address, json.secret, { method: "POST", path, body });
  assert.equal((await by({ session: "a" })).status, 200);
  const refused = await by({ session: "a", editing: true });
  assert.deepEqual([refused.status, refused.json.error.details[0].reason], [403, "SCOPE_MISSING"]);
});

test("gRPC and the TypeScript client watch a transcript until it is deleted", async () => {
  for (const client of [
    createClient(Transcripts, createGrpcTransport({ baseUrl: nodes[0].service.address })),
    createHlustClient({ url: nodes[1].service.address, token: keyOf() }).transcripts,
  ]) {
    const headers = { authorization: `Bearer ${keyOf()}` };
    const name = await newTranscript();
    const seen: string[] = [];
    for await (const { version, deleted } of client.watchTranscript({ name }, { headers })) {
      seen.push(deleted ? "deleted" : (version?.name ?? ""));
      if (!deleted) await client.deleteTranscript({ name }, { headers });
    }
    assert.deepEqual([seen.length, seen[1]], [2, "deleted"]);
    const failure = await connectFailure(
      Array.fromAsync(client.watchTranscript({ name }, { headers })),
    );
    assert.equal(failure.code, Code.NotFound);
  }
});

test("transcripts are watched with the jobs in one stream, which goes on when one is deleted or does not exist", async () => {
  const [one, other] = [await newTranscript(), await newTranscript()];
  const absent = `transcripts/${newId()}`;
  const query = [one, other, one, absent, "x"].map((name) => `transcripts=${name}`).join("&");
  await using stream = await watch(0, "transcriptjob", `?updatesOnly=true&${query}`);
  assert.deepEqual(await stream.until(() => true, "the first message"), { update: true, jobs: [] });
  const stateOf = async (
    name: string,
    passes: (state: Answer["json"]) => boolean,
  ): Promise<Answer["json"]> => {
    const { transcripts } = await stream.until(
      (message) => message.transcripts?.[0].name === name && passes(message.transcripts[0].state),
      `the state of ${name}`,
    );
    assert.equal(transcripts.length, 1);
    return transcripts[0].state;
  };
  const states = new Map<string, Answer["json"]>();
  while (states.size < 4) {
    const { update, jobs, transcripts } = await stream.until(() => true, "each state");
    assert.deepEqual([update, jobs], [true, []]);
    for (const { name, state } of transcripts) states.set(name, state);
  }
  const gone = { deleted: true };
  assert.deepEqual([states.get(absent), states.get("x")], [gone, gone]);
  const { json: transcript } = await call(1, "GET", one);
  assert.equal(states.get(one).version.name, transcript.version.name);
  await report(1, one, { session: "a", editing: false });
  await stateOf(one, ({ participants }) => participants?.length === 1);
  await call(1, "DELETE", one);
  assert.deepEqual(await stateOf(one, ({ deleted }) => deleted), gone);
  const { json: edited } = await call(1, "PATCH", other, { metadata: { subject: "annar" } });
  await stateOf(other, ({ version }) => version?.name === edited.version.name);
});

test("a stream watches 20 transcripts at most", async () => {
  const query = Array.from({ length: 21 }, (_, at) => `transcripts=${at}`).join("&");
  const { status, json } = await call(0, "GET", `transcriptjob:watch?${query}`);
  assert.equal(status, 400);
  assert.ok(JSON.stringify(json).includes("must have at most 20 different names, not 21"));
});
