import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ClientStream } from "./client-stream.ts";
import { SharedProcesses } from "./shared-processes.ts";

test("a client that comes after another one has left gets another place than that one", async () => {
  const folder = mkdtempSync(join(tmpdir(), "hlust-shared-"));
  try {
    const shared = new SharedProcesses();
    assert.equal(shared.freePlace(), 0, "no process can be reached without this one");
    await shared.listenIn(folder, "the credential of this start");
    using stays = new ClientStream(shared, () => false);
    shared.join(stays);
    const places: number[] = [];
    for (let client = 0; client < 600; client += 1) {
      using comes = new ClientStream(shared, () => false);
      shared.join(comes);
      places.push(comes.place);
      shared.part(comes);
    }
    assert.ok(!places.includes(stays.place) && !places.includes(0));
    // 255 places, of which one is taken: each is used again as late as possible.
    for (const [at, place] of places.entries()) {
      assert.equal(new Set(places.slice(at, at + 254)).size, Math.min(254, 600 - at), `${place}`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
