// A disk without free space: writes are refused with the reason and leave nothing behind, reads
// continue, and the service recovers by itself.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { callRest, type Answer } from "../spec/service.ts";
import { textOf } from "../spec/jobs.ts";
import { draftOf, segmentOf } from "../spec/transcripts.ts";
import { until } from "../fixtures/until.ts";
import { fsckClean } from "./fsck-clean.ts";
import { startService, type ServiceProcess } from "./process.ts";
import { withSmallDisk } from "./small-disk.ts";
import { cpuSlowness } from "../fixtures/cpu-slowness.ts";

const environment = { HLUST_ENGINE: "scripted", HLUST_ROLE: "api" };

const file = import.meta.filename;

let data: string;
before(() => {
  data = mkdtempSync(join(tmpdir(), "hlust-full-"));
});
after(() => {
  rmSync(data, { recursive: true, force: true });
});

function assertFull({ status, headers, json }: Answer): void {
  assert.equal(status, 503, JSON.stringify(json));
  const [info, retry] = json.details;
  assert.equal(info.reason, "STORAGE_FULL");
  assert.match(retry["@type"], /RetryInfo$/);
  assert.ok(Number(headers.get("retry-after")) > 0);
}

/** Returns functions that make calls with the first account's key. */
function callerOf({ address, key }: ServiceProcess) {
  const call = async (method: string, path: string, body?: unknown): Promise<Answer> =>
    await callRest(address, key, { method, path: `/v1alpha1/${path}`, body });
  return {
    call,
    create: async (subject: string) => await call("POST", "transcripts", draftOf(subject)),
    async put(name: string, bytes: Buffer): Promise<Answer> {
      const { json } = await call("POST", "initupload", { resourceName: name });
      const response = await fetch(json.storageSignedUrl, { method: "PUT", body: bytes });
      const { status, headers } = response;
      return { status, headers, json: await response.json() };
    },
    /** Returns the media of a transcript. */
    async media(name: string): Promise<Buffer> {
      const { json } = await call("GET", name);
      return Buffer.from(await (await fetch(json.uri)).arrayBuffer());
    },
  };
}

test(
  "a full disk for media refuses writes, and the service recovers",
  { timeout: 120_000 * cpuSlowness },
  async (context) => {
    const folder = join(data, "media-full");
    const place = { folder: join(folder, "media"), bytes: 8_000_000, file };
    await withSmallDisk(context, place, async (disk) => {
      await using service = await startService(folder, environment);
      const { call, create, put, media } = callerOf(service);
      const { name } = (await create("Fundur")).json;
      const first = Buffer.alloc(2_000_000, "first");
      assert.equal((await put(name, first)).status, 200);

      assertFull(await put(name, Buffer.alloc(12_000_000, "too much")));
      disk.fill(0);
      const second = Buffer.alloc(500_000, "second");
      assertFull(await put(name, second));
      assert.deepEqual(readdirSync(join(disk.folder, "unfinished")), []);
      assert.deepEqual(await media(name), first, "the stored media is unchanged");
      assert.equal((await create("Annar")).status, 200, "transcripts are on another disk");
      assert.equal((await call("GET", name)).status, 200);

      disk.makeRoom();
      assert.equal((await put(name, second)).status, 200);
      assert.deepEqual(await media(name), second);
      await fsckClean(folder);
    });
  },
);

test(
  "a full disk for all data, including PostgreSQL's, refuses writes, and the service recovers",
  { timeout: 120_000 * cpuSlowness },
  async (context) => {
    const place = { folder: join(data, "all-full"), bytes: 320_000_000, file };
    await withSmallDisk(context, place, async (disk) => {
      await using service = await startService(disk.folder, environment);
      const { call, create, put, media } = callerOf(service);
      const { name } = (await create("Fundur")).json;
      const first = Buffer.alloc(2_000_000, "first");
      assert.equal((await put(name, first)).status, 200);

      const job = {
        metadata: { languageCode: "en-US", fileType: "AUDIO" },
        useUri: true,
        uri: "https://media.example/a.wav",
      };
      const { name: unwanted } = (await create("Óþarfur")).json;
      // The remaining space is for PostgreSQL.
      disk.fill(32_000_000);
      assertFull(await create("Annar"));
      assertFull(await call("POST", "transcriptjob:submit", job));
      assert.equal((await call("DELETE", unwanted)).status, 200, "a deletion is possible");
      disk.makeRoom();
      disk.fill(0);
      for (let round = 0; round < 20; round += 1) {
        assertFull(await create("Annar"));
        assertFull(await call("POST", "transcriptjob:submit", job));
        assertFull(await call("PATCH", name, { segments: [segmentOf("annað")] }));
        assertFull(await call("POST", "initupload", { resourceName: name }));
        const { status, json } = await call("GET", name);
        assert.deepEqual([status, textOf(json)], [200, "góðan dag og velkomin"]);
        assert.deepEqual(await media(name), first);
      }
      const { json: list } = await call("GET", "transcripts");
      assert.deepEqual(
        list.transcripts.map((each: { name: string }) => each.name),
        [name],
      );
      assert.equal((await fetch(`${service.address}/readyz`)).status, 200);

      disk.makeRoom();
      await until(async () => (await create("Annar")).status === 200);
      assert.equal((await put(name, Buffer.from("second"))).status, 200);
      await fsckClean(disk.folder);
    });
  },
);
