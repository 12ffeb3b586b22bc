// §5: callers request access from the operator. Responses that deny access contain the contact of
// HLUST_CONTACT.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { ErrorInfoSchema } from "../../src/gen/google/rpc/error_details_pb.ts";
import { Transcripts } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { noteSecret } from "./secrets.ts";
import { openTestService, type Answer, type TestService } from "./service.ts";

const contact = "adgangur@hlust.example";
let service: TestService;
before(async () => {
  service = await openTestService({
    HLUST_ENGINE: "scripted",
    HLUST_ROLE: "api",
    HLUST_CONTACT: contact,
  });
});
after(() => service[Symbol.asyncDispose]());

function contactIn(body: Answer["json"]): unknown {
  const info = body.details.find((each: { reason?: string }) => each.reason !== undefined);
  return info.metadata?.contact;
}

test("401 and 403 responses contain the contact on every protocol, and other responses do not", async () => {
  const made = await service.call("POST", "/v1/apiKeys", { displayName: "a", scopes: ["speech"] });
  const { secret } = made.json;
  noteSecret(secret, "credential");
  const { address } = service;
  const rows: [path: string, headers: Record<string, string>, status: number, named?: string][] = [
    ["/v1alpha1/transcripts", {}, 401, contact],
    ["/v1alpha1/transcripts", { authorization: "Bearer wrong" }, 401, contact],
    ["/v1alpha1/transcripts", { authorization: `Bearer ${secret}` }, 403, contact],
    ["/media/0190a0a0-0000-7000-8000-000000000000", {}, 403, contact],
    ["/console/settings", { "sec-fetch-site": "same-origin" }, 401, contact],
    ["/console/session", { "sec-fetch-site": "cross-site" }, 403, contact],
    ["/v1alpha1/transcripts/x", { authorization: `Bearer ${service.key}` }, 404],
    ["/v1alpha1/nothing", {}, 404],
  ];
  for (const [path, headers, status, named] of rows) {
    const answer = await fetch(address + path, { headers });
    assert.equal(answer.status, status, path);
    assert.equal(contactIn(await answer.json()), named, `${path} ${status}`);
  }
  const headers = { "sec-fetch-site": "same-origin" };
  const session = await fetch(`${address}/console/session`, { headers });
  assert.deepEqual(await session.json(), { signInWays: ["apiKey"], contact });
  const grpc = createClient(Transcripts, createGrpcTransport({ baseUrl: address }));
  for (const [token, code] of [
    ["wrong", Code.Unauthenticated],
    [secret, Code.PermissionDenied],
  ] as const) {
    const headers = { authorization: `Bearer ${token}` };
    await assert.rejects(grpc.listTranscripts({}, { headers }), (thrown) => {
      const error = ConnectError.from(thrown);
      assert.equal(error.code, code);
      assert.equal(error.findDetails(ErrorInfoSchema)[0]?.metadata["contact"], contact);
      return true;
    });
  }
});

test("the contact is in openapi.json and in /docs", async () => {
  const document: Answer["json"] = await (await fetch(`${service.address}/openapi.json`)).json();
  assert.equal(document.info.contact.email, contact);
  const page = await (await fetch(`${service.address}/docs`)).text();
  assert.ok(page.includes(`<a href="mailto:${contact}">${contact}</a>`));
});
