// The cluster of deploy/compose.cluster.yaml, run as processes with the settings and configurations
// of the compose file: two API nodes, two workers, an engine node, PostgreSQL, a store, Caddy with
// TLS, and Prometheus with the alerts and dashboards.
import assert from "node:assert/strict";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { after, before, describe, test } from "node:test";
import { ListObjectsV2Command } from "@aws-sdk/client-s3";
import { parse } from "yaml";
import { callerIsSeen } from "../fault/proxy-probes.ts";
import { speak } from "../fixtures/flite.ts";
import { makeReadmeRequests } from "../fixtures/readme-requests.ts";
import { until, within } from "../fixtures/until.ts";
import { callRest, pcmOf, type Answer } from "../spec/service.ts";
import { finalsOf, openStream, streamingConfig, type TestStream } from "../spec/stream.ts";
import type { ClusterNode } from "./cluster-node.ts";
import { openCluster, type Cluster } from "./open-cluster.ts";
import { whyNoOwnNetwork } from "./own-network.ts";

const spoken = "the weather is cold and dark today";
const skip = whyNoOwnNetwork() ?? false;

describe("deploy/compose.cluster.yaml", { skip, timeout: 600_000 }, () => {
  let cluster: Cluster;
  let key: string;
  before(async () => {
    cluster = await openCluster({ worker: 2 });
    key = readFileSync(join(only("api1").dataFolder, "api-key"), "utf8").trim();
  });
  after(() => cluster[Symbol.asyncDispose]());

  function only(service: string): ClusterNode {
    const [node, ...more] = cluster.nodes(service);
    assert.ok(node && more.length === 0, service);
    return node;
  }

  /** Calls through Caddy, or at `address`. */
  async function call(
    method: string,
    path: string,
    body?: unknown,
    address = cluster.address,
  ): Promise<Answer["json"]> {
    const { status, json } = await callRest(address, key, { method, path, body });
    assert.equal(status, 200, JSON.stringify(json));
    return json;
  }

  test("every node is ready, and uses the engine node and the store", async () => {
    const nodes = ["api1", "api2", "worker"].flatMap((name) => cluster.nodes(name));
    assert.equal(nodes.length, 4);
    for (const { address, place } of nodes) {
      const { status, parts } = await call("GET", "/readyz", undefined, address);
      assert.equal(status, "ready", place.name);
      const [engine, ...more] = parts.engines.nodes;
      assert.deepEqual(more, []);
      assert.equal(engine.address, `${only("engine").place.address}:8090`);
      assert.equal(engine.connected, true, place.name);
      assert.equal(parts.media.ready, true, place.name);
    }
  });

  test("the README's requests work through Caddy, over TLS", async () => {
    const { dataFolder } = only("api1");
    const { address, authority } = cluster;
    await makeReadmeRequests({ address, dataFolder, authority });
    const { Contents: objects = [] } = await cluster.s3.client.send(
      new ListObjectsV2Command({ Bucket: "hlust" }),
    );
    assert.ok(objects.length > 0, "media is in the bucket");
  });

  test("an operator gets a link to the console in the container of a node", async () => {
    const { code, out, errors } = await only("api2").exec("console");
    assert.equal(code, 0, errors);
    const [link = ""] = /https:\S+/.exec(out) ?? [];
    assert.ok(link.startsWith(`${cluster.address}/console/`), out);
    const page = await fetch(link);
    assert.equal(page.status, 200);
    assert.match(page.headers.get("content-type") ?? "", /^text\/html/);
  });

  test("a model that one node installs serves on the engine node, and a node makes a backup", async () => {
    const [node, folder] = [only("api1"), join(only("api2").dataFolder, "..")];
    const source = join(folder, "icelandic");
    cpSync(resolve(import.meta.dirname, "../../models/is-IS-starter"), source, { recursive: true });
    const card = readFileSync(join(source, "model.json"), "utf8");
    writeFileSync(
      join(source, "model.json"),
      card.replace('"name": "is-IS-starter"', '"name": "icelandic"'),
    );
    const added = await node.exec("models", "add", source);
    assert.equal(added.code, 0, `${added.out}${added.errors}`);
    await until(async () => {
      const { parts } = await call("GET", "/readyz");
      return parts.engines.models.some(({ name }: { name: string }) => name === "icelandic");
    }, 60_000);
    const backup = await node.exec("backup", join(folder, "backups"));
    assert.equal(backup.code, 0, `${backup.out}${backup.errors}`);
  });

  test("nodes see the address of a caller that Caddy passes on", async () => {
    await callerIsSeen({ address: cluster.address, key }, "127.0.0.9");
  });

  test("a recording that is uploaded at one node is transcribed by a worker", async () => {
    const [first, second] = [only("api1"), only("api2")];
    const upload = await call("POST", "/v1alpha1/initupload", {}, first.address);
    const { pathname, search } = new URL(upload.storageSignedUrl);
    const put = await fetch(`${first.address}${pathname}${search}`, {
      method: "PUT",
      body: new Uint8Array(speak(spoken)),
    });
    assert.equal(put.status, 200);
    const metadata = { languageCode: "en-US", fileType: "AUDIO", subject: "A talk" };
    const job = { metadata, useUri: false, uri: upload.resourceName };
    const { name } = await call("POST", "/v1alpha1/transcriptjob:submit", job, first.address);
    let ended: Answer["json"];
    await until(async () => {
      ended = await call("GET", `/v1alpha1/${name}`, undefined, second.address);
      return ended.state !== "PROCESSING";
    }, 60_000);
    assert.equal(ended.state, "SUCCESS", JSON.stringify(ended));
    const { segments } = await call("GET", `/v1alpha1/${ended.transcript}`);
    const text = segments.flatMap(({ words }: { words: { word: string }[] }) =>
      words.map(({ word }) => word),
    );
    assert.equal(text.join("").trim(), spoken);
    const startedBy = (nodes: readonly ClusterNode[]) =>
      nodes.flatMap(({ events }) => events).filter(({ event }) => event === "job.started").length;
    // One of them is the job of the README.
    assert.equal(startedBy(cluster.nodes("worker")), 2);
    assert.equal(startedBy([first, second, only("engine")]), 0);
  });

  /** Opens a stream through Caddy, and resolves when a sentence has been recognized on it. */
  async function openSpokenStream(samples: Buffer): Promise<TestStream> {
    const stream = await openStream(cluster.address, { protocols: ["Bearer", key] });
    stream.send(streamingConfig());
    stream.sendAudio(samples);
    // The utterance ends with a silence of two seconds.
    stream.sendAudio(Buffer.alloc(64_000));
    const isFinal = () => finalsOf(stream.messages).length > 0;
    await within("a result before the end of the audio", stream.waitFor(isFinal), 60_000);
    return stream;
  }

  /** Sends another sentence, and returns all text. */
  async function finish(stream: TestStream, samples: Buffer): Promise<string> {
    stream.sendAudio(samples);
    stream.send({ audioContent: "" });
    assert.equal(await within("the end of the stream", stream.closed, 60_000), 1000);
    return finalsOf(stream.messages)
      .map(({ transcript }) => transcript.trim())
      .join(", ");
  }

  test("a node is killed: calls go on, and streams of the other node", async () => {
    const samples = pcmOf(speak(spoken));
    // Caddy gives each node one.
    const streams = [await openSpokenStream(samples), await openSpokenStream(samples)] as const;
    for (const { waitFor } of streams) {
      await within(
        "words before the end of the audio",
        waitFor(({ result }) => Boolean(result)),
      );
    }
    const ending = new AbortController();
    const calls: { readonly beganMs: number; readonly status: number }[] = [];
    const calling = (async () => {
      while (!ending.signal.aborted) {
        const beganMs = performance.now();
        const list = { method: "GET", path: "/v1alpha1/transcripts?pageSize=1" };
        const status = await callRest(cluster.address, key, list).then(
          (answer) => answer.status,
          () => 0,
        );
        calls.push({ beganMs, status });
        await delay(20);
      }
    })();
    const untilCalls = async (count: number) => {
      const target = calls.length + count;
      await until(async () => Promise.resolve(calls.length >= target));
    };
    await untilCalls(5);
    const killedMs = performance.now();
    await only("api1").kill();
    const first = await Promise.race(
      streams.map(async (stream) => stream.closed.then(() => stream)),
    );
    const left = streams[first === streams[0] ? 1 : 0];
    assert.equal(await finish(left, samples), `${spoken}, ${spoken}`);
    assert.notEqual(await first.closed, 1000);
    const again = await openSpokenStream(samples);
    assert.equal(await finish(again, samples), `${spoken}, ${spoken}`);
    await untilCalls(20);
    await only("api1").start();

    // The node that was killed has all calls while the other one shuts down.
    const stopping = only("api2").stop();
    await untilCalls(20);
    assert.equal(await stopping, 0, only("api2").output);
    await untilCalls(20);
    ending.abort();
    await calling;
    assert.deepEqual(
      calls.filter(({ beganMs, status }) => beganMs > killedMs && status !== 200),
      [],
    );
    await only("api2").start();
  });

  /** Asks Prometheus where Grafana asks it. */
  async function ask(path: string): Promise<Answer["json"]> {
    const [grafana] = cluster.places.of("grafana");
    assert.ok(grafana);
    const sources = "/etc/grafana/provisioning/datasources/hlust.yml";
    const { datasources }: { readonly datasources: readonly { readonly url: string }[] } = parse(
      readFileSync(cluster.places.placedFile(sources, grafana), "utf8"),
    );
    const response = await fetch(`${datasources[0]?.url}/api/v1/${path}`);
    const text = await response.text();
    assert.equal(response.status, 200, `${path}: ${text}`);
    const { status, data }: Answer["json"] = JSON.parse(text);
    assert.equal(status, "success", path);
    return data;
  }

  test("Prometheus reaches every node, and evaluates every rule", async () => {
    const nodes = ["api1", "api2", "worker", "engine"].flatMap((name) => cluster.nodes(name));
    const wanted = nodes.map(({ place }) => `http://${place.address}:9464/metrics`).toSorted();
    const isUp = async () => {
      const { activeTargets: targets } = await ask("targets");
      const found = targets.map((target: { scrapeUrl: string }) => target.scrapeUrl).toSorted();
      assert.deepEqual(found, wanted);
      return targets.every((target: { health: string }) => target.health === "up");
    };
    await until(isUp);
    interface Rule {
      readonly name: string;
      readonly health: string;
      readonly lastError?: string;
    }
    const rules = async (): Promise<readonly Rule[]> =>
      (await ask("rules")).groups.flatMap((group: { rules: readonly Rule[] }) => group.rules);
    await until(async () => (await rules()).every(({ health }) => health !== "unknown"));
    const evaluated = await rules();
    assert.ok(evaluated.length > 8, `${evaluated.length} rules`);
    for (const { name, health, lastError } of evaluated)
      assert.equal(health, "ok", name + lastError);
  });

  /** What nodes without TLS of their own, and with one front process, do not have. */
  const withoutResult = [/hlust_tls_certificate_expiry_timestamp_seconds/, /hlust_front_/];

  test("the queries of the dashboards have results", async () => {
    const [grafana] = cluster.places.of("grafana");
    assert.ok(grafana);
    const file = "/etc/grafana/provisioning/dashboards/hlust.yml";
    const { providers }: { readonly providers: readonly { options: { path: string } }[] } = parse(
      readFileSync(cluster.places.placedFile(file, grafana), "utf8"),
    );
    const folder = providers[0]?.options.path ?? "";
    const dashboards = readdirSync(folder).filter((name) => name.endsWith(".json"));
    assert.equal(dashboards.length, 2);
    const empty: string[] = [];
    for (const name of dashboards) {
      const { panels }: { panels: readonly { targets?: readonly { expr: string }[] }[] } =
        JSON.parse(readFileSync(join(folder, name), "utf8"));
      const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
      assert.ok(expressions.length > 15, name);
      for (const expression of expressions) {
        const query = expression.replaceAll("$instance", ".*");
        const { result } = await ask(`query?query=${encodeURIComponent(query)}`);
        if (result.length === 0) empty.push(query);
      }
    }
    assert.deepEqual(
      empty.filter((query) => !withoutResult.some((known) => known.test(query))),
      [],
    );
  });

  test("every node stops in the time that the compose file gives it", async () => {
    const nodes = ["api1", "api2", "worker", "engine"].flatMap((name) => cluster.nodes(name));
    await Promise.all(
      nodes.map(async (node) => {
        assert.equal(await node.stop(), 0, node.output);
        const broken = node.events.filter(({ event }) => event.endsWith(".broken"));
        assert.deepEqual(broken, [], node.place.name);
      }),
    );
  });
});
