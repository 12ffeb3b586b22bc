import type { ServiceImpl } from "@connectrpc/connect";
import type { Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import type { Transcripts } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { MediaStore } from "../media/media-store.ts";
import type { SignedUrls } from "../media/signed-url.ts";
import type { Uploads } from "../media/uploads.ts";
import type { HeldBytes } from "../std/held-bytes.ts";
import type { Log } from "../std/log.ts";
import type { PageTokens } from "../std/page-token.ts";
import type { NodeWatches } from "../watches/node-watches.ts";
import { binMethods } from "./bin-methods.ts";
import { countMethods } from "./count-methods.ts";
import { draftMethods } from "./draft-methods.ts";
import { fileMethods } from "./file-methods.ts";
import { firstWordsMethods } from "./first-words.ts";
import { listMethods } from "./list-methods.ts";
import { modifyMethods } from "./modify-methods.ts";
import type { ReadTranscript } from "./read-transcript.ts";
import { presenceMethods } from "./presence-methods.ts";
import { readingMethods } from "./reading-methods.ts";
import { reviewMethods } from "./review-methods.ts";
import type { SearchLimitsOf } from "./search-limits.ts";
import { shareMethods } from "./share-methods.ts";
import { signedExportMethods } from "./signed-exports.ts";
import type { TranscriptWatchers } from "./transcript-watchers.ts";
import { uploadMethods } from "./upload-methods.ts";
import { versionMethods } from "./version-methods.ts";
import { watchMethods } from "./watch-methods.ts";
import { writingMethods } from "./writing-methods.ts";

/** The methods of Transcripts that do not concern jobs: §4.3 to §4.7, and the versions of §9. */
export function createTranscriptsService(parts: {
  readonly db: Kysely<Tables>;
  readonly store: MediaStore;
  readonly urls: SignedUrls;
  readonly uploads: Uploads;
  readonly pageTokens: PageTokens;
  readonly read: ReadTranscript;
  /** The memory for answers, including those that are still being created. */
  readonly answers: HeldBytes;
  readonly log: Log;
  readonly searchLimits: SearchLimitsOf;
  /** The storage limit in bytes for accounts that have none of their own. Default: unlimited. */
  readonly storedBytesMax?: number;
  /** The public address of the service. */
  readonly publicUrl: () => string;
  /** What all watches of this node share. */
  readonly watches: NodeWatches;
  /** The watches of single transcripts of this node. */
  readonly transcriptWatchers: TranscriptWatchers;
  /** The number of days that transcripts stay in the bin; 0: there is no bin. Default: 30. */
  readonly binDays?: number;
  readonly now?: () => number;
}) {
  const { read } = parts;
  return {
    ...listMethods(parts),
    ...countMethods(parts),
    ...firstWordsMethods(parts),
    ...watchMethods(parts),
    ...readingMethods(read, parts),
    ...writingMethods(parts),
    ...binMethods(parts),
    ...modifyMethods(read, parts),
    ...versionMethods(read, parts),
    ...draftMethods(parts),
    ...reviewMethods(parts),
    ...presenceMethods(parts),
    ...uploadMethods(parts),
    ...fileMethods(read, parts),
    ...signedExportMethods(parts),
    ...shareMethods(parts),
  } satisfies Partial<ServiceImpl<typeof Transcripts>>;
}
