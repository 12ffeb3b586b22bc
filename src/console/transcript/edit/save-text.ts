import type {
  SegmentJson,
  TranscriptJson,
} from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { callApi } from "../../api/call-api.ts";
import type { EditSession, SavedText } from "./edit-session.ts";
import { spokenTextSteps } from "../spoken-text.ts";
import {
  changesBetweenSteps,
  changesOfSteps,
  segmentsAfter,
  type SegmentsChange,
} from "./model/changes.ts";

/** The time that a slice of work may take, in ms; a task may take 16 ms. */
const sliceMs = 5;

/**
 * Saves a text as a new version, and returns the transcript. Only the segments that differ from
 * those of the version that was saved last are sent, if they are known. If nothing has changed, no
 * version is created. Throws ApiError: its reason is VERSION_STALE if the transcript was changed
 * elsewhere. `owner` is the user who has edited it (identityOf): the service refuses to save
 * it for anyone who has signed in since.
 */
export async function saveText(
  name: string,
  session: EditSession,
  { version, owner }: { readonly version: string | undefined; readonly owner: string },
): Promise<TranscriptJson> {
  const { base, paragraphs, speakers, retimings, saved, isMerged = false, note = "" } = session;
  // Long texts take hundreds of milliseconds, in which keys would wait.
  const edits = await inSlices(changesOfSteps(base, paragraphs, retimings));
  const segments = [...segmentsAfter(base, edits)];
  // The page needs it as soon as the text is saved.
  await inSlices(spokenTextSteps(segments));
  const metadata = speakers !== saved.speakers && { metadata: { speakers } };
  const before = segmentsBefore(session);
  const changes = before && (await inSlices(changesBetweenSteps(before, segments)));
  if (version !== undefined && changes?.length === 0 && !metadata && note === "") {
    const now = await callApi<TranscriptJson>(`/v1alpha1/${name}`, { owner });
    if (now.version?.name === version) return { ...now, segments };
  }
  if (version === undefined || !changes || changes.length === 0) {
    const query = new URLSearchParams({
      updateMask: metadata ? "segments,metadata.speakers" : "segments",
      ...(isMerged && { merged: "true" }),
      ...(note !== "" && { note }),
    });
    return await callApi<TranscriptJson>(`/v1alpha1/${name}?${query}`, {
      method: "PATCH",
      body: bodyOf({ ...metadata }, `"segments":${await inSlices(jsonOf(segments))}`),
      owner,
      ...(version !== undefined && { headers: { "if-match": version } }),
    });
  }
  const now = await callApi<TranscriptJson>(`/v1alpha1/${name}:modifySegments`, {
    method: "POST",
    body: bodyOf(
      { ...metadata, note, ...(isMerged && { merged: true }) },
      `"changes":${await inSlices(jsonOfChanges(changes))}`,
    ),
    headers: { "if-match": version },
    owner,
  });
  return { ...now, segments };
}

/** Does work in slices, each of them in a task of its own. */
async function inSlices<Result>(work: Generator<void, Result, void>): Promise<Result> {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve));
    const until = performance.now() + sliceMs;
    do {
      const step = work.next();
      if (step.done) return step.value;
    } while (performance.now() < until);
  }
}

/** Returns the JSON of an object with one more field. */
function bodyOf(fields: object, field: string): string {
  const json = JSON.stringify(fields);
  return json === "{}" ? `{${field}}` : `${json.slice(0, -1)},${field}}`;
}

/** Writes changes as JSON, and yields after each segment. */
function* jsonOfChanges(changes: readonly SegmentsChange[]): Generator<void, string, void> {
  const texts: string[] = [];
  for (const { segments, ...range } of changes) {
    texts.push(bodyOf(range, `"segments":${yield* jsonOf(segments)}`));
  }
  return `[${texts.join(",")}]`;
}

function* jsonOf(segments: readonly SegmentJson[]): Generator<void, string, void> {
  const texts: string[] = [];
  for (const segment of segments) {
    texts.push(JSON.stringify(segment));
    yield;
  }
  return `[${texts.join(",")}]`;
}

/** Returns the segments of the version that was saved last; undefined if they are not known. */
function segmentsBefore({
  base,
  openedVersion,
  saved,
}: EditSession): readonly SegmentJson[] | undefined {
  return saved.segments ?? (saved.version === openedVersion ? base.segments : undefined);
}

/**
 * Returns the version on which a session is saved: the current one, if only its metadata is new.
 */
export function versionToChange(saved: SavedText, current: TranscriptJson): string | undefined {
  return current.segments === saved.segments ? current.version?.name : saved.version;
}
