// Invalid uploads over real connections: each is refused with a reason, and nothing from it is
// stored.
import assert from "node:assert/strict";
import { connect } from "node:http2";
import { after, afterEach, test } from "node:test";
import { Code, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { signingKey } from "../../src/database/signing-key.ts";
import { Transcripts } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { createSignedUrls, signedUrlMs } from "../../src/media/signed-url.ts";
import { connectFailure } from "../fixtures/connect-failure.ts";
import { RawConnection } from "../fixtures/raw-http.ts";
import { until } from "../fixtures/until.ts";
import { fieldsOf } from "./jobs.ts";
import { openStoredService } from "./stored-service.ts";

const absentId = "0190a0a0-0000-7000-8000-000000000000";
const stored = await openStoredService();
const { service, db, name, mediaFiles, withTranscript, initUpload } = stored;
after(() => stored[Symbol.asyncDispose]());
afterEach(stored.assertUnchanged);

/** Returns the head of a PUT request as text. */
function putHead(url: string, length: number): string {
  const { pathname, search } = new URL(url);
  return `PUT ${pathname}${search} HTTP/1.1\r\nhost: h\r\ncontent-length: ${length}\r\n\r\n`;
}

test("a PUT that is shorter than declared is refused, and the URL then accepts a complete one", async () => {
  await withTranscript(async (name) => {
    const url = await initUpload(name);
    const files = mediaFiles();
    await using connection = await RawConnection.open(service.address);
    connection.send(Buffer.from(`${putHead(url, 100)}only this`));
    await connection.end();
    const answer = await connection.answer();
    assert.equal(answer?.status, 400, "the client has ended its side of the connection");
    await until(async () => mediaFiles().length === files.length);
    assert.equal((await service.call("GET", `/v1alpha1/${name}`)).json.uri, "");
    assert.equal((await fetch(url, { method: "PUT", body: "whole" })).status, 200);
  });
});

test("a PUT that is longer than declared is refused, and the URL then accepts a correct one", async () => {
  const longer = "whole and more\r\n\r\n";
  const overHttp1 = async (url: string): Promise<number | undefined> => {
    await using connection = await RawConnection.open(service.address);
    connection.send(Buffer.from(`${putHead(url, 5)}${longer}`));
    const answer = await connection.answer();
    await connection.end();
    return answer?.status;
  };
  const overHttp2 = async (url: string): Promise<number | undefined> => {
    const client = connect(service.address).on("error", () => {});
    const { pathname, search } = new URL(url);
    const headers = { ":method": "PUT", ":path": `${pathname}${search}`, "content-length": "5" };
    const stream = client.request(headers).on("error", () => {});
    let status: number | undefined;
    stream.on("response", (answer) => (status = answer[":status"]));
    stream.end(longer);
    await new Promise((resolve) => stream.resume().once("close", resolve));
    client.close();
    return status;
  };
  for (const put of [overHttp1, overHttp2]) {
    await withTranscript(async (name) => {
      const url = await initUpload(name);
      const status = await put(url);
      // Over HTTP/2, Node refuses such a request before the service receives it.
      assert.equal(status, put === overHttp1 ? 400 : undefined);
      const answer = await fetch(url, { method: "PUT", body: "right" });
      assert.equal(answer.status, 200, "the first PUT was not accepted");
      const { uri } = (await service.call("GET", `/v1alpha1/${name}`)).json;
      assert.equal(await (await fetch(uri)).text(), "right");
    });
  }
});

test("only one of two concurrent PUTs to one URL is accepted", async () => {
  await withTranscript(async (name) => {
    const url = await initUpload(name);
    const bodies = ["a", "b"].map((char) => char.repeat(100_000));
    const puts = bodies.map((body) => fetch(url, { method: "PUT", body }));
    const answers = await Promise.all(puts);
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 409],
    );
    const refused = answers.find(({ status }) => status === 409);
    assert.match(`${await refused?.text()}`, /this upload URL has already been used/);
    const { uri } = (await service.call("GET", `/v1alpha1/${name}`)).json;
    const taken = bodies[answers.findIndex(({ status }) => status === 200)];
    assert.equal(await (await fetch(uri)).text(), taken);
  });
});

test("a filename or a resource that cannot be is refused over REST and gRPC", async () => {
  const transport = createGrpcTransport({ baseUrl: service.address });
  const client = createClient(Transcripts, transport);
  const options = { headers: { authorization: `Bearer ${service.key}` } };
  const rows: [request: { resourceName?: string; filename?: string }, problem: string][] = [
    [{ filename: "a\0b.wav" }, "filename: has a NUL character"],
    [{ filename: "x".repeat(1_001) }, "filename: has 1001 characters; at most 1000 are allowed"],
    [{ filename: "🎤".repeat(1_001) }, "filename: has 1001 characters; at most 1000 are allowed"],
    [
      { resourceName: "jobs/1" },
      "resourceName: must be transcripts/<transcript_id>, or empty for a new upload",
    ],
  ];
  for (const [request, problem] of rows) {
    const full = { resourceName: name, ...request };
    const answer = await service.call("POST", "/v1alpha1/initupload", full);
    assert.deepEqual([answer.status, answer.json.message], [400, problem]);
    const failure = await connectFailure(client.initUpload(full, options));
    assert.deepEqual([failure.code, failure.rawMessage], [Code.InvalidArgument, problem]);
  }
  // JSON has more ways to be wrong.
  for (const filename of [5, true, ["a.wav"], { name: "a.wav" }, "\ud83d"]) {
    const answer = await service.call("POST", "/v1alpha1/initupload", { filename });
    assert.equal(answer.status, 400, JSON.stringify(filename));
    assert.deepEqual(fieldsOf(answer), ["filename"]);
  }
  const unknown = await service.call("POST", "/v1alpha1/initupload", { fileName: "a.wav" });
  assert.match(unknown.json.message, /^fileName: .* has no such field$/);
  await withTranscript(async (resourceName) => {
    const filename = "🎤".repeat(1_000);
    assert.notEqual(
      (await client.initUpload({ resourceName, filename }, options)).resourceName,
      "",
    );
  });
});

test("a signed URL is refused after an hour, or with a different method, path or query", async () => {
  await withTranscript(async (name) => {
    const url = await initUpload(name);
    const { pathname, search } = new URL(url);
    // An expired URL that was signed with the service's own key.
    const late = createSignedUrls({
      key: await signingKey(db, "signed-url"),
      publicUrl: () => service.address,
      now: () => Date.now() - signedUrlMs - 1000,
    }).sign({ method: "PUT", path: pathname, bytesMax: 1000 });
    const other = pathname.replace(/[^/]+$/, absentId);
    const rows: [method: string, url: string, status: number][] = [
      ["PUT", late, 403],
      ["GET", url, 403],
      ["HEAD", url, 403],
      ["POST", url, 405],
      ["PATCH", url, 405],
      ["DELETE", url, 405],
      ["PUT", `${service.address}${other}${search}`, 403],
      ["PUT", `${service.address}${pathname}`, 403],
      ["PUT", `${url}&x=1`, 403],
      ["PUT", url.replace("expires=", "expires=9"), 403],
      ["PUT", url.replace(/bytesMax=\d+/, "bytesMax=1"), 403],
      ["PUT", url.replace(/&bytesMax=\d+/, ""), 403],
      [
        "PUT",
        url.replace(/token=./, (token) => (token.endsWith("A") ? "token=B" : "token=A")),
        403,
      ],
      ["PUT", url.replace("?", "?&"), 403],
      ["PUT", url.replace(/\?(.*)&(token=.*)/, "?$2&$1"), 403],
      ["PUT", url.replace(/(?<=uploads\/\w+)-/, "%2D"), 403],
      ["GET", url.replace("/media/uploads/", "/media/"), 403],
      ["PUT", url.replace("/media/", "/media//"), 403],
    ];
    for (const [method, target, status] of rows) {
      const body = method === "GET" || method === "HEAD" ? {} : { body: "bytes" };
      const answer = await fetch(target, { method, ...body });
      assert.equal(answer.status, status, `${method} ${target}`);
      const text = await answer.text();
      if (status === 405) assert.equal(answer.headers.get("allow"), "GET, HEAD, PUT, OPTIONS");
      else if (method !== "HEAD") assert.match(text, /not valid for this, or has expired/);
    }
    assert.equal((await service.call("GET", `/v1alpha1/${name}`)).json.uri, "");
    assert.equal((await fetch(url, { method: "PUT", body: "bytes" })).status, 200);
  });
});
