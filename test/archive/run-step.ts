import assert from "node:assert/strict";
import {
  createdFrom,
  existing,
  hasKeyword,
  hasSubject,
  headOf,
  listedOf,
  type ArchiveModel,
  type ModelTranscript,
  type PatchBody,
} from "./archive-model.ts";
import type { Call, CallAnswer } from "./archive-service.ts";
import type { Act, IfMatch, Step } from "./archive-steps.ts";
import {
  assertHead,
  checkDeleted,
  checkList,
  checkPastMedia,
  checkRange,
  checkVersion,
  listAll,
  pick,
  read,
  readMedia,
  targetOf,
  transcriptsPath,
  versionsOf,
  type Archive,
} from "./check-archive.ts";
import { settleMedia, settleVersions, type Sent } from "./settle-change.ts";

/** Runs a step on the service, compares the result with the model, and applies it to the model. */
export async function runStep(model: ArchiveModel, archive: Archive, step: Step): Promise<void> {
  switch (step.step) {
    case "create":
      return await create(model, archive, step);
    case "change":
      return await change(model, archive, step);
    case "list":
      return await checkList(archive, existing(model), step);
    case "filter by subject": {
      const found = existing(model).filter((each) => hasSubject(each, step.text));
      const filter = `metadata.subject CONTAINS ${quoted(step.text)}`;
      return await checkList(archive, found, { ...step, filter });
    }
    case "filter by keywords": {
      const { keywords, isEach } = step;
      const found = existing(model).filter((each) => {
        const has = (keyword: string) => hasKeyword(each, keyword);
        return isEach ? keywords.every(has) : keywords.some(has);
      });
      const lists = isEach ? keywords.map(quoted) : [keywords.map(quoted).join()];
      const filter = lists.map((list) => `metadata.keywords CONTAINS [${list}]`).join(" AND ");
      return await checkList(archive, found, { ...step, filter });
    }
    case "read a version": {
      const transcript = pick(model.transcripts, step.at);
      if (transcript) await checkVersion(archive, transcript, step.version);
      return;
    }
    case "download": {
      const transcript = pick(model.transcripts, step.at);
      if (transcript) await checkRange(archive, transcript, step);
    }
  }
}

/** Compares the whole archive with the model. */
export async function checkAll(model: ArchiveModel, archive: Archive): Promise<void> {
  await checkList(archive, existing(model), { pageSize: 0 });
  for (const transcript of model.transcripts) {
    if (transcript.isDeleted) {
      await checkDeleted(archive, transcript);
      continue;
    }
    assertHead(await read(archive, `/v1alpha1/${transcript.name}`), transcript);
    const names = (await versionsOf(archive, transcript, 2)).map(({ name }) => name);
    assert.deepEqual(names, transcript.versions.map(({ name }) => name).toReversed());
    for (const at of transcript.versions.keys()) await checkVersion(archive, transcript, at);
    await checkPastMedia(archive, transcript);
  }
}

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

/** Sends all calls concurrently, and kills the service while they run if the step requires it. */
async function sendAtOnce(
  { service }: Archive,
  calls: readonly (Call & { readonly key: string | undefined })[],
  crashAfterMs: number | undefined,
): Promise<(CallAnswer | undefined)[]> {
  const answers = calls.map(({ key, ...call }) => service.call(key, call));
  if (crashAfterMs !== undefined) await service.crash(crashAfterMs);
  return await Promise.all(answers);
}

async function create(
  model: ArchiveModel,
  archive: Archive,
  { draft, crashAfterMs }: { readonly draft: PatchBody; readonly crashAfterMs?: number },
): Promise<void> {
  const call = { key: archive.key, method: "POST", target: transcriptsPath, body: draft };
  const [answer] = await sendAtOnce(archive, [call], crashAfterMs);
  let name: string;
  if (answer) {
    assert.equal(answer.status, 200, answer.bytes.toString());
    assert.deepEqual(Object.keys(answer.json), ["name"]);
    ({ name } = answer.json);
  } else {
    const all = await listAll(archive, { pageSize: 1000 });
    const known = new Set(model.transcripts.map((each) => each.name));
    const added = all.map((each) => String(each.name)).filter((each) => !known.has(each));
    assert.ok(added.length <= 1, "one creation makes one transcript");
    const [made] = added;
    if (made === undefined) return;
    name = made;
  }
  const head = await read(archive, `/v1alpha1/${name}`);
  assert.equal(head.status, 200, "the created transcript exists");
  const { version } = head.json;
  assert.equal(version.parent, "");
  assert.equal(version.kind, "IMPORTED");
  assert.match(version.author, /^apiKeys\//);
  const first = { ...version, ...createdFrom(draft) };
  const none = { media: undefined, pastMedia: [], uploads: [], isDeleted: false };
  const transcript: ModelTranscript = { name, versions: [first], ...none };
  model.transcripts.push(transcript);
  assertHead(head, transcript);
}

async function change(
  model: ArchiveModel,
  archive: Archive,
  step: Step & { readonly step: "change" },
): Promise<void> {
  const transcript = pick(model.transcripts, step.at);
  if (!transcript) return;
  const prepared: (Omit<Sent, "answer"> & { readonly call: Call & { key: string | undefined } })[] =
    [];
  for (const act of step.acts) prepared.push(await prepare(model, archive, transcript, act));
  const calls = prepared.map(({ call }) => call);
  const answers = await sendAtOnce(archive, calls, step.crashAfterMs);
  const sent = prepared.map((each, at): Sent => ({ ...each, answer: answers[at] }));
  const head = await settleDeletion(archive, transcript, sent);
  if (!head) return;
  const all = await versionsOf(archive, transcript, 1000);
  const added = all.slice(0, all.length - transcript.versions.length).toReversed();
  const known = transcript.versions.map(listedOf);
  assert.deepEqual(all.slice(added.length), known.toReversed(), "no version is ever changed");
  const readVersion = (name: string) =>
    read(archive, `/v1alpha1/${transcript.name}/versions/${name}`);
  await settleVersions(transcript, sent, added, readVersion);
  const { uri } = head.json;
  if (sent.some(({ upload }) => upload)) await settleUploads(archive, transcript, sent, uri);
  assertHead(head, transcript);
}

async function settleUploads(
  archive: Archive,
  transcript: ModelTranscript,
  sent: readonly Sent[],
  uri: string,
): Promise<void> {
  const target = uri === "" ? undefined : targetOf(uri);
  const bytes = target === undefined ? undefined : (await readMedia(archive, target)).bytes;
  const before = transcript.media;
  settleMedia(transcript, sent, bytes);
  if (before !== transcript.media) await checkPastMedia(archive, transcript, target);
}

/** Prepares the call for an act; an upload gets its URL first. */
async function prepare(
  model: ArchiveModel,
  archive: Archive,
  transcript: ModelTranscript,
  act: Act,
): Promise<Omit<Sent, "answer"> & { readonly call: Call & { key: string | undefined } }> {
  const { key } = archive;
  const target = `/v1alpha1/${transcript.name}`;
  if (act.do === "upload") return await prepareUpload(model, archive, transcript, act);
  if (act.do === "delete") {
    return { act, ifMatch: undefined, call: { key, method: "DELETE", target } };
  }
  const ifMatch = ifMatchOf(transcript, act.ifMatch);
  const headers = ifMatch === undefined ? {} : { "if-match": ifMatch };
  if (act.do === "patch") {
    const query = act.mask ? `?updateMask=${act.mask.join()}` : "";
    const { body } = act;
    const call = { key, method: "PATCH", target: `${target}${query}`, body, headers };
    return { act, ifMatch, call };
  }
  const from = pick(transcript.versions, act.version);
  const body = { version: from?.name };
  return {
    act,
    ifMatch,
    from,
    call: { key, method: "POST", target: `${target}:restore`, body, headers },
  };
}

/** Returns the value of If-Match. */
function ifMatchOf(transcript: ModelTranscript, ifMatch: IfMatch): string | undefined {
  const head = headOf(transcript).name;
  const older = transcript.versions.at(-2)?.name ?? head;
  return { nothing: undefined, anything: "*", head, older }[ifMatch];
}

async function prepareUpload(
  model: ArchiveModel,
  archive: Archive,
  transcript: ModelTranscript,
  act: Act & { readonly do: "upload" },
): Promise<Omit<Sent, "answer"> & { readonly call: Call & { key: undefined } }> {
  model.uploadCount += 1;
  const bytes = Buffer.alloc(act.bytes, `${model.uploadCount} `);
  let upload = act.isOldUrl ? transcript.uploads.at(-1) : undefined;
  if (!upload) {
    const { service, key } = archive;
    const body = { resourceName: transcript.name };
    const call = { method: "POST", target: "/v1alpha1/initupload", body };
    const { status, json } = await service.read(key, call);
    assert.equal(status, transcript.isDeleted ? 404 : 200);
    const target = transcript.isDeleted ? "/media/uploads/none" : targetOf(json.storageSignedUrl);
    upload = { target, isOpen: !transcript.isDeleted };
    transcript.uploads.push(upload);
  }
  const { target, isOpen } = upload;
  const call = { key: undefined, method: "PUT", target, body: bytes };
  return { act, ifMatch: undefined, upload: { target, isOpen, bytes }, call };
}

/**
 * Reads the transcript after these acts; returns undefined if the transcript is deleted, in which
 * case nothing of it may be left.
 */
async function settleDeletion(
  archive: Archive,
  transcript: ModelTranscript,
  sent: readonly Sent[],
): Promise<CallAnswer | undefined> {
  const head = await read(archive, `/v1alpha1/${transcript.name}`);
  const { status } = head;
  const deletions = sent.filter(({ act }) => act.do === "delete");
  const wasDeleted = transcript.isDeleted;
  transcript.isDeleted = status === 404;
  if (!transcript.isDeleted) {
    assert.equal(status, 200);
    assert.equal(wasDeleted, false, "a deleted transcript does not come back");
    assert.ok(deletions.every(({ answer }) => answer === undefined));
    return head;
  }
  assert.ok(wasDeleted || deletions.length > 0, "no transcript disappears without a deletion");
  const isAllAnswered = deletions.every(({ answer }) => answer);
  const deleted = deletions.filter(({ answer }) => answer?.status === 200).length;
  assert.ok(wasDeleted ? deleted === 0 : deleted === 1 || !isAllAnswered, "deleted once");
  for (const { act, answer } of sent) {
    if (!answer) continue;
    const allowed = wasDeleted ? [400, 403, 404] : [200, 400, 404, 409];
    assert.ok(allowed.includes(answer.status), `${act.do}: ${answer.bytes.toString()}`);
  }
  await checkDeleted(archive, transcript);
  return undefined;
}
