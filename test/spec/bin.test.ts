// The bin (extension): to every other method, a transcript in it does not exist.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openTestService, type TestService } from "./service.ts";
import { draftOf } from "./transcripts.ts";

let service: TestService;
before(async () => {
  service = await openTestService({ HLUST_ENGINE: "scripted" });
});
after(async () => {
  await service[Symbol.asyncDispose]();
});

const ok = async (method: string, path: string, body?: unknown) => {
  const { status, json } = await service.call(method, path, body);
  assert.equal(status, 200, `${method} ${path}: ${JSON.stringify(json)}`);
  return json;
};

test("lists, searches, reads, changes, links and watches treat a transcript in the bin as absent, until it is restored", async () => {
  const { name } = await ok("POST", "/v1alpha1/transcripts", draftOf("í ruslið"));
  const share = await ok("POST", `/v1alpha1/${name}/shares`, { withMedia: true });
  const { uri: exported } = await ok("POST", `/v1alpha1/${name}:signExport`, { format: "TEXT" });
  const { version } = await ok("GET", `/v1alpha1/${name}`);
  const draft = { baseVersion: version.name, content: "ZHLDtmc=" };
  await ok("PUT", `/v1alpha1/${name}/draft`, draft);
  const filter = encodeURIComponent('metadata.subject CONTAINS "í ruslið"');
  const statuses = async () => {
    const status = async (method: string, path: string, body?: unknown) =>
      (await service.call(method, `/v1alpha1/${path}`, body)).status;
    const listed = async (query: string) =>
      (await ok("GET", `/v1alpha1/transcripts?${query}`)).transcripts.length;
    return {
      shared: await status("GET", `shared/${share.uri.split("/").at(-1)}`),
      exported: (await fetch(exported)).status,
      get: await status("GET", name),
      versions: await status("GET", `${name}/versions`),
      version: await status("GET", `${name}/versions/${version.name}`),
      draft: await status("GET", `${name}/draft`),
      review: await status("GET", `${name}/review`),
      shares: await status("GET", `${name}/shares`),
      share: await status("POST", `${name}/shares`, {}),
      align: await status("POST", "alignmentjobs:submit", { transcript: name }),
      presence: await status("POST", `${name}:reportPresence`, { session: "a" }),
      upload: await status("POST", "initupload", { resourceName: name }),
      listed: await listed(""),
      found: await listed(`filter=${filter}`),
      binned: (await ok("GET", "/v1alpha1/binnedtranscripts")).binnedTranscripts.length,
    };
  };
  const before = await statuses();
  const ofOne = await watch(`${name}:watch`);
  const ofList = await watch("transcripts:watch");
  assert.equal((await ofOne.next()).deleted, false);
  assert.equal((await ofList.next()).transcripts.length, 1);
  await ok("POST", "/v1alpha1/transcripts:bin", { names: [name] });
  assert.deepEqual((await ofList.next()).removed, [name]);
  assert.equal((await ofOne.next((message) => message.deleted)).deleted, true);
  assert.deepEqual(await statuses(), {
    ...Object.fromEntries(Object.keys(before).map((key) => [key, 404])),
    listed: 0,
    found: 0,
    binned: 1,
  });
  await ok("POST", "/v1alpha1/binnedtranscripts:restore", { names: [name] });
  assert.deepEqual((await ofList.next()).transcripts[0].name, name);
  assert.deepEqual(await statuses(), before);
  assert.deepEqual([before.get, before.shared, before.listed, before.binned], [200, 200, 1, 0]);
});

/** Opens a stream of JSON lines; next() returns the next message that is wanted. */
async function watch(path: string) {
  const answer = await fetch(`${service.address}/v1alpha1/${path}`, {
    headers: { authorization: `Bearer ${service.key}` },
    signal: AbortSignal.timeout(60_000),
  });
  assert.ok(answer.body);
  const lines = linesOf(answer.body);
  return {
    // oxlint-disable-next-line typescript/no-explicit-any -- what tests look into, and assert
    async next(isWanted: (message: any) => boolean = () => true): Promise<any> {
      for (;;) {
        const { value, done } = await lines.next();
        assert.ok(done !== true, `${path} has ended`);
        const { result } = JSON.parse(value);
        if (isWanted(result)) return result;
      }
    },
  };
}

async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  let rest = "";
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}
