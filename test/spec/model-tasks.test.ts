// Tasks of operators with models (extension): two real nodes with models folders of their own, and
// a server of this machine from which a model is pulled slowly.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { modelsFolderId } from "../../src/nodes/models-folder-id.ts";
import { hiddenNames, serveDownloads } from "../fixtures/model-fixture.ts";
import { until } from "../fixtures/until.ts";
import { openCluster, type Cluster, type ClusterNode } from "../fault/cluster.ts";
import { callRest, type Answer } from "./service.ts";

const starter = resolve(import.meta.dirname, "../../models/is-IS-starter");
const files = ["model.onnx", "tokens.txt", "words.txt"];
const weights = readFileSync(join(starter, "model.onnx"));
const half = Math.floor(weights.length / 2);
const folder = mkdtempSync(join(tmpdir(), "hlust-model-tasks-"));
const parts = new AsyncDisposableStack();
let cluster: Cluster;
let api: ClusterNode;
let worker: ClusterNode;
/** The requested ranges of the weights. */
const ranges: (string | undefined)[] = [];
/** While the server is slow, it sends half of the weights, and then nothing. */
let isSlow = true;

before(async () => {
  const server = parts.use(
    await serveDownloads((request, response) => {
      const name = (request.url ?? "").slice(1);
      response.setHeader("etag", '"one"');
      if (name !== "model.onnx") {
        response.end(readFileSync(join(starter, name)));
        return;
      }
      const { range } = request.headers;
      ranges.push(range);
      const from = Number(/^bytes=(\d+)-/.exec(range ?? "")?.[1] ?? 0);
      response.writeHead(from > 0 ? 206 : 200, {
        "content-length": weights.length - from,
        ...(from > 0 && {
          "content-range": `bytes ${from}-${weights.length - 1}/${weights.length}`,
        }),
      });
      if (isSlow) response.write(weights.subarray(from, half));
      else response.end(weights.subarray(from));
    }),
  );
  const card = JSON.parse(readFileSync(join(starter, "model.json"), "utf8"));
  const downloads = files.map((to) => {
    return { url: `${server.url}/${to}`, to, bytes: readFileSync(join(starter, to)).length };
  });
  const catalogue = join(folder, "catalogue.json");
  const models = [{ ...card, name: "pulled", version: "7", downloads }];
  writeFileSync(catalogue, JSON.stringify({ models }));
  cluster = parts.use(await openCluster({ HLUST_CATALOGUE: catalogue }));
  [api, worker] = [cluster.addNode("api"), cluster.addNode("worker")];
  await api.start();
  await worker.start();
  await until(async () => (await nodes()).length === 2, 60_000);
});
after(async () => {
  await parts.disposeAsync();
  rmSync(folder, { recursive: true, force: true });
});

async function call(method: string, path: string, body?: unknown): Promise<Answer> {
  return await callRest(api.service.address, api.service.key, { method, path, body });
}

async function good(...args: Parameters<typeof call>): Promise<Answer["json"]> {
  const { status, json } = await call(...args);
  assert.equal(status, 200, JSON.stringify(json));
  return json;
}

const nodes = async () => (await good("GET", "/v1/operator/nodes")).nodes;
const nodeOf = async (role: string) =>
  (await nodes()).find((node: { role: string }) => node.role === role);
const tasks = async () => (await good("GET", "/v1/operator/modelTasks")).modelTasks;
const begin = async (kind: string, model: string, role = "worker"): Promise<string> => {
  const { name: node } = await nodeOf(role);
  return (await good("POST", "/v1/operator/modelTasks", { kind, model, node })).name;
};
const taskOf = async (wanted: string) =>
  (await tasks()).find(({ name }: { name: string }) => name === wanted);

/** Waits until a task has this state, and returns it. */
async function reaches(name: string, state: string): Promise<Answer["json"]> {
  await until(async () => (await taskOf(name)).state === state, 90_000);
  return await taskOf(name);
}

/** Returns the names of the models on the disk of a node, as it reports them. */
const installed = async (role: string): Promise<string[]> =>
  (await nodeOf(role)).installedModels.map(({ name }: { name: string }) => name);

const workerModels = () => join(worker.dataFolder, "models");

/** Begins a pull, and waits until half of it has arrived. */
async function halfPulled(): Promise<string> {
  isSlow = true;
  const name = await begin("PULL", "pulled");
  await until(async () => Number((await taskOf(name)).receivedBytes) >= half, 60_000);
  return name;
}

test("nodes report their models folders, and a folder keeps its id", async () => {
  const [first, second] = await nodes();
  assert.match(first.modelsFolder, /^[\da-f-]{36}$/);
  assert.notEqual(first.modelsFolder, second.modelsFolder);
  assert.equal(await modelsFolderId(workerModels()), (await nodeOf("worker")).modelsFolder);
  assert.equal(await modelsFolderId("/etc/hostname/models"), undefined);
  assert.ok((await installed("worker")).includes("is-IS-starter"));
  const { models } = await good("GET", "/v1/operator/catalogueModels");
  assert.deepEqual([models[0].name, models[0].version], ["pulled", "7"]);
  assert.ok(Number(models[0].downloadBytes) > weights.length);
});

test("a pull shows its progress, and a cancelled one installs nothing and keeps its download", async () => {
  const name = await halfPulled();
  const running = await taskOf(name);
  assert.deepEqual([running.state, running.phase], ["RUNNING", "download"]);
  assert.ok(Number(running.totalBytes) > weights.length);
  await good("POST", `/v1/operator/${name}:cancel`, {});
  const ended = await reaches(name, "CANCELLED");
  assert.ok(Date.parse(ended.endTime) >= Date.parse(ended.creationTime));
  assert.ok(!(await installed("worker")).includes("pulled"));
  assert.deepEqual(hiddenNames(workerModels()).installed, []);
  const again = await good("POST", `/v1/operator/${name}:cancel`, {});
  assert.equal(again.state, "CANCELLED");
});

test("a node that is killed during a pull uses no part of it, and continues where it stopped", async () => {
  const name = await halfPulled();
  worker.service.child.kill("SIGKILL");
  await worker.end();
  isSlow = false;
  ranges.length = 0;
  await worker.start();
  await until(async () => (await nodeOf("worker")) !== undefined, 60_000);
  assert.ok(!(await installed("worker")).includes("pulled"));
  await reaches(name, "SUCCEEDED");
  assert.deepEqual(ranges, [`bytes=${half}-`]);
  await until(async () => (await installed("worker")).includes("pulled"), 30_000);
  const file = join(workerModels(), "pulled", "model.onnx");
  assert.ok(readFileSync(file).equals(weights));
  assert.ok(!(await installed("api")).includes("pulled"), "another node has its own folder");
});

test("a test shows what a model recognizes in a sample, and how fast", async () => {
  const { testResult } = await reaches(await begin("TEST", "pulled"), "SUCCEEDED");
  assert.match(testResult.text, /\p{L}{2}/u);
  assert.ok(testResult.audioSeconds > 1 && testResult.tookSeconds > 0);
});

test("a model is removed, but not one that comes with the service", async () => {
  await reaches(await begin("REMOVE", "pulled"), "SUCCEEDED");
  await until(async () => !(await installed("worker")).includes("pulled"), 30_000);
  const { failure } = await reaches(await begin("REMOVE", "is-IS-starter"), "FAILED");
  assert.match(failure, /comes with Hlust and cannot be removed/);
});

test("tasks that no node can do are refused, and tasks are in the audit log", async () => {
  const { name: node } = await nodeOf("worker");
  const statusOf = async (body: object) =>
    (await call("POST", "/v1/operator/modelTasks", body)).status;
  assert.equal(await statusOf({ kind: "PULL", model: "no-such", node }), 404);
  assert.equal(await statusOf({ kind: "TEST", model: "no-such", node }), 404);
  assert.equal(await statusOf({ kind: "PULL", model: "http://127.0.0.1/model", node }), 400);
  assert.equal(await statusOf({ model: "pulled", node }), 400);
  const none = `nodes/${crypto.randomUUID()}`;
  assert.equal(await statusOf({ kind: "PULL", model: "pulled", node: none }), 404);
  const { auditEvents } = await good("GET", "/v1/auditEvents");
  const acts = auditEvents.filter(({ action }: { action: string }) =>
    action.startsWith("model_task."),
  );
  const [newest] = acts;
  const { kind, model, host } = newest.details;
  assert.deepEqual([newest.action, kind, model], ["model_task.create", "REMOVE", "is-IS-starter"]);
  assert.equal(host, (await nodeOf("worker")).host);
  const cancels = acts.filter(({ action }: { action: string }) => action === "model_task.cancel");
  assert.equal(cancels.length, 1);
});
