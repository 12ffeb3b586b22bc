// HLUST_ROLE: an api node and a worker node on one data folder with its own PostgreSQL.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Code, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import {
  Health,
  HealthCheckResponse_ServingStatus,
} from "../../src/gen/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "../../src/gen/grpc/reflection/v1/reflection_pb.ts";
import { Speech } from "../../src/gen/hlust/speech/v2beta1/speech_pb.ts";
import { speak } from "../fixtures/flite.ts";
import { callRest } from "../spec/service.ts";
import { fsckClean } from "./fsck-clean.ts";
import { postgresOf, startService } from "./process.ts";

/** Asserts that the node does not serve speech over gRPC, or list it in reflection. */
async function answersOnlyHealth(baseUrl: string): Promise<void> {
  const transport = createGrpcTransport({ baseUrl });
  const { statuses } = await createClient(Health, transport).list({});
  assert.deepEqual(Object.keys(statuses), [""]);
  assert.equal(statuses[""]?.status, HealthCheckResponse_ServingStatus.SERVING);
  await assert.rejects(createClient(Speech, transport).recognize({}), { code: Code.Unimplemented });
  async function* questions() {
    yield { messageRequest: { case: "listServices" as const, value: "" } };
  }
  const answers = createClient(ServerReflection, transport).serverReflectionInfo(questions());
  await assert.rejects(Array.fromAsync(answers), { code: Code.Unimplemented });
}

test("jobs submitted to an api node run on a worker node, which serves only its health", async () => {
  const data = mkdtempSync(join(tmpdir(), "hlust-roles-"));
  try {
    await using api = await startService(data, { HLUST_ROLE: "api", HLUST_ENGINE: "scripted" });
    const call = async (method: string, path: string, body?: unknown) =>
      (await callRest(api.address, api.key, { method, path, body })).json;
    const upload = await call("POST", "/v1alpha1/initupload", {});
    await fetch(upload.storageSignedUrl, { method: "PUT", body: speak("any words will do here") });
    const job = await call("POST", "/v1alpha1/transcriptjob:submit", {
      metadata: { languageCode: "en-US", fileType: "AUDIO" },
      useUri: false,
      uri: upload.resourceName,
    });
    const watching = fetch(`${api.address}/v1alpha1/${job.name}:watch`, {
      headers: { authorization: `Bearer ${api.key}` },
      signal: AbortSignal.timeout(150_000),
    });

    await using worker = await startService(data, {
      HLUST_ROLE: "worker",
      HLUST_ENGINE: "scripted",
    });
    assert.equal((await fetch(`${worker.address}/readyz`)).status, 200);
    const list = { method: "GET", path: "/v1alpha1/transcripts" };
    assert.equal((await callRest(worker.address, api.key, list)).status, 404);
    await answersOnlyHealth(worker.address);
    // A watch on one node shows the progress of a job on another node.
    const watched = (await (await watching).text()).trimEnd().split("\n");
    const states = watched.map((line) => JSON.parse(line).result.state);
    assert.deepEqual([states.at(0), states.at(-1)], ["PROCESSING", "SUCCESS"]);

    // The node that stops first does not stop the database.
    assert.equal(await api.stop(), 0);
    assert.equal((await fetch(`${worker.address}/readyz`)).status, 200);
    assert.equal(await worker.stop(), 0);
    assert.deepEqual(postgresOf(data), []);
    await fsckClean(data);
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
});
