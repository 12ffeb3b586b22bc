import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import type { DescField, JsonObject, Message } from "@bufbuild/protobuf";
import { isMessage } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import fc from "fast-check";
import {
  anyStrings,
  arbitraryMessage,
  wellFormedStrings,
} from "../../test/fixtures/arbitrary-message.ts";
import { ItemSchema, MSchema, Vectors } from "../../test/gen/transcoding_pb.ts";
import { runs } from "../../test/fixtures/property-runs.ts";
import {
  Accounts,
  UpdateAccountRequestSchema,
  UpdateApiKeyRequestSchema,
  UpdateClientKeyRequestSchema,
  UpdateMemberRequestSchema,
} from "../gen/hlust/accounts/v1/accounts_pb.ts";
import { Speech } from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import {
  Transcripts,
  UpdateTranscriptRequestSchema,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { UpdateWebhookRequestSchema, Webhooks } from "../gen/hlust/webhooks/v1/webhooks_pb.ts";
import { ServiceError } from "../std/service-error.ts";
import type { Binding } from "./http-rules.ts";
import { isLeaf } from "./leaf-text.ts";
import { registryOf } from "./registry-of.ts";
import { createTranscoder, type Transcoder } from "./transcoder.ts";
import { writeRequest, type WrittenRequest } from "./write-request.ts";

const registry = registryOf([Vectors]);
const numRuns = runs(10_000);

function transcoderOf(rule: JsonObject): Transcoder {
  const selector = `${Vectors.typeName}.Echo`;
  return createTranscoder([Vectors], { rules: [{ selector, ...rule }], registry });
}

/** Reads a request as a server does. */
function read(transcoder: Transcoder, { httpMethod, target, body }: WrittenRequest): Message {
  const content = typeof body?.content === "string" ? Buffer.from(body.content) : body?.content;
  const bytes = content === undefined ? undefined : new Uint8Array(content);
  return transcoder.bind(transcoder.route(httpMethod, target), bytes, body?.contentType);
}

/**
 * The fields whose JSON name is the proto name of another field, which the Protobuf library
 * confuses (vector qry-073).
 */
const swapped: ReadonlySet<string> = new Set(["pa", "pb"]);

const rules: readonly JsonObject[] = [
  { post: "/v1/x", body: "*" },
  { get: "/v1/x" },
  { post: "/v1/{s}/y/{sub.i64}:go", body: "*" },
  { get: "/v1/{s}/y/{e}/{d}" },
  { get: "/v1/{s=**}" },
  { delete: "/v1/{s=a/*/b/**}:go" },
  { get: "/v1/{dur}/{ts}/{wd}" },
  { get: "/v1/{b}/{by}/{opt}", additionalBindings: [{ post: "/v1/{s}", body: "*" }] },
  { put: "/v1/{item.id}", body: "item" },
  { put: "/v1/{u64}", body: "items" },
  ...["labels", "st", "val", "any", "file", "rby", "by", "e", "ob", "dur", "im"].map((body) => {
    return { post: "/v1/x", body };
  }),
];

test("Transcoder.bind() reads the requests that writeRequest() writes, for any message and rule", () => {
  const transcoders = rules.map(transcoderOf);
  const depths = { depth: 2, inAny: ItemSchema };
  const takes = ({ name }: DescField): boolean => !swapped.has(name);
  const message = arbitraryMessage(MSchema, { ...depths, strings: anyStrings, takes });
  const counts = { written: 0, refused: 0 };
  fc.assert(
    fc.property(fc.constantFrom(...transcoders), message, (transcoder, message) => {
      const written = writtenOrRefused(transcoder.bindings, message);
      counts[written ? "written" : "refused"]++;
      if (!written) return;
      assert.deepEqual(read(transcoder, written), message);
      // Clients send the target unchanged.
      const { pathname, search } = new URL(written.target, "http://localhost");
      assert.equal(pathname + search, written.target);
    }),
    { numRuns },
  );
  assert.ok(counts.written > numRuns / 4, JSON.stringify(counts));
  assert.ok(counts.refused > numRuns / 20, JSON.stringify(counts));
});

test("writeRequest() writes every message that a body or a query can express", () => {
  const strings = wellFormedStrings;
  const takes = ({ name }: DescField): boolean => !swapped.has(name);
  const inBody = arbitraryMessage(MSchema, { depth: 2, inAny: ItemSchema, strings, takes });
  const inQuery = arbitraryMessage(MSchema, {
    depth: 1,
    inAny: ItemSchema,
    strings,
    takes: (field) => takes(field) && field.fieldKind !== "map" && isLeaf(field),
  });
  const post = transcoderOf({ post: "/v1/x", body: "*" });
  const get = transcoderOf({ get: "/v1/x" });
  const call = fc.oneof(
    inBody.map((message): [Transcoder, Message] => [post, message]),
    inQuery.map((message): [Transcoder, Message] => [get, message]),
  );
  fc.assert(
    fc.property(call, ([transcoder, message]) => {
      const written = writeRequest(transcoder.bindings, message, registry);
      assert.deepEqual(read(transcoder, written), message);
    }),
    { numRuns },
  );
});

test("requests of every method of the contract are written and read back", () => {
  const services = [Transcripts, Speech, Accounts, Webhooks];
  const transcoder = createTranscoder(services);
  const contract = registryOf(services);
  const calls = transcoder.bindings.map((binding) => {
    return messageFor(binding).map((message) => ({ binding, message }));
  });
  const methods = new Set<string>();
  fc.assert(
    fc.property(fc.oneof(...calls), ({ binding, message }) => {
      const written = writeRequest([binding], message, contract);
      const { method } = binding;
      assert.equal(transcoder.route(written.httpMethod, written.target).binding, binding);
      const found = read(transcoder, written);
      // A PATCH without a mask gets its mask from the body.
      for (const schema of [
        UpdateTranscriptRequestSchema,
        UpdateAccountRequestSchema,
        UpdateApiKeyRequestSchema,
        UpdateClientKeyRequestSchema,
        UpdateMemberRequestSchema,
        UpdateWebhookRequestSchema,
      ]) {
        const hasMask = isMessage(message, schema) && message.updateMask;
        if (!hasMask && isMessage(found, schema)) delete found.updateMask;
      }
      assert.deepEqual(found, message);
      methods.add(method.name);
    }),
    { numRuns },
  );
  const all = services.flatMap((service) => service.methods.map(({ name }) => name));
  assert.deepEqual(methods, new Set(all));
});

/** Any message that the binding can express. */
function messageFor({ method, body, variables, path }: Binding): fc.Arbitrary<Message> {
  const strings = wellFormedStrings;
  const inBody = new Set(
    typeof body === "object" ? [body] : body === "*" ? method.input.fields : [],
  );
  const message = arbitraryMessage(method.input, {
    depth: 4,
    inAny: UpdateTranscriptRequestSchema,
    strings,
    takes: (field) =>
      field.parent !== method.input ||
      inBody.has(field) ||
      (field.fieldKind !== "map" && isLeaf(field)),
  });
  const segment = wellFormedStrings.filter((text) => !["", ".", ".."].includes(text));
  const values = path.variables.map(({ start, end }) => {
    const parts = path.segments.slice(start, end).map((one) => {
      return one.kind === "literal"
        ? fc.constant(one.text)
        : segment.filter((s) => !s.includes("/"));
    });
    return fc.tuple(...parts).map((parts) => parts.join("/"));
  });
  return fc.tuple(message, ...values).map(([message, ...values]) => {
    for (const [index, fields] of variables.entries()) {
      let holder = reflect(method.input, message);
      for (const field of fields) {
        if (field.fieldKind !== "message") holder.set(field, values[index]);
        else {
          const below = holder.get(field);
          holder.set(field, below);
          holder = below;
        }
      }
    }
    return message;
  });
}

function writtenOrRefused(
  bindings: readonly Binding[],
  message: Message,
): WrittenRequest | undefined {
  try {
    return writeRequest(bindings, message, registry);
  } catch (error) {
    assert.ok(error instanceof ServiceError, String(error));
    assert.equal(error.reason, "NOT_EXPRESSIBLE");
    assert.ok(error.violations.every(({ field }) => field !== ""));
    return undefined;
  }
}
