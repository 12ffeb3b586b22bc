import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Kysely } from "kysely";
import { openDatabase } from "../../src/database/database.ts";
import type { Tables } from "../../src/database/tables.ts";
import { createLog } from "../../src/std/log.ts";
import { until } from "../fixtures/until.ts";
import { openTestService, type TestService } from "./service.ts";
import { draftOf } from "./transcripts.ts";

/** A service with one transcript, and the content of its database and its media folder. */
export interface StoredService extends AsyncDisposable {
  readonly service: TestService;
  readonly db: Kysely<Tables>;
  /** The name of the transcript, `transcripts/<id>`. */
  readonly name: string;
  /**
   * Asserts that only the transcripts, versions, segments, media and files exist that existed at
   * the start.
   */
  assertUnchanged(): Promise<void>;
  mediaFiles(): string[];
  /** Creates a transcript, and deletes it with its media afterwards. */
  withTranscript(use: (name: string) => Promise<void>): Promise<void>;
  initUpload(name: string): Promise<string>;
}

export async function openStoredService(): Promise<StoredService> {
  await using parts = new AsyncDisposableStack();
  // No worker is needed for uploads that are not recordings.
  const environment = { HLUST_ENGINE: "scripted", HLUST_ROLE: "api" };
  const service = parts.use(await openTestService(environment));
  const folder = join(service.dataFolder, "postgres");
  const log = createLog("silent");
  const { db } = parts.use(await openDatabase({ url: undefined, folder, log }));
  const create = async (subject: string): Promise<string> =>
    (await service.call("POST", "/v1alpha1/transcripts", draftOf(subject))).json.name;
  const name = await create("Upphaf");
  const mediaFiles = () =>
    readdirSync(join(service.dataFolder, "media"), { recursive: true })
      .map(String)
      .filter((file) => /[0-9a-f]{8}-/.test(file));
  const everything = async () => {
    const tables = ["transcript", "transcript_version", "transcript_segments", "media"] as const;
    const counts = tables.map((table) =>
      db
        .selectFrom(table)
        .select(({ fn }) => fn.countAll().as("count"))
        .executeTakeFirstOrThrow(),
    );
    const { json } = await service.call("GET", `/v1alpha1/${name}`);
    return { counts: await Promise.all(counts), json, files: mediaFiles() };
  };
  const atStart = await everything();
  const open = parts.move();
  return {
    service,
    db,
    name,
    mediaFiles,
    async assertUnchanged() {
      // The file of an aborted write may be removed shortly after the response.
      await until(async () => mediaFiles().join() === atStart.files.join());
      assert.deepEqual(await everything(), atStart);
    },
    async withTranscript(use) {
      const made = await create("Um stund");
      try {
        await use(made);
      } finally {
        await service.call("DELETE", `/v1alpha1/${made}`);
      }
    },
    async initUpload(resourceName) {
      const { json } = await service.call("POST", "/v1alpha1/initupload", { resourceName });
      return json.storageSignedUrl;
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}
