// The tests of every RPC of the service: who may call it at every door, and that the resources of
// an account do not exist for any other account.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import {
  getOption,
  type DescMethod,
  type DescService,
  type JsonObject,
  type JsonValue,
} from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { originalTranscripts } from "../../src/served-services.ts";
import { access } from "../../src/gen/hlust/api/annotations_pb.ts";
import { ServerReflection } from "../../src/gen/grpc/reflection/v1/reflection_pb.ts";
import { Operator } from "../../src/gen/hlust/operator/v1/operator_pb.ts";
import { Transcripts } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { isObject } from "../../src/transcoding/is-object.ts";
import { testOrigin } from "../fixtures/test-caller.ts";
import { consoleCallers, tokenCallers, type TestCaller } from "./callers.ts";
import {
  doorsOf,
  openDoors,
  type Ask,
  type DoorName,
  type Doors,
  type MatrixAnswer,
} from "./doors.ts";
import { changedField, forgedFields } from "./forged-fields.ts";
import { openAccessService } from "./open-access-service.ts";
import { matrix, type MatrixRequest, type Row } from "./matrix.ts";
import {
  absentThings,
  addSecondThings,
  idsOf,
  kinds,
  makeThings,
  rowsWith,
  type Kind,
  type Owner,
  type Things,
} from "./things.ts";

const parts = new AsyncDisposableStack();
let address: string;
let doors: Doors;
let callers: readonly TestCaller[];
/** The callers at the console's door. */
let signedIn: readonly TestCaller[];
/** Two independent accounts, the resources of one of them, and names that do not exist. */
let me: Owner;
let stranger: Owner;
let theirs: Things;
const nothing = absentThings();

before(async () => {
  const service = parts.use(await openAccessService({ HLUST_REFUSED_PER_MINUTE: "1000000" }));
  const { newOwner } = service;
  address = service.address;
  doors = parts.use(openDoors(address));
  [me, stranger] = [await newOwner(), await newOwner()];
  const several = await newOwner();
  callers = await tokenCallers(several, await newOwner());
  signedIn = await consoleCallers(several, await newOwner());
  theirs = await makeThings(stranger, new Set(kinds));
  await addSecondThings(stranger, theirs);
});
after(() => parts.disposeAsync());

const noRow: Row = { scopes: [], doors: [], of: [], requests: [() => [{}]] };
const rows = [...matrix].flatMap(([service, ofService]) =>
  service.methods.map((method) => ({ method, row: ofService[method.name] ?? noRow })),
);
const nameOf = (method: DescMethod) => `${method.parent.typeName}.${method.name}`;

test("every served RPC has a row with the scopes of the contract, and every row has an RPC", async () => {
  const served = await servedTypes();
  assert.deepEqual([...matrix.keys()].map(({ typeName }) => typeName).toSorted(), served);
  for (const [service, ofService] of matrix) {
    const names = service.methods.map(({ name }) => name);
    assert.deepEqual(Object.keys(ofService).toSorted(), names.toSorted());
  }
  for (const { method, row } of rows) {
    assert.equal(getOption(method, access).scope, row.scopes[0] ?? "", nameOf(method));
    assert.deepEqual(row.doors, doorsOf(method), nameOf(method));
    const text = JSON.stringify(row.requests.map((request) => request(nothing)));
    const named = kinds.filter((kind) => text.includes(nothing[kind]));
    assert.deepEqual(row.of, named, nameOf(method));
  }
});

/** Returns the services that reflection lists, except those that need no token. */
async function servedTypes(): Promise<string[]> {
  const client = createClient(ServerReflection, createGrpcTransport({ baseUrl: address }));
  const asked = (async function* () {
    yield { messageRequest: { case: "listServices", value: "" } } as const;
  })();
  const answers = await Array.fromAsync(client.serverReflectionInfo(asked));
  return answers
    .flatMap(({ messageResponse: { case: kind, value } }) =>
      kind === "listServicesResponse" ? value.service.map(({ name }) => name) : [],
    )
    .filter((name) => !name.startsWith("grpc."))
    .toSorted();
}

/** Codes that an authorized caller never gets. */
const refusals = new Set(["UNAUTHENTICATED", "PERMISSION_DENIED"]);
/** Codes that would hide whether a caller is authorized. */
const failures = new Set(["INTERNAL", "UNKNOWN", "UNAVAILABLE"]);
const hiding = /ROUTE_NOT_FOUND|TOO_MANY_RE/;

function assertAnswer(answer: MatrixAnswer, caller: TestCaller, row: Row, door: string): void {
  const { code, text } = answer;
  const what = `${caller.name} at ${door}: ${code} ${text}`;
  const may = door === "WebSocket" ? (caller.maySocket ?? caller.may) : caller.may;
  assert.ok(!failures.has(code) && !hiding.test(text), what);
  if (may === undefined) {
    assert.equal(code, "UNAUTHENTICATED", what);
    return;
  }
  const missing = row.scopes.find((scope) => !may.has(scope));
  if (missing === undefined) {
    assert.ok(!refusals.has(code), what);
    return;
  }
  assert.equal(code, "PERMISSION_DENIED", what);
  assert.ok(text.includes("SCOPE_MISSING") && text.includes(missing), what);
}

/** The doors that share authentication with gRPC. */
const likeGrpc: ReadonlySet<DoorName> = new Set(["gRPC-Web", "Connect"]);

for (const { method, row } of rows) {
  test(`${nameOf(method)} is for ${row.scopes.join(" and ") || "every authenticated caller"}`, async () => {
    const [request, headers] = row.requests[0](nothing);
    const check = async (ask: Ask, door: string, some: readonly TestCaller[]): Promise<void> => {
      const answers = some.map(async (caller) => {
        const call = { method, request, headers: { ...headers, ...caller.headers } };
        assertAnswer(await ask(call), caller, row, door);
      });
      await Promise.all(answers);
    };
    const usual = callers.filter(({ isUsual }) => isUsual);
    for (const door of row.doors) {
      await check(doors[door], door, likeGrpc.has(door) ? usual : callers);
    }
    if (row.doors.includes("REST"))
      await check(doors.restUnder("/console/api"), "the console", signedIn);
  });
}

/** Makes a call as an account, with the account's own things. */
function callBy({ token }: Owner, method: DescMethod, request: MatrixRequest, own: Things) {
  const [json, headers] = request(own);
  return { method, request: json, headers: { ...headers, authorization: `Bearer ${token}` } };
}

// Operators see all accounts; test/spec/operator.test.ts tests what they see.
for (const { method, row } of rows.filter(({ method }) => method.parent !== Operator)) {
  const [home = "REST"] = row.doors;
  const others = row.doors.filter((door) => !likeGrpc.has(door));
  test(`${nameOf(method)} returns the same error for another account's resources as for missing ones`, async () => {
    for (const request of row.requests) {
      const own = await makeThings(me, new Set(row.of));
      const named = namedBy(request);
      const alike =
        named.length === 0
          ? await doors[home](callBy(stranger, method, request, nothing))
          : undefined;
      const before = await rowsWith(stranger.db, idsOf(theirs));
      for (const some of named.length > 1 ? [...named.map((kind) => [kind]), named] : [named]) {
        for (const door of named.length > 0 ? others : []) {
          const call = (things: Things) =>
            doors[door](callBy(me, method, request, withSome(own, things, some)));
          const [foreign, absent] = [await call(theirs), await call(nothing)];
          const what = `${some.join(" and ")} at ${door}: ${foreign.text}`;
          assert.notEqual(foreign.code, "OK", what);
          assert.equal(ofNothing(foreign.text), absent.text, what);
        }
      }
      const { code, text } = await doors[home](callBy(me, method, request, own));
      assert.equal(code, "OK", text);
      // The response also contains nothing that the other account created with the same request.
      const unseen = [stranger.accountId, ...idsOf(theirs), ...idsIn(alike?.text ?? "")];
      for (const id of unseen) assert.ok(!text.includes(id), text);
      assert.deepEqual(await rowsWith(stranger.db, idsOf(theirs)), before);
    }
  });
}

function idsIn(text: string): string[] {
  const ids = Array.from(text.matchAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g), ([id]) => id);
  return ids.filter((id) => id !== testOrigin.requestId);
}

function namedBy(request: MatrixRequest): Kind[] {
  const text = JSON.stringify(request(nothing));
  return kinds.filter((kind) => text.includes(nothing[kind]));
}

function withSome(own: Things, others: Things, some: readonly Kind[]): Things {
  return { ...own, ...Object.fromEntries(some.map((kind) => [kind, others[kind]])) };
}

/** Returns the response with the other account's ids replaced by missing ones. */
function ofNothing(text: string): string {
  const absent = idsOf(nothing);
  return idsOf(theirs).reduce((all, id, at) => all.replaceAll(id, absent[at] ?? ""), text);
}

const lists = rows.filter(({ method }) =>
  method.input.fields.some(({ name }) => name === "page_token"),
);
for (const { method, row } of lists) {
  const [request] = row.requests;
  const [home = "REST"] = row.doors;
  test(`${nameOf(method)} refuses a page token of another account`, async () => {
    const first: MatrixRequest = (things) => [{ ...request(things)[0], pageSize: 1 }];
    const { text } = await doors[home](callBy(stranger, method, first, theirs));
    const [, token = ""] = /"nextPageToken":"([^"]+)"/.exec(text) ?? [];
    assert.notEqual(token, "", text);
    const own = await makeThings(me, new Set(row.of));
    const ask = async (pageToken: string): Promise<MatrixAnswer> => {
      const next: MatrixRequest = (things) => [{ ...request(things)[0], pageToken }];
      return await doors[home](callBy(me, method, next, own));
    };
    const forged = randomBytes(Buffer.from(token, "base64url").length).toString("base64url");
    const answer = await ask(token);
    assert.equal(answer.code, "INVALID_ARGUMENT", answer.text);
    assert.equal(answer.text, (await ask(forged)).text);
  });
}

const ofTranscripts = new Set<DescService>([Transcripts, originalTranscripts]);
const updates = rows.flatMap(({ method, row }) => {
  const changed = changedField(method.input);
  // Each update of a transcript creates a version of it. The tests of §4.6 cover which fields an
  // update changes.
  return changed?.message === undefined || ofTranscripts.has(method.parent)
    ? []
    : [{ method, row, name: changed.jsonName, thing: changed.message }];
});
for (const { method, row, name, thing } of updates) {
  test(`${nameOf(method)} ignores output-only fields`, async () => {
    const own = await makeThings(me, new Set(row.of));
    const [request] = row.requests;
    const ask = async (fields: JsonObject, mask?: string): Promise<MatrixAnswer> => {
      const forged: MatrixRequest = (things) => {
        const [json] = request(things);
        const all = { ...objectIn(json[name]), ...fields };
        return [{ [name]: all, ...(mask !== undefined && { updateMask: mask }) }];
      };
      return await doors.gRPC(callBy(me, method, forged, own));
    };
    assert.equal((await ask({})).code, "OK");
    const before = await ownRows(own);
    for (const [field, value] of forgedFields(thing)) {
      // A name in the path identifies the resource, so it cannot be forged.
      if (field === "name" && row.of.length > 0) continue;
      for (const mask of [undefined, field]) {
        const { code, text } = await ask({ [field]: value }, mask);
        assert.ok(code === "OK" || code === "INVALID_ARGUMENT", `${field}: ${code} ${text}`);
        assert.deepEqual(await ownRows(own), before, field);
      }
    }
  });
}

/** Returns all rows of the account, except its audit log. */
async function ownRows(own: Things): Promise<string[]> {
  const found = await rowsWith(me.db, [me.accountId, ...idsOf(own)]);
  return found.filter((text) => !text.startsWith("audit_event "));
}

function objectIn(value: JsonValue | undefined): JsonObject {
  return value !== undefined && isObject(value) ? value : {};
}
