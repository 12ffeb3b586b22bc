import type {
  SegmentJson,
  TranscriptJson,
} from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { callApi } from "../../api/call-api.ts";
import type { EditSession } from "./edit-session.ts";
import { spokenTextSteps } from "../spoken-text.ts";
import { changesBetweenSteps, changesOfSteps, segmentsAfter } from "./model/changes.ts";
import { problemSteps } from "./model/problems.ts";
import { UnsavableTextError } from "./model/unsavable-text.ts";
import { inSlices } from "./saving/in-slices.ts";
import { changesJson, jsonBodySteps, segmentsJson } from "./saving/json-body.ts";
import { transcriptFrom } from "./saving/transcript-from.ts";

/**
 * Saves a text as a new version, and returns the transcript. Only the segments that differ from
 * those of the version that was saved last are sent, if they are known. If nothing has changed, no
 * version is created. Throws UnsavableTextError if the service would refuse the text, and ApiError:
 * its reason is VERSION_STALE if the transcript was changed elsewhere. `owner` is the user who has
 * edited it (identityOf): the service refuses to save it for anyone who has signed in since.
 */
export async function saveText(
  name: string,
  session: EditSession,
  { version, owner }: { readonly version: string | undefined; readonly owner: string },
): Promise<TranscriptJson> {
  const { base, paragraphs, speakers, retimings, saved, isMerged = false, note = "" } = session;
  // Long texts take hundreds of milliseconds, in which keys would wait.
  const edits = await inSlices(changesOfSteps(base, paragraphs, retimings));
  const problems = await inSlices(problemSteps(base, paragraphs, edits, retimings));
  if (problems.length > 0) throw new UnsavableTextError(problems);
  const segments = [...segmentsAfter(base, edits)];
  // The page needs it as soon as the text is saved.
  await inSlices(spokenTextSteps(segments));
  const metadata = speakers !== saved.speakers && { metadata: { speakers } };
  const before = segmentsBefore(session);
  const changes = before && (await inSlices(changesBetweenSteps(before, segments)));
  if (version !== undefined && changes?.length === 0 && !metadata && note === "") {
    const now = await transcriptFrom(`/v1alpha1/${name}`, { owner });
    if (now.version?.name === version) return { ...now, segments };
  }
  const headers = version === undefined ? {} : { "if-match": version };
  const isSame = version !== undefined && changes?.length === 0;
  if (isSame && (!metadata || Object.keys(speakers).length === 0)) {
    // A version needs a field, also if only its note is new.
    const query = queryOf({ updateMask: "metadata.speakers", isMerged, note });
    const body = { metadata: { speakers } };
    const call = { method: "PATCH", body, owner, headers } as const;
    return await transcriptFrom(`/v1alpha1/${name}?${query}`, call);
  }
  if (version === undefined || !changes) {
    const updateMask = metadata ? "segments,metadata.speakers" : "segments";
    return await transcriptFrom(`/v1alpha1/${name}?${queryOf({ updateMask, isMerged, note })}`, {
      method: "PATCH",
      body: await inSlices(jsonBodySteps({ ...metadata }, "segments", segmentsJson(segments))),
      owner,
      headers,
    });
  }
  const fields = { ...metadata, note, ...(isMerged && { merged: true }) };
  const now = await callApi<TranscriptJson>(`/v1alpha1/${name}:modifySegments`, {
    method: "POST",
    body: await inSlices(jsonBodySteps(fields, "changes", changesJson(changes))),
    headers,
    owner,
  });
  return { ...now, segments };
}

function queryOf({
  updateMask,
  isMerged,
  note,
}: {
  readonly updateMask: string;
  readonly isMerged: boolean;
  readonly note: string;
}): URLSearchParams {
  return new URLSearchParams({
    updateMask,
    ...(isMerged && { merged: "true" }),
    ...(note !== "" && { note }),
  });
}

/** Returns the segments of the version that was saved last; undefined if they are not known. */
function segmentsBefore({
  base,
  openedVersion,
  saved,
}: EditSession): readonly SegmentJson[] | undefined {
  return saved.segments ?? (saved.version === openedVersion ? base.segments : undefined);
}
