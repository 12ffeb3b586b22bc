// PostgreSQL stores no NUL character: no RPC answers INTERNAL to one, whatever text has it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ScalarType, type DescMessage, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import { Accounts } from "../../src/gen/hlust/accounts/v1/accounts_pb.ts";
import { isObject } from "../../src/transcoding/is-object.ts";
import { openDoors, type Doors } from "./doors.ts";
import { matrix } from "./matrix.ts";
import { openAccessService } from "./open-access-service.ts";
import { addSecondThings, kinds, makeThings, type Owner, type Things } from "./things.ts";

const parts = new AsyncDisposableStack();
let doors: Doors;
let owner: Owner;
let things: Things;
before(async () => {
  const service = parts.use(await openAccessService({}));
  doors = parts.use(openDoors(service.address));
  owner = await service.newOwner();
  things = await makeThings(owner, new Set(kinds));
  await addSecondThings(owner, things);
});
after(() => parts.disposeAsync());

/** Returns copies of a request in each of which one text ends with NUL. */
function* withNul(value: JsonValue): Generator<JsonValue> {
  if (typeof value === "string") yield `${value}\0`;
  else if (Array.isArray(value)) {
    for (const [at, each] of value.entries()) {
      for (const changed of withNul(each)) yield value.with(at, changed);
    }
  } else if (isObject(value)) {
    for (const [name, each] of Object.entries(value)) {
      for (const changed of withNul(each)) yield { ...value, [name]: changed };
    }
  }
}

/** Returns copies of a request in each of which a text that it lacks is NUL. */
function* withMore(message: DescMessage, request: JsonObject, depth = 2): Generator<JsonObject> {
  for (const field of message.fields) {
    const { jsonName } = field;
    const inner = request[jsonName];
    const isText = field.scalar === ScalarType.STRING;
    if (field.fieldKind === "scalar" && isText && inner === undefined) {
      yield { ...request, [jsonName]: "a\0" };
    } else if (field.fieldKind === "list" && field.listKind === "scalar" && isText) {
      yield { ...request, [jsonName]: ["a\0"] };
    } else if (field.fieldKind === "map") {
      if (field.mapKind === "scalar") yield { ...request, [jsonName]: { "a\0": "b", c: "d\0" } };
    } else if (field.fieldKind === "message" && depth > 0) {
      const known = inner !== undefined && isObject(inner) ? inner : {};
      for (const changed of withMore(field.message, known, depth - 1)) {
        yield { ...request, [jsonName]: changed };
      }
    }
  }
}

const as = ({ token }: Owner) => ({ authorization: `Bearer ${token}` });

test("no text with a NUL character in any request is answered as a bug of the service", async () => {
  const wrong: string[] = [];
  let calls = 0;
  for (const [service, ofService] of matrix) {
    for (const method of service.methods) {
      const row = ofService[method.name];
      if (!row || method.methodKind !== "unary") continue;
      for (const build of row.requests) {
        const [request, headers = {}] = build(things);
        for (const changed of [...withNul(request), ...withMore(method.input, request)]) {
          if (!isObject(changed)) continue;
          const call = { method, request: changed, headers: { ...headers, ...as(owner) } };
          const { code, text } = await doors.Connect(call).catch((error: unknown) => ({
            code: "unsent",
            text: String(error),
          }));
          if (code !== "unsent") calls += 1;
          if (code === "INTERNAL" || code === "UNKNOWN") {
            wrong.push(`${service.typeName}.${method.name} ${JSON.stringify(changed)}: ${text}`);
          }
        }
      }
    }
  }
  assert.deepEqual(wrong, []);
  const actor = { pageSize: 1, actor: "operator\0" };
  const audit = Accounts.method.listAuditEvents;
  const refused = await doors.REST({ method: audit, request: actor, headers: as(owner) });
  assert.match(refused.text, /"field":"actor","description":"has a control character"/);
  assert.ok(calls > 500, `${calls}`);
});
