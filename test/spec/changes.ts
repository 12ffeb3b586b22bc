import type { Kysely } from "kysely";
import type { Tables } from "../../src/database/tables.ts";
import type { Answer, TestService } from "./service.ts";
import { draftOf, segmentOf } from "./transcripts.ts";

export type Segment = ReturnType<typeof segmentOf> & { speakerId?: string };

/** A change of ModifySegments. */
export interface Change {
  readonly startIndex: number;
  readonly endIndex: number;
  readonly segments: readonly Segment[];
}

/** A transcript that was created, and the id of its current version. */
export interface Made {
  readonly path: string;
  readonly version: string;
}

/** The calls that tests of ModifySegments make. */
export class ChangeCalls {
  readonly #service: TestService;
  readonly #db: Kysely<Tables>;

  constructor(service: TestService, db: Kysely<Tables>) {
    this.#service = service;
    this.#db = db;
  }

  async create(segments: readonly Segment[]): Promise<Made> {
    const draft = { ...draftOf("Fundur"), segments };
    const { json } = await this.#service.call("POST", "/v1alpha1/transcripts", draft);
    const path = `/v1alpha1/${json.name}`;
    return { path, version: await this.versionOf(path) };
  }

  /** Returns the id of the current version. */
  async versionOf(path: string): Promise<string> {
    const { json } = await this.#service.call("GET", `${path}/versions?pageSize=1`);
    return json.versions[0].name;
  }

  async modify({ path, version }: Made, body: object): Promise<Answer> {
    const headers = { "if-match": version };
    return await this.#service.call("POST", `${path}:modifySegments`, body, headers);
  }

  async delete(...made: readonly Made[]): Promise<void> {
    for (const { path } of made) await this.#service.call("DELETE", path);
  }

  /** Returns the hash of the stored segments of a version. */
  async hashOf(versionId: string): Promise<string> {
    const row = await this.#db
      .selectFrom("transcript_version")
      .where("id", "=", versionId)
      .select("segments_sha256")
      .executeTakeFirstOrThrow();
    return row.segments_sha256.toString("hex");
  }
}

/** Returns what changes make of segments: the rule, written as simply as possible. */
export function changed(segments: readonly Segment[], changes: readonly Change[]): Segment[] {
  return changes.toReversed().reduce((all, { startIndex, endIndex, segments }) => {
    return all.toSpliced(startIndex, endIndex - startIndex, ...segments);
  }, Array.from(segments));
}

/** Five segments of a word each, at 0, 10, 20, 30 and 40 s. */
export const five = ["einn ", "tveir ", "þrír ", "fjórir ", "fimm "].map((word, at) =>
  segmentOf(word, 10 * at),
);
