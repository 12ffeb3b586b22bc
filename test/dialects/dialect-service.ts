import assert from "node:assert/strict";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { openDatabase, type Database } from "../../src/database/database.ts";
import { createLog } from "../../src/std/log.ts";
import { espeak, joined, noise } from "../fixtures/flite.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { until } from "../fixtures/until.ts";
import { openTestService, type TestService } from "../spec/service.ts";
import { formBody, type FormPart } from "./form-body.ts";

/** A service whose language is Icelandic, unless a call names another. */
export interface DialectService extends AsyncDisposable {
  readonly service: TestService;
  readonly database: Database;
  /** Posts a form and returns the answer. */
  send(parts: readonly FormPart[], options?: SendOptions): Promise<FormAnswer>;
  /** Returns the number of recognitions that run. */
  sessions(): Promise<number>;
  /** Returns the bytes of recordings on the disk. */
  scratchBytes(): Promise<number>;
  /** Fails if a call has left a recording on the disk, or a row of a job, transcript or media. */
  assertNothingLeft(): Promise<void>;
}

export interface SendOptions {
  /** Default: /v1/audio/transcriptions. */
  readonly path?: string;
  /** Default: the key of the service as Bearer. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface FormAnswer {
  readonly status: number;
  readonly content: string;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- what tests look into, and assert
  readonly json: any;
}

/** The maximum size of a recording at the service. */
export const recordingBytesMax = 4_000_000;

export async function openDialectService(
  environment: Readonly<Record<string, string>> = {},
): Promise<DialectService> {
  await using parts = new AsyncDisposableStack();
  const service = parts.use(
    await openTestService({
      HLUST_ENGINE_PROCESSES: "1",
      HLUST_DEFAULT_LANGUAGE: "is-IS",
      HLUST_CALL_BYTES_MAX: `${recordingBytesMax}`,
      ...environment,
    }),
  );
  const folder = join(service.dataFolder, "postgres");
  const log = createLog("silent");
  const database = parts.use(await openDatabase({ url: undefined, folder, log }));
  const scratch = join(service.dataFolder, "scratch");
  const open = parts.move();
  return {
    service,
    database,
    async send(form, { path = "/v1/audio/transcriptions", headers = bearer(service.key) } = {}) {
      const { body, contentType } = formBody(form);
      const answer = await fetch(`${service.address}${path}`, {
        method: "POST",
        headers: { "content-type": contentType, ...headers },
        body,
      });
      const content = await answer.text();
      const isJson = answer.headers.get("content-type") === "application/json";
      const json: unknown = isJson ? JSON.parse(content) : undefined;
      return { status: answer.status, content, json, headers: answer.headers };
    },
    async sessions() {
      const { json } = await service.call("GET", "/readyz");
      return json.parts.engines.sessions;
    },
    async scratchBytes() {
      const names = await readdir(scratch);
      const sizes = await Promise.all(
        names.map(async (name) => (await stat(join(scratch, name))).size),
      );
      return sizes.reduce((sum, size) => sum + size, 0);
    },
    async assertNothingLeft() {
      await until(async () => (await readdir(scratch)).length === 0, 10_000);
      for (const table of ["transcript_job", "transcript", "media"]) {
        const { rows } = await sql`select 1 from ${sql.table(table)}`.execute(database.db);
        assert.deepEqual(rows, [], table);
      }
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

export function bearer(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}

/** Returns a part with a recording. */
export function fileOf(value: Uint8Array): FormPart {
  return { name: "file", value, fileName: "audio.wav", type: "audio/wav" };
}

export function field(name: string, value: string): FormPart {
  return { name, value };
}

/** Icelandic speech of two seconds. */
export function shortSpeech(): Buffer {
  return wavOf(espeak("við hittumst á kaffihúsinu"));
}

/** How the service writes shortSpeech(). */
export const shortText = /^Við hittumst á kaffihúsinu\.?$/;

/** More than a minute of Icelandic speech in twenty sentences, which is recognized in pieces. */
export function longSpeech(): Buffer {
  const pause = noise(900, 3);
  const sentence = espeak("við hittumst á kaffihúsinu og hún býr í litlu húsi");
  return wavOf(joined(...Array.from({ length: 20 }, () => [sentence, pause]).flat()));
}
