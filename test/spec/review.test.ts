// Reviews (extension): which parts of a transcript people have checked and listened to.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { openDatabase, type Database } from "../../src/database/database.ts";
import { newId } from "../../src/std/ids.ts";
import { createLog } from "../../src/std/log.ts";
import { reviewMax } from "../../src/transcripts/review-methods.ts";
import { addSignedIn } from "../fixtures/signed-in.ts";
import { callRest, openTestService, type Answer, type TestService } from "./service.ts";
import { draftOf } from "./transcripts.ts";

const parts = new AsyncDisposableStack();
let service: TestService;
let database: Database;
let accountId: string;
before(async () => {
  service = parts.use(await openTestService({ HLUST_ENGINE: "scripted" }));
  const folder = join(service.dataFolder, "postgres");
  database = parts.use(await openDatabase({ url: undefined, folder, log: createLog("silent") }));
  const { json } = await service.call("GET", "/v1/account");
  accountId = json.name.replace("accounts/", "");
});
after(() => parts.disposeAsync());

async function newTranscript(): Promise<string> {
  const { json } = await service.call("POST", "/v1alpha1/transcripts", draftOf("fundur"));
  return json.name;
}

type Call = (method: string, path: string, body?: unknown) => Promise<Answer>;

/** A member with a name, who calls through the console. */
async function newMember(
  displayName: string,
): Promise<{ readonly author: string; readonly call: Call }> {
  const { memberId, headers } = await addSignedIn(database.db, accountId, "MEMBER");
  await database.db
    .updateTable("member")
    .set({ display_name: displayName })
    .where("id", "=", memberId)
    .execute();
  return {
    author: `members/${memberId}`,
    call: async (method, path, body) =>
      await callRest(service.address, undefined, {
        method,
        path: `/console/api${path}`,
        body,
        headers: { ...headers },
      }),
  };
}

const path = (name: string) => `/v1alpha1/${name}:modifyReview`;

/** Makes ranges from pairs of seconds. */
function ranges(kind: string, ...pairs: readonly (readonly [number, number])[]) {
  return pairs.map(([start, end]) => ({ kind, startTime: `${start}s`, endTime: `${end}s` }));
}

/** Shows ranges as `CHECKED 0s 1s Anna`. */
function shown({ json }: Answer): string[] {
  return json.ranges.map(
    (range: Record<string, string>) =>
      `${range["kind"]} ${range["startTime"]} ${range["endTime"]} ${range["authorName"]}`,
  );
}

test("marks are joined by kind and author, and survive new versions", async () => {
  const name = await newTranscript();
  const [anna, jon] = [await newMember("Anna"), await newMember("Jón")];
  const empty = await service.call("GET", `/v1alpha1/${name}/review`);
  assert.deepEqual(empty.json, { name: `${name}/review`, ranges: [], etag: "" });
  const first = await anna.call("POST", path(name), {
    add: ranges("CHECKED", [10, 20], [20, 30.5], [0, 5]),
  });
  assert.deepEqual(shown(first), ["CHECKED 0s 5s Anna", "CHECKED 10s 30.500s Anna"]);
  assert.equal(first.json.ranges[0].author, anna.author);
  const second = await jon.call("POST", path(name), {
    add: [...ranges("CHECKED", [4, 12]), ...ranges("LISTENED", [0, 60])],
  });
  const joined = await anna.call("POST", path(name), { add: ranges("CHECKED", [5, 10]) });
  const all = ["CHECKED 0s 30.500s Anna", "LISTENED 0s 60s Jón", "CHECKED 4s 12s Jón"];
  assert.deepEqual(shown(joined), all);
  assert.equal(new Set([first, second, joined].map(({ json }) => json.etag)).size, 3);
  const listed = await service.call("GET", `/v1alpha1/${name}/versions`);
  await service.call("PATCH", `/v1alpha1/${name}`, { segments: [] });
  const read = await service.call("GET", `/v1alpha1/${name}/review`);
  assert.deepEqual(read.json, joined.json);
  assert.equal(listed.json.versions.length, 1, "marks create no version");
});

test("a change that changes nothing keeps the etag and the time", async () => {
  const name = await newTranscript();
  const add = ranges("LISTENED", [3, 9]);
  const { json: first } = await service.call("POST", path(name), { add });
  for (const change of [{ add }, { add: ranges("LISTENED", [4, 5]) }, {}]) {
    assert.deepEqual((await service.call("POST", path(name), change)).json, first);
  }
  const remove = ranges("LISTENED", [9, 12]);
  assert.deepEqual((await service.call("POST", path(name), { remove })).json, first);
});

test("removing cuts checked ranges of everyone, and listened ranges of the caller only", async () => {
  const name = await newTranscript();
  const [anna, jon] = [await newMember("Anna"), await newMember("Jón")];
  for (const { call } of [anna, jon]) {
    await call("POST", path(name), {
      add: [...ranges("CHECKED", [0, 30]), ...ranges("LISTENED", [0, 30])],
    });
  }
  const cut = await anna.call("POST", path(name), {
    add: ranges("CHECKED", [12, 13]),
    remove: [...ranges("CHECKED", [10, 20]), ...ranges("LISTENED", [0, 29])],
  });
  assert.deepEqual(shown(cut).toSorted(), [
    "CHECKED 0s 10s Anna",
    "CHECKED 0s 10s Jón",
    "CHECKED 12s 13s Anna",
    "CHECKED 20s 30s Anna",
    "CHECKED 20s 30s Jón",
    "LISTENED 0s 30s Jón",
    "LISTENED 29s 30s Anna",
  ]);
  // Removing another author's marks is in the audit log, and other changes are not.
  const { json } = await service.call("GET", "/v1/auditEvents?pageSize=1000");
  const acts = json.auditEvents.filter(
    ({ resource, action }: Record<string, string>) =>
      resource === name && action !== "transcript.create",
  );
  assert.deepEqual(
    acts.map(({ action, actor, details }: Record<string, unknown>) => ({ action, actor, details })),
    [{ action: "review.remove", actor: anna.author, details: { authors: jon.author } }],
  );
});

test("the name of an author who was removed is empty, and the marks stay", async () => {
  const name = await newTranscript();
  const anna = await newMember("Anna");
  await anna.call("POST", path(name), { add: ranges("CHECKED", [0, 1]) });
  assert.equal((await service.call("DELETE", `/v1/${anna.author}`)).status, 200);
  const { json } = await service.call("GET", `/v1alpha1/${name}/review`);
  assert.deepEqual([json.ranges[0].author, json.ranges[0].authorName], [anna.author, ""]);
});

test("changes at the same time lose nothing", async () => {
  const name = await newTranscript();
  const callers = [await newMember("Anna"), await newMember("Jón"), await newMember("Gunna")];
  const changes = callers.flatMap(({ call }) =>
    Array.from({ length: 12 }, async (_, at) => {
      const answer = await call("POST", path(name), {
        add: [...ranges("CHECKED", [2 * at, 2 * at + 1]), ...ranges("LISTENED", [at, at + 1])],
      });
      assert.equal(answer.status, 200);
    }),
  );
  await Promise.all(changes);
  const read = await service.call("GET", `/v1alpha1/${name}/review`);
  const expected = ["Anna", "Jón", "Gunna"].flatMap((author) => [
    ...Array.from({ length: 12 }, (_, at) => `CHECKED ${2 * at}s ${2 * at + 1}s ${author}`),
    `LISTENED 0s 12s ${author}`,
  ]);
  assert.deepEqual(shown(read).toSorted(), expected.toSorted());
});

test("a change names every wrong value, and changes nothing", async () => {
  const name = await newTranscript();
  const right = ranges("CHECKED", [0, 1]);
  const range = (change: Readonly<Record<string, unknown>>) => [{ ...right[0], ...change }];
  const table: [body: Readonly<Record<string, unknown>>, problem: RegExp][] = [
    [
      { add: range({ kind: "KIND_UNSPECIFIED" }) },
      /add\[0\]\.kind: CHECKED or LISTENED is required/,
    ],
    [{ remove: [{}] }, /remove\[0\]\.kind: .*remove\[0\]\.startTime: is required.*endTime: is/],
    [{ add: range({ kind: "SEEN" }) }, /kind/],
    [{ add: range({ kind: 3 }) }, /kind/],
    [{ add: range({ startTime: undefined }) }, /add\[0\]\.startTime: is required/],
    [{ add: range({ startTime: "-1s" }) }, /add\[0\]\.startTime: is negative/],
    [{ add: range({ startTime: "1s" }) }, /add\[0\]\.endTime: is not after its startTime/],
    [{ add: range({ startTime: "2s" }) }, /add\[0\]\.endTime: is not after its startTime/],
    [{ add: range({ endTime: "3600000.000000001s" }) }, /add\[0\]\.endTime: is after 1000 hours/],
    [{ add: range({ endTime: "1" }) }, /endTime/],
    [{ add: [...right, ...range({ endTime: "0s" })] }, /add\[1\]\.endTime: is not after/],
    [
      { add: Array.from({ length: reviewMax.changes + 1 }, () => right[0]) },
      /^add: has 1001 ranges; at most 1000 are allowed$/,
    ],
    [
      { remove: Array.from({ length: reviewMax.changes + 1 }, () => right[0]) },
      /^remove: has 1001 ranges; at most 1000 are allowed$/,
    ],
  ];
  for (const [body, problem] of table) {
    const { status, json } = await service.call("POST", path(name), body);
    assert.equal(status, 400, JSON.stringify(json));
    assert.match(json.error.message, problem);
  }
  const { json } = await service.call("GET", `/v1alpha1/${name}/review`);
  assert.deepEqual([json.ranges, json.etag], [[], ""]);
  for (const missing of [`transcripts/${newId()}`, "transcripts/x"]) {
    for (const answer of [
      await service.call("GET", `/v1alpha1/${missing}/review`),
      await service.call("POST", path(missing), { add: right }),
    ]) {
      assert.equal(answer.json.error.details[0].reason, "TRANSCRIPT_NOT_FOUND");
    }
  }
  const last = { kind: "LISTENED", startTime: "3599999.999999999s", endTime: "3600000s" };
  const { json: exact } = await service.call("POST", path(name), { add: [last] });
  const { startTime, endTime } = exact.ranges[0];
  assert.deepEqual([startTime, endTime], [last.startTime, last.endTime]);
});

test("a transcript has at most 10,000 ranges, and the change that would exceed them is refused", async () => {
  const name = await newTranscript();
  const { ranges: most, changes } = reviewMax;
  const batch = (from: number, count: number) =>
    ranges(
      "LISTENED",
      ...Array.from({ length: count }, (_, at) => [2 * (from + at), 2 * (from + at) + 1] as const),
    );
  for (let from = 0; from < most; from += changes) {
    assert.equal(
      (await service.call("POST", path(name), { add: batch(from, changes) })).status,
      200,
    );
  }
  const { json: full } = await service.call("GET", `/v1alpha1/${name}/review`);
  assert.equal(full.ranges.length, most);
  const refused = await service.call("POST", path(name), { add: batch(most, 1) });
  assert.deepEqual([refused.status, refused.json.error.details[0].reason], [429, "REVIEW_FULL"]);
  const split = { remove: ranges("LISTENED", [0.25, 0.5]) };
  assert.equal((await service.call("POST", path(name), split)).status, 429);
  assert.deepEqual((await service.call("GET", `/v1alpha1/${name}/review`)).json, full);
  const one = await service.call("POST", path(name), { add: ranges("LISTENED", [0, 20_000]) });
  assert.deepEqual(
    shown(one).map((text) => text.trim()),
    ["LISTENED 0s 20000s First key"],
  );
});

test("a review is deleted with its transcript", async () => {
  const name = await newTranscript();
  await service.call("POST", path(name), { add: ranges("CHECKED", [0, 1]) });
  await service.call("DELETE", `/v1alpha1/${name}`);
  const rows = await database.db
    .selectFrom("transcript_review_range")
    .where("transcript_id", "=", name.slice(-36))
    .selectAll()
    .execute();
  assert.deepEqual(rows, []);
});
