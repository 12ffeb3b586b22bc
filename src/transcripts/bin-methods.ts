import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Kysely, Transaction } from "kysely";
import { audited } from "../auth/audit-log.ts";
import { callerOf, type Caller } from "../auth/caller.ts";
import type { Tables } from "../database/tables.ts";
import type { Transcripts } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { deleteBytes, releaseAll } from "../media/media-records.ts";
import type { MediaStore } from "../media/media-store.ts";
import { durationFromMs } from "../std/duration.ts";
import type { Log } from "../std/log.ts";
import { readPageRequest } from "../std/page-request.ts";
import type { PageTokens } from "../std/page-token.ts";
import { invalidArgument } from "../std/service-error.ts";
import { idsNamed } from "./named-transcripts.ts";
import { dayMs } from "./empty-bins.ts";
import {
  deleteTranscripts,
  listBinned,
  putIntoBin,
  takeFromBin,
  type DeletedTranscript,
  type ListedBinned,
} from "./bin-store.ts";

interface BinParts {
  readonly db: Kysely<Tables>;
  readonly store: Pick<MediaStore, "delete" | "keepsAll">;
  readonly pageTokens: PageTokens;
  readonly log: Log;
  /** The number of days that transcripts stay in the bin; 0: there is no bin. Default: 30. */
  readonly binDays?: number;
  readonly now?: () => number;
}

/** The methods of the bin. A transcript in it does not exist for any other method. */
export function binMethods(parts: BinParts) {
  const { db, pageTokens, binDays = 30, now = Date.now } = parts;
  const deleteTimeOf = (binnedAt: Date) =>
    timestampFromDate(new Date(binnedAt.getTime() + binDays * dayMs));

  /** Deletes transcripts, and after the commit their media. Returns the ids. */
  const deleteFrom = async (caller: Caller, from: "bin" | "lists", ids: readonly string[]) => {
    const { deleted, free } = await audited(parts, caller, async (trx, record) => {
      const gone = await deleteTranscripts(trx, { accountId: caller.accountId, from }, ids);
      for (const { id } of gone) {
        await record({ action: "transcript.delete", resource: `transcripts/${id}` });
      }
      return { deleted: gone, free: await releaseMediaOf(trx, gone) };
    });
    await deleteBytes(parts, free, "transcript_deleted");
    return new Set(deleted.map(({ id }) => id));
  };

  return {
    async binTranscripts({ names }, context) {
      const caller = callerOf(context);
      const ids = idsNamed(names);
      if (binDays === 0) return split(names, await deleteFrom(caller, "lists", ids));
      const binnedAt = new Date(now());
      const binned = await audited(parts, caller, async (trx, record) => {
        const put = await putIntoBin(trx, caller, ids, binnedAt);
        for (const id of put) {
          await record({ action: "transcript.bin", resource: `transcripts/${id}` });
        }
        return put;
      });
      return { ...split(names, binned), deleteTime: deleteTimeOf(binnedAt) };
    },

    async listBinnedTranscripts(request, context) {
      const { accountId } = callerOf(context);
      const scope = { collection: "binnedtranscripts", accountId, filter: "" };
      const page = readPageRequest(pageTokens, scope, request);
      if ("length" in page) throw invalidArgument(page);
      const rows = await listBinned(db, accountId, page);
      const shown = rows.slice(0, page.size);
      const last = rows.length > page.size ? shown.at(-1) : undefined;
      return {
        binnedTranscripts: shown.map((row) => binnedMessage(row, deleteTimeOf)),
        nextPageToken: last ? pageTokens.write(scope, [last.position, last.id]) : "",
        binDays,
      };
    },

    async restoreBinnedTranscripts({ names }, context) {
      const caller = callerOf(context);
      const ids = idsNamed(names);
      const restored = await audited(parts, caller, async (trx, record) => {
        const taken = await takeFromBin(trx, caller.accountId, ids);
        for (const id of taken) {
          await record({ action: "transcript.restore", resource: `transcripts/${id}` });
        }
        return taken;
      });
      return split(names, restored);
    },

    async deleteBinnedTranscripts({ names }, context) {
      return split(names, await deleteFrom(callerOf(context), "bin", idsNamed(names)));
    },
  } satisfies Partial<ServiceImpl<typeof Transcripts>>;
}

async function releaseMediaOf(
  trx: Transaction<Tables>,
  deleted: readonly DeletedTranscript[],
): Promise<readonly string[]> {
  const media = deleted.flatMap(({ mediaId }) => (mediaId === null ? [] : [mediaId]));
  return await releaseAll(trx, [...new Set(media)]);
}

/** Divides the names of a request into those that something was done with, and the others. */
function split(names: readonly string[], done: ReadonlySet<string>) {
  const isDone = (name: string) => done.has(name.slice("transcripts/".length));
  const all = [...new Set(names)];
  return { names: all.filter(isDone), missing: all.filter((name) => !isDone(name)) };
}

function binnedMessage(
  row: ListedBinned,
  deleteTimeOf: (binnedAt: Date) => ReturnType<typeof timestampFromDate>,
) {
  return {
    name: `transcripts/${row.id}`,
    subject: row.subject,
    languageCode: row.language_code,
    ...(row.listed_ms !== null && { recordingDuration: durationFromMs(row.listed_ms) }),
    binTime: timestampFromDate(row.binned_at),
    deleteTime: deleteTimeOf(row.binned_at),
    author: row.binned_by,
    authorName: row.author_name,
  };
}
