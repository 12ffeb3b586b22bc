import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { after, before, beforeEach, describe, it } from "node:test";
import { damages } from "../../test/fixtures/archive-damages.ts";
import { bytesOf, fileOf, keepOnlyOne, type Kept } from "../../test/fixtures/archive-fixture.ts";
import {
  openTestTranscripts,
  type TestTranscripts,
} from "../../test/fixtures/open-test-transcripts.ts";
import { newId } from "../std/ids.ts";
import { checkArchive } from "./check-archive.ts";
import type { Finding } from "./finding.ts";

let test: TestTranscripts;
let kept: Kept;
before(async () => {
  test = await openTestTranscripts();
});
after(() => test[Symbol.asyncDispose]());
beforeEach(async () => {
  kept = await keepOnlyOne(test);
});

async function findings(
  options: { readsMedia?: boolean; repair?: boolean; purges?: boolean } = {},
) {
  const { db, store } = test;
  const { readsMedia = true, repair = false, purges = false } = options;
  const found: (Finding & { isRepaired: boolean })[] = [];
  for await (const finding of checkArchive({ db, store, readsMedia, purges })) {
    found.push({ ...finding, isRepaired: repair && (await finding.remedy?.run()) === true });
  }
  return found;
}

describe("checkArchive()", () => {
  it("finds no flaws in data that the service stores", async () => {
    assert.deepEqual(await findings(), []);
  });

  for (const [kind, rows] of Object.entries(damages)) {
    for (const { what, damage: harm, found, isRepairable = false } of rows) {
      it(`finds ${kind}: ${what}`, async () => {
        await harm(test, kept);
        const codes = (all: readonly Finding[]) => all.map(({ code }) => code);
        assert.deepEqual(codes(await findings()), found);
        const repaired = await findings({ repair: true });
        assert.ok(isRepairable || repaired.every(({ isRepaired }) => !isRepaired));
        assert.deepEqual(codes(await findings()), isRepairable ? [] : found);
        const { versions } = await test.client
          .versions({ parent: `transcripts/${kept.id}` })
          .catch(() => ({ versions: [] }));
        const isLost = found.some((code) => /^(HEAD_VERSION|VERSION_(PARENT|UNOWNED))/.test(code));
        if (isRepairable || !isLost) assert.equal(versions.length, 3);
      });
    }
  }

  it("does not read media unless that is requested", async () => {
    await writeFile(fileOf(test, kept.mediaId), "RIFF of a recordinG");
    assert.deepEqual(await findings({ readsMedia: false }), []);
  });

  it("deletes removed media if that is requested, but not media with a record", async () => {
    const { store } = test;
    const id = newId();
    await store.put(id, bytesOf("lost"), { bytesMax: 10 });
    for (const each of [id, kept.mediaId]) await store.removed.add(each);
    const found = await findings({ purges: true, repair: true });
    assert.deepEqual(found.map(({ code, name }) => `${code} ${name}`).toSorted(), [
      `MEDIA_PURGED media/${id}`,
      `MEDIA_SET_ASIDE media/${kept.mediaId}`,
    ]);
    assert.deepEqual(await Array.fromAsync(store.removed.list()), []);
    assert.deepEqual(await findings({ purges: true }), []);
  });

  it("does not repair media that was deleted after it was found", async () => {
    await test.db.updateTable("media").set({ peaks_count: 1 }).execute();
    const [finding] = await findings();
    assert.equal(finding?.code, "MEDIA_FACTS");
    await test.client.delete(`transcripts/${kept.id}`);
    assert.equal(await finding?.remedy?.run(), false);
  });
});
