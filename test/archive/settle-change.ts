import assert from "node:assert/strict";
import {
  answerOf,
  headOf,
  patched,
  type Content,
  type ModelTranscript,
  type ModelVersion,
} from "./archive-model.ts";
import type { CallAnswer } from "./archive-service.ts";
import type { Act } from "./archive-steps.ts";

/**
 * A change that was sent, and its answer: none if the service was killed
 * before.
 */
export interface Sent {
  readonly act: Act;
  /** What If-Match named. */
  readonly ifMatch: string | undefined;
  /** The version to restore. */
  readonly from?: ModelVersion | undefined;
  readonly upload?: { readonly target: string; isOpen: boolean; readonly bytes: Buffer };
  readonly answer: CallAnswer | undefined;
}

/** A version as the list of versions has it. */
export interface ListedVersion {
  readonly name: string;
  readonly parent: string;
  readonly creationTime: string;
}

/** The version that an action makes of the one before; undefined: it is refused. */
function resultOf({ act, from }: Sent, current: Content): Content | undefined {
  if (act.do === "restore") return from;
  if (act.do !== "patch" || act.isBad) return undefined;
  return patched(current, act.body, act.mask);
}

function makesVersions({ act }: Sent): boolean {
  return act.do === "patch" || act.do === "restore";
}

/**
 * Holds the new versions of a transcript, oldest first, against what was sent at once, and takes
 * them into the model: each is made by one act that was not refused, goes on top of the one before,
 * and none that was answered is missing. `read` fetches a version.
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
    assert.equal(listed.parent, head.name, "a version goes on top of the one before");
    const times = [head, listed].map(({ creationTime }) => Date.parse(creationTime));
    assert.ok(times[0] !== undefined && times[1] !== undefined && times[0] <= times[1]);
    const maker = await makerOf(transcript, open, listed, read);
    open.delete(maker);
    const content = resultOf(maker, head) ?? assert.fail("what is refused makes no version");
    const { metadata, segments } = content;
    transcript.versions.push({ ...listed, metadata, segments });
    if (maker.ifMatch !== undefined && maker.ifMatch !== "*") {
      assert.equal(head.name, maker.ifMatch, "If-Match names the parent");
    }
    if (maker.answer) assertAnswers(maker.answer, transcript, headOf(transcript));
  }
  for (const refused of open) checkRefused(refused, transcript, before);
}

/** The action whose answer is this version, else one without an answer that results in the same. */
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
  return assert.fail(`nothing that was sent makes the version ${JSON.stringify(json)}`);
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

/** An act that made no version has to have a reason. */
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

/** A version as it is answered, whole; its uri apart. */
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
 * Holds the media of a transcript against uploads that were sent at once, and takes it into the
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
    if (answer?.status === 200) assert.ok(upload.isOpen, "a URL takes one PUT");
  }
  for (const target of new Set(sent.map(({ upload }) => upload?.target))) {
    const same = sent.filter((each) => each.upload && each.upload.target === target);
    assert.ok(same.filter(({ answer }) => answer?.status === 200).length <= 1, "one of two PUTs");
    const isAllAnswered = same.every(({ answer }) => answer);
    const isRefused = same.every(({ answer }) => answer?.status !== 200);
    if (same.length > 0 && isAllAnswered && isRefused) {
      assert.ok(
        same.every(({ upload }) => !upload?.isOpen),
        "one PUT is taken",
      );
    }
  }
  const possible = [...(taken.length > 0 ? taken : [transcript.media]), ...unanswered];
  assert.ok(
    possible.some((each) => (each && bytes ? each.equals(bytes) : each === bytes)),
    "the media is what was uploaded last",
  );
  transcript.media = bytes;
  for (const { upload, answer } of sent) {
    if (upload) leaveUpload(transcript, upload.target, answer !== undefined);
  }
}

/** It got two PUTs at once: one of them is refused. */
function isShared(sent: readonly Sent[], { target }: { readonly target: string }): boolean {
  return sent.filter(({ upload }) => upload?.target === target).length > 1;
}

/** One that was not answered may be open yet or not: it is left alone from now on. */
function leaveUpload({ uploads }: ModelTranscript, target: string, isAnswered: boolean): void {
  const at = uploads.findIndex((upload) => upload.target === target);
  const upload = uploads[at];
  if (!upload) return;
  upload.isOpen = false;
  if (!isAnswered) uploads.splice(at, 1);
}
