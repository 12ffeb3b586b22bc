import assert from "node:assert/strict";
import {
  answerOf,
  headOf,
  patched,
  type Content,
  type ListedVersion,
  type ModelTranscript,
  type ModelVersion,
} from "./archive-model.ts";
import type { CallAnswer } from "./archive-service.ts";
import type { Act } from "./archive-steps.ts";

/**
 * A change that was sent, with its response, which is undefined if the service was killed first.
 */
export interface Sent {
  readonly act: Act;
  /** The value of If-Match. */
  readonly ifMatch: string | undefined;
  /** The version to restore. */
  readonly from?: ModelVersion | undefined;
  readonly upload?: { readonly target: string; isOpen: boolean; readonly bytes: Buffer };
  readonly answer: CallAnswer | undefined;
}

/**
 * Returns the content that an act creates from the previous version, or undefined if the act is
 * refused.
 */
function resultOf({ act, from }: Sent, current: Content): Content | undefined {
  if (act.do === "restore") return from;
  if (act.do !== "patch" || act.isBad) return undefined;
  return patched(current, act.body, act.mask);
}

function makesVersions({ act }: Sent): boolean {
  return act.do === "patch" || act.do === "restore";
}

/**
 * Compares the new versions of a transcript, oldest first, with the concurrent acts, and adds the
 * versions to the model. Each version must come from one accepted act and follow the previous
 * version, and no acknowledged act may be missing. `read` fetches a version.
 */
export async function settleVersions(
  transcript: ModelTranscript,
  sent: readonly Sent[],
  added: readonly ListedVersion[],
  read: (name: string) => Promise<CallAnswer>,
): Promise<void> {
  const before = headOf(transcript);
  const open = new Set(sent.filter(makesVersions));
  for (const listed of added) {
    const head = headOf(transcript);
    assert.equal(listed.parent, head.name, "a version follows the previous one");
    const times = [head, listed].map(({ creationTime }) => Date.parse(creationTime));
    assert.ok(times[0] !== undefined && times[1] !== undefined && times[0] <= times[1]);
    const maker = await makerOf(transcript, open, listed, read);
    open.delete(maker);
    const content = resultOf(maker, head) ?? assert.fail("a refused act makes no version");
    assert.equal(listed.kind, maker.act.do === "restore" ? "RESTORED" : "EDITED");
    assert.equal(listed.author, head.author, "one key makes all versions");
    const { metadata, segments } = content;
    transcript.versions.push({ ...listed, metadata, segments });
    if (maker.ifMatch !== undefined && maker.ifMatch !== "*") {
      assert.equal(head.name, maker.ifMatch, "If-Match names the parent");
    }
    if (maker.answer) assertAnswers(maker.answer, transcript, headOf(transcript));
  }
  for (const refused of open) checkRefused(refused, transcript, before);
}

/**
 * Returns the act whose response is this version, or otherwise an act without a response that
 * creates the same content.
 */
async function makerOf(
  transcript: ModelTranscript,
  open: ReadonlySet<Sent>,
  listed: ListedVersion,
  read: (name: string) => Promise<CallAnswer>,
): Promise<Sent> {
  for (const each of open) if (each.answer?.json?.version?.name === listed.name) return each;
  const head = headOf(transcript);
  const { json } = await read(listed.name);
  for (const each of open) {
    const content = each.answer ? undefined : resultOf(each, head);
    const isNext = each.ifMatch === undefined || [head.name, "*"].includes(each.ifMatch);
    if (!content || !isNext) continue;
    const { uri: _, ...got } = json;
    const expected = answerOf(transcript, { ...listed, ...contentAlone(content) });
    if (isEqual(got, expected)) return each;
  }
  return assert.fail(`no act that was sent makes the version ${JSON.stringify(json)}`);
}

function contentAlone({ metadata, segments }: Content): Content {
  return { metadata, segments };
}

function isEqual(one: unknown, other: unknown): boolean {
  try {
    assert.deepEqual(one, other);
    return true;
  } catch {
    return false;
  }
}

/** Asserts that an act that created no version was refused for a reason. */
function checkRefused(sent: Sent, transcript: ModelTranscript, before: ModelVersion): void {
  const { answer, ifMatch, act } = sent;
  if (!answer) return;
  const isBad = resultOf(sent, before) === undefined;
  const head = headOf(transcript);
  if (isBad) {
    assert.equal(answer.status, 400, `${JSON.stringify(act)}: ${answer.bytes.toString()}`);
    return;
  }
  const isStale = ifMatch !== undefined && ifMatch !== "*" && ifMatch !== before.name;
  const hasLost = ifMatch === before.name && head !== before;
  assert.ok(isStale || hasLost, `${JSON.stringify(act)} was answered ${answer.bytes.toString()}`);
  assert.equal(answer.status, 409);
  const { currentVersion } = answer.json.details[0].metadata;
  const since = transcript.versions.slice(transcript.versions.indexOf(before));
  assert.ok(since.some(({ name }) => name === currentVersion && name !== ifMatch));
}

/** Asserts that a response is exactly this version, except for its uri. */
export function assertAnswers(
  { status, json, bytes }: CallAnswer,
  transcript: ModelTranscript,
  version: ModelVersion,
): void {
  assert.equal(status, 200, bytes.toString());
  const { uri: _, ...got } = json;
  assert.deepEqual(got, answerOf(transcript, version));
}

/**
 * Compares the media of a transcript with the concurrent uploads, and applies the uploads to the
 * model.
 */
export function settleMedia(
  transcript: ModelTranscript,
  sent: readonly Sent[],
  bytes: Buffer | undefined,
): void {
  const taken: (Buffer | undefined)[] = [];
  const unanswered: Buffer[] = [];
  for (const { upload, answer } of sent) {
    if (!upload) continue;
    if (!answer) unanswered.push(upload.bytes);
    else if (answer.status === 200) taken.push(upload.bytes);
    else assert.ok(!upload.isOpen || isShared(sent, upload), answer.bytes.toString());
    if (answer && answer.status !== 200) assert.ok([404, 409].includes(answer.status));
    if (answer?.status === 200) assert.ok(upload.isOpen, "a URL accepts one PUT");
  }
  for (const target of new Set(sent.map(({ upload }) => upload?.target))) {
    const same = sent.filter((each) => each.upload && each.upload.target === target);
    assert.ok(
      same.filter(({ answer }) => answer?.status === 200).length <= 1,
      "at most one of two PUTs is accepted",
    );
    const isAllAnswered = same.every(({ answer }) => answer);
    const isRefused = same.every(({ answer }) => answer?.status !== 200);
    if (same.length > 0 && isAllAnswered && isRefused) {
      assert.ok(
        same.every(({ upload }) => !upload?.isOpen),
        "one PUT is accepted",
      );
    }
  }
  const possible = [...(taken.length > 0 ? taken : [transcript.media]), ...unanswered];
  assert.ok(
    possible.some((each) => (each && bytes ? each.equals(bytes) : each === bytes)),
    "the media is that of the last upload",
  );
  transcript.media = bytes;
  for (const { upload, answer } of sent) {
    if (upload) leaveUpload(transcript, upload.target, answer !== undefined);
  }
}

/** Whether a URL got two concurrent PUTs, of which one is refused. */
function isShared(sent: readonly Sent[], { target }: { readonly target: string }): boolean {
  return sent.filter(({ upload }) => upload?.target === target).length > 1;
}

/**
 * Excludes an upload from further tests if its PUT got no response, since the upload may or may not
 * still be open.
 */
function leaveUpload({ uploads }: ModelTranscript, target: string, isAnswered: boolean): void {
  const at = uploads.findIndex((upload) => upload.target === target);
  const upload = uploads[at];
  if (!upload) return;
  upload.isOpen = false;
  if (!isAnswered) uploads.splice(at, 1);
}
