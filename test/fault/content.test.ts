// kill -9 of the serving process while content is written over google.bytestream: the stored bytes
// stay, the client continues there, and the content is whole.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { until } from "../fixtures/until.ts";
import {
  openOriginalClient,
  type Message,
  type OriginalClient,
} from "../original/original-client.ts";
import { chanceOf } from "./chance.ts";
import { fsckClean } from "./fsck-clean.ts";
import { keyOf, startServing, type Serving } from "./serving.ts";
import { cpuSlowness } from "../fixtures/cpu-slowness.ts";

const kills = Number(process.env["FAULT_KILLS"] ?? 6);
const seed = Number(process.env["FAULT_SEED"] ?? Date.now() % 1_000_000);
const pieceBytes = 100_000;
const content = Buffer.alloc(12_000_000);
for (let at = 0; at + 4 <= content.length; at += 4) content.writeUInt32BE(at, at);
let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), "hlust-content-"));
});
after(() => {
  rmSync(folder, { recursive: true, force: true });
});

function clientsOf({ address }: Serving) {
  const at = { address, key: keyOf(folder) };
  const file = "google/bytestream/bytestream.proto";
  return openOriginalClient(file, "google.bytestream.ByteStream", at);
}

/** Writes from an offset on, at a pace that lets a kill come in between. Returns the answer. */
async function write(client: OriginalClient, blob: string, from: number): Promise<Message> {
  const { call, answer } = client.send("Write");
  call.on("error", () => {});
  for (let at = from; at === from || at < content.length; at += pieceBytes) {
    const data = content.subarray(at, at + pieceBytes);
    const finish = at + pieceBytes >= content.length;
    call.write({ resource_name: blob, write_offset: at, finish_write: finish, data });
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  call.end();
  return await answer;
}

async function sizeOf(client: OriginalClient, blob: string): Promise<[number, boolean]> {
  const answer = await client.call("QueryWriteStatus", { resource_name: blob });
  return [answer.committed_size, answer.complete];
}

test(
  `content that is written during ${kills} kills is whole (FAULT_SEED=${seed})`,
  { timeout: (60_000 + kills * 30_000) * cpuSlowness },
  async () => {
    const chance = chanceOf(seed);
    let serving = await startServing(folder);
    try {
      using transcripts = openOriginalClient(
        "lr/transcript/v1alpha1/transcript.proto",
        "lr.transcript.v1alpha1.TranscriptService",
        { address: serving.address, key: keyOf(folder) },
      );
      const metadata = { file_type: "AUDIO", language_code: "en-US" };
      const job = await transcripts.call("SubmitTranscriptJob", { metadata });
      const blob = `blob/${job.transcript}`;
      let stored = 0;
      for (let kill = 1; kill <= kills; kill += 1) {
        using client = clientsOf(serving);
        const [from, isComplete] = await sizeOf(client, blob);
        assert.ok(from >= stored, `${from} bytes are left of ${stored}`);
        if (isComplete || from > content.length / 2) break;
        const writing = write(client, blob, from).catch(() => {});
        const next = from + 1 + chance.below(600_000);
        await until(async () => {
          [stored] = await sizeOf(client, blob);
          return stored >= next;
        }, 40_000);
        await serving.kill();
        await writing;
        serving = await startServing(folder);
      }
      using client = clientsOf(serving);
      const [from] = await sizeOf(client, blob);
      assert.ok(from >= stored, `${from} bytes are left of ${stored}`);
      assert.equal((await write(client, blob, from)).committed_size, content.length);
      assert.deepEqual(await sizeOf(client, blob), [content.length, true]);
      const pieces: Buffer[] = [];
      for await (const { data } of client.stream("Read", { resource_name: blob }))
        pieces.push(data);
      assert.ok(Buffer.concat(pieces).equals(content));
    } finally {
      await serving.stop();
    }
    await fsckClean(folder);
  },
);
