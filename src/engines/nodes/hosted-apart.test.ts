// Tests a hosted model on an engine node: its server is one of this process, which can fail.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { openInput, recognize, until } from "../../../test/fixtures/engine-pool-fixture.ts";
import { flite, joined, silence } from "../../../test/fixtures/flite.ts";
import { putHostedModel } from "../../../test/fixtures/hosted-model.ts";
import {
  openEngineNode,
  openNodesPool,
  type OpenEngineNode,
  untilReady,
} from "../../../test/fixtures/open-engine-node.ts";
import { openHttpServer } from "../../../test/fixtures/speech-servers.ts";
import type { EnginePool } from "../pool/engine-pool.ts";

const opened = new AsyncDisposableStack();
after(() => opened.disposeAsync());
const folder = mkdtempSync(join(tmpdir(), "hlust-apart-"));
opened.defer(() => rmSync(folder, { recursive: true }));
const languageCode = "fo-FO";
const answer = JSON.stringify({ text: "Good day." });
const said = joined(flite("good morning and welcome", { voice: "rms" }), silence(1000));

let isBroken = false;
let node: OpenEngineNode;
let pool: EnginePool;
before(async () => {
  const server = opened.use(
    await openHttpServer((request, response) => {
      request.resume();
      request.on("end", () => response.writeHead(isBroken ? 503 : 200).end(answer));
    }),
  );
  const keyFile = join(folder, "key");
  writeFileSync(keyFile, "the-key\n");
  putHostedModel(folder, {
    name: "hosted",
    kind: "openai-transcriptions",
    address: `http://${server.host}/v1`,
    languageCode,
    key: { keyFile },
    options: { sessionsMax: 2 },
  });
  const models = { engine: "auto", only: "hosted", modelsFolder: folder } as const;
  node = opened.use(await openEngineNode(1, { models: { ...models, voiceActivity: "energy" } }));
  pool = opened.use(await openNodesPool([node.port]));
  await untilReady(pool, 1);
});

const textsOf = (found: Awaited<ReturnType<typeof recognize>>) =>
  found.map(({ alternatives }) => alternatives[0]?.text);
const model = () => pool.state().models[0];

test("nodes that use a hosted model know how many streams its server may have", async () => {
  assert.equal(model()?.streamsMax, 2);
  const streams = [1, 2].map(() => openInput(said));
  const running = streams.map(({ input }) => recognize(pool, input, { languageCode }));
  await until(() => model()?.sessions === 2, "both streams have a session");
  await assert.rejects(recognize(pool, [said], { languageCode }), { code: "resource_exhausted" });
  for (const { end } of streams) end();
  for (const found of await Promise.all(running)) assert.deepEqual(textsOf(found), ["Good day."]);
});

test("a stream whose server was absent for a moment continues as soon as it is back", async () => {
  isBroken = true;
  let isDone = false;
  const running = recognize(pool, [said], { languageCode }).finally(() => (isDone = true));
  await until(() => model()?.absent === "UNREACHABLE", "the server is absent");
  assert.equal(model()?.ready, 0);
  isBroken = false;
  // A stream that only looks again when its time is over does so after 30 s.
  await until(() => isDone, "the stream continues");
  assert.deepEqual(textsOf(await running), ["Good day."]);
});

test("a node learns with a hosted model that its server is absent already", async () => {
  isBroken = true;
  const stream = openInput(said);
  const running = recognize(pool, stream.input, { languageCode });
  await until(() => model()?.absent === "UNREACHABLE", "the server is absent");
  await using later = await openNodesPool([node.port]);
  await until(() => later.state().models.length === 1, "the model is known");
  assert.equal(later.state().models[0]?.absent, "UNREACHABLE");
  isBroken = false;
  stream.end();
  assert.deepEqual(textsOf(await running), ["Good day."]);
  await until(() => later.state().models[0]?.absent === undefined, "the server is back");
});
