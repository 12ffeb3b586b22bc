import { queryOptions } from "@tanstack/react-query";
import type {
  ListTranscriptVersionsResponseJson,
  TranscriptJson,
  VersionJson,
} from "../../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { callApi } from "../../../api/call-api.ts";
import type { RestoredVersion } from "../editor/restore.ts";
import { baseOf } from "../model/base.ts";

/** The first version of a transcript. */
export interface OriginalVersion extends RestoredVersion {
  /** How it was made; "first" if that is not known. */
  readonly made: "recognized" | "imported" | "first";
}

/** The most versions of a page. */
const pageSize = 1_000;

/**
 * The first version of a transcript, which is the only one that can be RECOGNIZED. It is fetched
 * unless `current`, the version that is edited, is the first one.
 */
export function originalQuery(name: string, current: TranscriptJson) {
  return queryOptions({
    queryKey: ["transcript-original", name, current.version?.name],
    queryFn: async ({ signal }): Promise<OriginalVersion> => {
      const { version } = current;
      if (version?.parent === "") return originalOf(current, { hasTimes: true });
      const versions = await allVersions(name, signal);
      const first = versions.at(-1)?.name ?? "";
      const path = `/v1alpha1/${name}/versions/${encodeURIComponent(first)}`;
      const original = await callApi<TranscriptJson>(path, { signal });
      return originalOf(original, { hasTimes: !versions.some(({ kind }) => kind === "ALIGNED") });
    },
    structuralSharing: false,
    staleTime: Infinity,
  });
}

function originalOf(
  { segments = [], version }: TranscriptJson,
  { hasTimes }: { readonly hasTimes: boolean },
): OriginalVersion {
  const kind = version?.kind;
  const made = kind === "RECOGNIZED" ? "recognized" : kind === "IMPORTED" ? "imported" : "first";
  return { base: baseOf(segments), made, hasTimes };
}

/** Returns all versions, newest first. */
async function allVersions(name: string, signal: AbortSignal): Promise<VersionJson[]> {
  const versions: VersionJson[] = [];
  let pageToken = "";
  do {
    const page = new URLSearchParams({ pageSize: `${pageSize}`, pageToken });
    const found: ListTranscriptVersionsResponseJson = await callApi(
      `/v1alpha1/${name}/versions?${page}`,
      { signal },
    );
    versions.push(...(found.versions ?? []));
    pageToken = found.nextPageToken ?? "";
  } while (pageToken !== "");
  return versions;
}
