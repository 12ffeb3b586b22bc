import { subscribe } from "node:diagnostics_channel";
import type { ClientRequest } from "node:http";
import type { Kysely } from "kysely";
import { sql } from "kysely";
import type { Tables } from "../../src/database/tables.ts";

/**
 * The secrets that the callers of this process have sent and received. `credential`: keys, tokens,
 * signatures and cookies, which only the response that creates them can contain. `text`: speech,
 * texts about it and addresses of media, which can also be in their own columns and in responses to
 * their owner.
 */
const secrets = new Map<string, "credential" | "text">();
/** The bodies of failed calls, and errors on streams. */
const errorBodies: { readonly origin: string; readonly body: string }[] = [];

/**
 * The minimum length of a secret. A shorter one is a word that could occur anywhere, such as the
 * token "wrong".
 */
const lengthMin = 16;

/** Records a secret that was not part of a call of this process. */
export function noteSecret(value: string, kind: "credential" | "text"): void {
  if (value.length >= lengthMin) secrets.set(value, kind);
}

/**
 * Forgets all secrets and failed calls: the next test file that shares the process may show what
 * this one has sent.
 */
export function forgetSecrets(): void {
  secrets.clear();
  errorBodies.length = 0;
}

/** Records the response of the service at `origin` to a call or stream that failed. */
export function noteError(origin: string, body: string): void {
  errorBodies.push({ origin, body });
}

/** A request as undici and the fetch() of Node report it. Names and values of headers alternate. */
interface UndiciRequest {
  readonly origin: string | URL;
  readonly path: string;
  readonly headers: readonly (string | string[])[];
}
interface UndiciFacts {
  readonly request: UndiciRequest;
  readonly response?: { readonly statusCode: number };
  readonly chunk?: Uint8Array;
}

const failed = new WeakSet<UndiciRequest>();

function onUndici(channel: string, seen: (facts: UndiciFacts) => void): void {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the channel's own shape (undici: DiagnosticsChannel)
  subscribe(`undici:request:${channel}`, (message) => seen(message as UndiciFacts));
}

onUndici("create", ({ request: { path, headers } }) => {
  noteTarget(path);
  headers.forEach((value, at) => {
    if (at % 2 === 1) noteHeader(String(headers[at - 1]).toLowerCase(), String(value));
  });
});
onUndici("headers", ({ request, response }) => {
  if (response && response.statusCode >= 400) failed.add(request);
});
onUndici("bodyChunkSent", ({ chunk }) => {
  noteTexts(textOf(chunk));
});
onUndici("bodyChunkReceived", ({ request, chunk }) => {
  const text = textOf(chunk);
  if (failed.has(request)) noteError(String(request.origin), text);
  else noteAnswer(text);
});
// These requests are WebSockets and the calls of clients that use node:http.
subscribe("http.client.request.start", (message) => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the channel's own shape (Node.js: HTTP)
  const { request } = message as { readonly request: ClientRequest };
  noteTarget(request.path);
  for (const [name, value] of Object.entries(request.getHeaders())) {
    noteHeader(name.toLowerCase(), String(value));
  }
});

function textOf(chunk: Uint8Array | undefined): string {
  return chunk === undefined ? "" : Buffer.from(chunk).toString("utf8");
}

/** Records tokens, signatures and keys in the query, and the text of searches. */
function noteTarget(target: string): void {
  const query = target.split("?", 2)[1] ?? "";
  for (const [name, value] of new URLSearchParams(query)) {
    if (/token|key|signature|secret/i.test(name)) noteSecret(value, "credential");
    if (name === "filter") noteSecret(value, "text");
  }
}

const credentialHeaders = /^(?:authorization|cookie|x-goog-api-key|sec-websocket-protocol)$/;

function noteHeader(name: string, value: string): void {
  if (!credentialHeaders.test(name)) return;
  for (const part of value.split(/[\s,;=]+/)) noteSecret(part, "credential");
}

/** Records what requests contain about recordings: their words, subjects and addresses. */
function noteTexts(body: string): void {
  const texts = body.matchAll(
    /"(?:word|subject|description|transcript|phrases?|value)"\s*:\s*"([^"\\]+)"/g,
  );
  // The name of a transcript is not its text.
  for (const [, text = ""] of texts) if (!text.startsWith("transcripts/")) noteSecret(text, "text");
  for (const [, uri = ""] of body.matchAll(/"(?:uri|url)"\s*:\s*"([^"\\]+)"/g)) {
    const query = uri.split("?", 2)[1];
    if (query !== undefined) noteSecret(query, "text");
    const { username = "", password = "" } = URL.parse(uri) ?? {};
    for (const each of [username, password]) noteSecret(each, "text");
  }
}

/** Records the secrets that a response returns to its caller. */
function noteAnswer(body: string): void {
  const found = body.matchAll(
    /"(?:secret|token|storageSignedUrl|uri|waveformUri)"\s*:\s*"([^"\\]+)"/g,
  );
  for (const [, value = ""] of found) {
    const shared = /\/console\/shared\/([\w-]+)$/.exec(value)?.[1];
    if (shared !== undefined) noteSecret(shared, "credential");
    else if (/^https?:/.test(value)) noteTarget(value);
    else noteSecret(value, "credential");
  }
}

/**
 * The columns that can contain `text` secrets: those about recordings, jobs, vocabularies and
 * webhooks. The rest of the database must not contain any secrets.
 */
const textColumns: ReadonlySet<string> = new Set([
  "transcript.metadata",
  "transcript.subject",
  "transcript.subject_key",
  "transcript.keywords",
  "transcript_version.metadata",
  "transcript_draft.content",
  "transcript_job.metadata",
  "transcript_job.media_uri",
  "transcript_job.error",
  "transcript_job_piece.segments",
  "vocabulary_phrase.phrase",
  "vocabulary_phrase.folded",
  "vocabulary_phrase.sounds_like",
  "webhook.url",
  "webhook_delivery.body",
]);

interface Column {
  readonly table_schema: string;
  readonly table_name: string;
  readonly column_name: string;
  readonly data_type: string;
}

type Kind = "credential" | "text";

/** Returns every secret of these kinds in a text. */
function leaksIn(place: string, text: string, kinds: readonly Kind[]): string[] {
  const found = [...secrets].filter(
    ([secret, kind]) => kinds.includes(kind) && text.includes(secret),
  );
  return found.map(([secret, kind]) => `${place}: ${kind} ${secret}`);
}

function throwIfAny(leaks: readonly string[]): void {
  if (leaks.length > 0) throw new Error(`secrets are shown:\n${leaks.join("\n")}`);
}

/** Throws if a secret is in a line of a log. */
export function huntInLog(lines: readonly string[]): void {
  throwIfAny(leaksIn("the log", lines.join(""), ["credential", "text"]));
}

/**
 * Throws if a secret is in an error response of the service at `address`, or in its database
 * outside its own column.
 */
export async function huntSecrets(db: Kysely<Tables>, address: string): Promise<void> {
  const errors = errorBodies.filter(({ origin }) => origin === address).map(({ body }) => body);
  const leaks = leaksIn("an error", errors.join("\n"), ["credential"]);
  for (const { place, content } of await contentsOf(db, await columnsOf(db))) {
    const kinds: Kind[] = textColumns.has(place) ? ["credential"] : ["credential", "text"];
    leaks.push(...leaksIn(place, content, kinds));
  }
  throwIfAny(leaks);
}

async function columnsOf(db: Kysely<Tables>): Promise<readonly Column[]> {
  const { rows } = await sql<Column>`
    select c.table_schema, c.table_name, c.column_name, c.data_type
    from information_schema.columns c
    join information_schema.tables t using (table_schema, table_name)
    where t.table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')
      and c.data_type in ('text', 'jsonb', 'json', 'ARRAY', 'bytea', 'character varying')`.execute(
    db,
  );
  return rows;
}

/**
 * Returns the content of each column as text, without bytes that are longer than any key: media and
 * packed segments. One statement reads all, since a statement for each takes ten times as long.
 */
async function contentsOf(
  db: Kysely<Tables>,
  columns: readonly Column[],
): Promise<readonly { readonly place: string; readonly content: string }[]> {
  const each = columns.map((column) => {
    const name = sql.ref(column.column_name);
    const value =
      column.data_type === "bytea"
        ? sql`case when length(${name}) <= 4096 then encode(${name}, 'escape') end`
        : sql`${name}::text`;
    const place = `${column.table_name}.${column.column_name}`;
    return sql`
      select ${sql.lit(place)} as place, string_agg(distinct ${value}, E'\n') as content
      from ${sql.table(`${column.table_schema}.${column.table_name}`)}`;
  });
  const { rows } = await sql<{ place: string; content: string | null }>`
    ${sql.join(each, sql` union all `)}`.execute(db);
  return rows.map(({ place, content }) => ({ place, content: content ?? "" }));
}
