import assert from "node:assert/strict";
import { type Kysely, sql } from "kysely";
import type { Tables } from "../../src/database/tables.ts";
import { cancelledStatus } from "../../src/jobs/job-failure.ts";
import { newId } from "../../src/std/ids.ts";
import { addAccount, newKeyPair } from "../fixtures/auth-fixture.ts";
import { addMember, addSignedIn } from "../fixtures/signed-in.ts";
import { callRest } from "../spec/service.ts";
import { draftOf } from "../spec/transcripts.ts";

/** The names of one resource of each kind in an account. */
export interface Things {
  readonly transcript: string;
  /** The current version of the transcript. */
  readonly version: string;
  readonly job: string;
  /** A job that was cancelled. */
  readonly cancelledJob: string;
  /** A job as an operation. */
  readonly operation: string;
  /** A transcript with media, whose words can be aligned. */
  readonly spoken: string;
  readonly alignmentJob: string;
  /** A transcript with a draft of the account's key. */
  readonly drafted: string;
  /** A transcript with a share, and the id of the share. */
  readonly shared: string;
  readonly share: string;
  readonly upload: string;
  /** The later transcript of a job whose content was sent after its submission. */
  readonly content: string;
  readonly phrase: string;
  readonly webhook: string;
  /** A delivery of the webhook. */
  readonly delivery: string;
  readonly apiKey: string;
  readonly clientKey: string;
  readonly member: string;
  readonly session: string;
  /** An account that was made for a request of an operator. */
  readonly tenant: string;
  /** An unused name for something that a request creates. */
  readonly fresh: string;
}
export type Kind = Exclude<keyof Things, "fresh">;

export const kinds: readonly Kind[] = [
  "transcript",
  "version",
  "job",
  "cancelledJob",
  "operation",
  "spoken",
  "alignmentJob",
  "drafted",
  "shared",
  "share",
  "upload",
  "content",
  "phrase",
  "webhook",
  "delivery",
  "apiKey",
  "clientKey",
  "member",
  "session",
  "tenant",
];

/** Returns names of resources that do not exist. */
export function absentThings(): Things {
  return {
    transcript: `transcripts/${newId()}`,
    version: newId(),
    job: `transcriptjob/${newId()}`,
    cancelledJob: `transcriptjob/${newId()}`,
    operation: `operations/${newId()}`,
    spoken: `transcripts/${newId()}`,
    alignmentJob: `alignmentjobs/${newId()}`,
    drafted: `transcripts/${newId()}`,
    shared: `transcripts/${newId()}`,
    share: newId(),
    upload: `uploads/${newId()}`,
    content: `transcripts/${newId()}`,
    phrase: `vocabularyPhrases/${newId()}`,
    webhook: `webhooks/${newId()}`,
    delivery: newId(),
    apiKey: `apiKeys/${newId()}`,
    clientKey: `clientKeys/${newId()}`,
    member: `members/${newId()}`,
    session: `sessions/${newId()}`,
    tenant: `accounts/${newId()}`,
    fresh: newId(),
  };
}

/** An account, its key with every scope, and the address of its service. */
export interface Owner {
  readonly db: Kysely<Tables>;
  readonly address: string;
  readonly accountId: string;
  readonly token: string;
}

/**
 * Creates things of these kinds in the account; the names of the other kinds are those of absent
 * resources.
 */
export async function makeThings(owner: Owner, kinds: ReadonlySet<Kind>): Promise<Things> {
  const made: { -readonly [K in Kind]?: string } = {};
  if (kinds.has("transcript")) {
    made.transcript = (await post(owner, "/v1alpha1/transcripts", draftOf("Fundur"))).name;
    made.version = (await ask(owner, "GET", `/v1alpha1/${made.transcript}`)).version.name;
  }
  if (kinds.has("job")) made.job = await submit(owner);
  if (kinds.has("cancelledJob")) {
    made.cancelledJob = await submit(owner);
    await owner.db
      .updateTable("transcript_job")
      .set({ state: "CANCELLED", error: JSON.stringify(cancelledStatus) })
      .where("id", "=", made.cancelledJob.replace("transcriptjob/", ""))
      .execute();
  }
  if (kinds.has("operation")) {
    made.operation = (await submit(owner)).replace("transcriptjob/", "operations/");
  }
  if (kinds.has("spoken")) made.spoken = await makeSpoken(owner);
  if (kinds.has("alignmentJob")) {
    const request = { transcript: await makeSpoken(owner) };
    made.alignmentJob = (await post(owner, "/v1alpha1/alignmentjobs:submit", request)).name;
  }
  if (kinds.has("drafted")) made.drafted = await makeDrafted(owner);
  if (kinds.has("shared")) {
    made.shared = (await post(owner, "/v1alpha1/transcripts", draftOf("Deilt"))).name;
    const { name } = await post(owner, `/v1alpha1/${made.shared}/shares`, {});
    made.share = name.slice(-36);
  }
  if (kinds.has("content")) {
    const metadata = { languageCode: "en-US", fileType: "AUDIO" };
    const job = await post(owner, "/v1alpha1/transcriptjob:submit", { metadata, useUri: false });
    const begun = await post(owner, "/v1alpha1/initupload", { resourceName: job.transcript });
    const answer = await fetch(begun.storageSignedUrl, { method: "PUT", body: "sound" });
    assert.equal(answer.status, 200);
    made.content = job.transcript;
  }
  if (kinds.has("upload")) made.upload = await upload(owner, {});
  if (kinds.has("phrase")) {
    const phrase = { phrase: newId(), languageCode: "is-IS" };
    made.phrase = (await post(owner, "/v2beta1/vocabularyPhrases", phrase)).name;
  }
  if (kinds.has("webhook")) {
    const url = `${owner.address}/livez`;
    made.webhook = (await post(owner, "/v1/webhooks", { url })).webhook.name;
  }
  if (kinds.has("delivery")) {
    const { name } = await post(owner, `/v1/${made.webhook}:test`, {});
    made.delivery = name.split("/").at(-1);
  }
  if (kinds.has("apiKey")) made.apiKey = (await post(owner, "/v1/apiKeys", {})).apiKey.name;
  if (kinds.has("clientKey")) {
    const pem = newKeyPair("EdDSA").publicKey.export({ type: "spki", format: "pem" });
    made.clientKey = (await post(owner, "/v1/clientKeys", { publicKey: pem })).name;
  }
  const { db, accountId } = owner;
  if (kinds.has("member")) made.member = `members/${await addMember(db, accountId, "VIEWER")}`;
  if (kinds.has("session")) {
    made.session = `sessions/${(await addSignedIn(db, accountId, "VIEWER")).sessionId}`;
  }
  if (kinds.has("tenant")) made.tenant = `accounts/${await addAccount(db)}`;
  return { ...absentThings(), ...made };
}

async function submit(owner: Owner): Promise<string> {
  const metadata = { languageCode: "en-US", fileType: "AUDIO" };
  const job = { metadata, useUri: true, uri: `${owner.address}/no-such.wav` };
  return (await post(owner, "/v1alpha1/transcriptjob:submit", job)).name;
}

async function makeSpoken(owner: Owner): Promise<string> {
  const { name } = await post(owner, "/v1alpha1/transcripts", draftOf("Viðtal"));
  await upload(owner, { resourceName: name });
  return name;
}

async function makeDrafted(owner: Owner): Promise<string> {
  const { name } = await post(owner, "/v1alpha1/transcripts", draftOf("Drög"));
  const { version } = await ask(owner, "GET", `/v1alpha1/${name}`);
  const draft = { baseVersion: version.name, content: "ZHLDtmc=" };
  await ask(owner, "PUT", `/v1alpha1/${name}/draft`, draft);
  return name;
}

/** Uploads media, and returns the name of the resource that has it. */
async function upload(owner: Owner, request: { resourceName?: string }): Promise<string> {
  const begun = await post(owner, "/v1alpha1/initupload", request);
  const answer = await fetch(begun.storageSignedUrl, { method: "PUT", body: "sound" });
  assert.equal(answer.status, 200);
  return begun.resourceName;
}

/** Returns the ids in the names, in the order of `kinds`. */
export function idsOf(things: Things): string[] {
  return kinds.map((kind) => things[kind].slice(-36));
}

/** Adds a second thing of each kind that is listed in pages. */
export async function addSecondThings(owner: Owner, things: Things): Promise<void> {
  await makeThings(owner, new Set(["transcript", "job", "alignmentJob", "phrase"]));
  const { transcript, webhook } = things;
  const change = { metadata: { subject: "Annar fundur" } };
  await ask(owner, "PATCH", `/v1alpha1/${transcript}`, change);
  await ask(owner, "POST", `/v1/${webhook}:test`, {});
  for (const subject of ["Hent", "Líka hent"]) {
    const { name } = await post(owner, "/v1alpha1/transcripts", draftOf(subject));
    await post(owner, "/v1alpha1/transcripts:bin", { names: [name] });
  }
  const { db, accountId } = owner;
  const used = {
    subject_id: accountId,
    account_id: accountId,
    requests: 1,
    live_ms: 0,
    short_ms: 0,
  };
  const days = ["2026-01-01", "2026-01-02"].map((day) => ({ ...used, day, job_ms: 0 }));
  await db.insertInto("usage_day").values(days).execute();
  const task = { folder_id: newId(), host: "none", kind: "TEST", model: "it" } as const;
  const tasks = [newId(), newId()].map((id) => ({ ...task, id }));
  await db.insertInto("model_task").values(tasks).execute();
}

async function ask(owner: Owner, method: string, path: string, body?: unknown) {
  const answer = await callRest(owner.address, owner.token, { method, path, body });
  assert.equal(answer.status, 200, `${path}: ${JSON.stringify(answer.json)}`);
  return answer.json;
}

async function post(owner: Owner, path: string, body: unknown) {
  return await ask(owner, "POST", path, body);
}

/**
 * Returns every row of the database that contains one of the ids, so that the test detects every
 * call that changes or deletes one of these resources, or links something to it. Rows that are
 * written a moment later are omitted: the use of keys and the counts of calls.
 */
export async function rowsWith(db: Kysely<Tables>, ids: readonly string[]): Promise<string[]> {
  const tables = await db.introspection.getTables();
  const parts = tables
    .filter(({ schema, name }) => schema === "public" && !name.startsWith("usage_"))
    .map(
      ({ name }) =>
        sql`select ${name}::text || ' ' || (to_jsonb(one) - 'last_used_at')::text as text from ${sql.table(name)} one`,
    );
  const { rows } = await sql<{ text: string }>`
    select text from (${sql.join(parts, sql` union all `)}) as every
    where text ~ ${ids.join("|")} order by text`.execute(db);
  return rows.map(({ text }) => text);
}
