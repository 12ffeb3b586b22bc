import assert from "node:assert/strict";
import {
  answerOf,
  compared,
  headOf,
  type ModelTranscript,
  type Ordering,
  type ListedVersion,
} from "./archive-model.ts";
import type { ArchiveService, CallAnswer } from "./archive-service.ts";
import { assertAnswers } from "./settle-change.ts";

/** One account of the service. */
export interface Archive {
  readonly service: ArchiveService;
  readonly key: string;
}

export const transcriptsPath = "/v1alpha1/transcripts";

/** The parameters of a list. */
interface ListQuery {
  readonly pageSize: number;
  readonly filter?: string;
  readonly ordering?: Ordering;
}

const lastChangedFirst: Ordering = { orderBy: "", isAscending: false };

/** Compares a list with these transcripts of the model. */
export async function checkList(
  archive: Archive,
  expected: readonly ModelTranscript[],
  query: ListQuery,
): Promise<void> {
  const all = await listAll(archive, query);
  const { ordering = lastChangedFirst } = query;
  const models = new Map(expected.map((each) => [each.name, each]));
  const listed = all.map(({ name }) => models.get(String(name)));
  assert.equal(new Set(listed).size, all.length, "each transcript is listed once");
  assert.equal(all.length, expected.length);
  for (const [at, model] of listed.entries()) {
    assert.ok(model);
    const { uri, ...item } = all[at] ?? {};
    const { uri: _, ...answer } = { uri: "", ...answerOf(model, headOf(model)), segments: [] };
    assert.deepEqual(item, answer);
    assert.equal(uri !== "", model.media !== undefined);
    const next = listed[at + 1];
    if (!next) continue;
    const order = compared(ordering, model, next);
    assert.ok(ordering.isAscending ? order <= 0 : order >= 0, `${model.name}, ${next.name}`);
  }
}

export async function listAll(
  archive: Archive,
  { filter = "", pageSize, ordering = lastChangedFirst }: ListQuery,
) {
  const { orderBy, isAscending } = ordering;
  const query = {
    pageSize: `${pageSize}`,
    ...(filter !== "" && { filter }),
    ...(orderBy !== "" && { "ordering.orderBy": orderBy }),
    ...(isAscending && { "ordering.direction": "ASCENDING" }),
  };
  const all: CallAnswer["json"][] = [];
  for await (const page of readPages(archive, transcriptsPath, query))
    all.push(...page.transcripts);
  return all;
}

async function* readPages(archive: Archive, target: string, query: Record<string, string>) {
  let pageToken = "";
  do {
    const parameters = new URLSearchParams({ ...query, ...(pageToken !== "" && { pageToken }) });
    const { status, json, bytes } = await read(archive, `${target}?${parameters.toString()}`);
    assert.equal(status, 200, bytes.toString());
    yield json;
    pageToken = json.nextPageToken;
  } while (pageToken !== "");
}

/** Asserts that the response to a GET is the transcript in its current version. */
export function assertHead(answer: CallAnswer, transcript: ModelTranscript): void {
  assertAnswers(answer, transcript, headOf(transcript));
  const { uri } = answer.json;
  assert.equal(uri !== "", transcript.media !== undefined, "there is a uri if there is media");
  if (uri === "") return;
  transcript.pastMedia.splice(0, transcript.pastMedia.length > 20 ? 1 : 0);
  transcript.pastMedia.push(targetOf(uri));
}

export async function checkVersion(
  archive: Archive,
  transcript: ModelTranscript,
  at: number,
): Promise<void> {
  const version = pick(transcript.versions, at) ?? headOf(transcript);
  const target = `/v1alpha1/${transcript.name}/versions/${version.name}`;
  const answer = await read(archive, target);
  if (transcript.isDeleted) assert.equal(answer.status, 404);
  else assertAnswers(answer, transcript, version);
}

/** Returns all versions, read in pages, newest first. */
export async function versionsOf(
  archive: Archive,
  { name }: ModelTranscript,
  pageSize: number,
): Promise<ListedVersion[]> {
  const pages = readPages(archive, `/v1alpha1/${name}/versions`, { pageSize: `${pageSize}` });
  const all: ListedVersion[] = [];
  for await (const { versions } of pages) all.push(...versions);
  return all;
}

export async function checkDeleted(archive: Archive, transcript: ModelTranscript): Promise<void> {
  const target = `/v1alpha1/${transcript.name}`;
  for (const below of ["", "/versions", `/versions/${headOf(transcript).name}`]) {
    assert.equal((await read(archive, `${target}${below}`)).status, 404);
  }
  transcript.media = undefined;
  await checkPastMedia(archive, transcript);
}

export async function checkRange(
  archive: Archive,
  transcript: ModelTranscript,
  { from, length }: { readonly from: number; readonly length: number },
): Promise<void> {
  const { media } = transcript;
  const uri: unknown = (await read(archive, `/v1alpha1/${transcript.name}`)).json.uri;
  if (!media) return;
  assert.ok(typeof uri === "string");
  const start = from % media.length;
  const range = `bytes=${start}-${start + length - 1}`;
  const answer = await readMedia(archive, targetOf(uri), { range });
  assert.equal(answer.status, 206);
  assert.ok(answer.bytes.equals(media.subarray(start, start + length)));
  const whole = await readMedia(archive, targetOf(uri));
  assert.equal(whole.headers["content-length"], `${media.length}`);
  assert.ok(whole.bytes.equals(media));
}

/**
 * Asserts that the signed URLs of replaced media return 404, although their hour is not over. URLs
 * of the current media stay in `pastMedia`.
 */
export async function checkPastMedia(
  archive: Archive,
  transcript: ModelTranscript,
  current?: string,
): Promise<void> {
  const now = current ?? (transcript.media && transcript.pastMedia.at(-1));
  const paths = new Set(transcript.pastMedia.splice(0));
  for (const target of paths) {
    if (now !== undefined && pathOf(target) === pathOf(now)) transcript.pastMedia.push(target);
    else assert.equal((await readMedia(archive, target)).status, 404, "replaced media is gone");
  }
}

function pathOf(target: string): string {
  return target.split("?", 1)[0] ?? "";
}

export async function readMedia(
  { service }: Archive,
  target: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<CallAnswer> {
  return await service.read(undefined, { method: "GET", target, headers });
}

export async function read({ service, key }: Archive, target: string): Promise<CallAnswer> {
  return await service.read(key, { method: "GET", target });
}

export function targetOf(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

export function pick<T>(all: readonly T[], at: number): T | undefined {
  return all.length > 0 ? all[at % all.length] : undefined;
}
