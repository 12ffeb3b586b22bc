import { constants, zstdDecompressSync } from "node:zlib";
import type { ServiceImpl } from "@connectrpc/connect";
import { sql, type Kysely } from "kysely";
import { callerOf } from "../auth/caller.ts";
import type { Tables } from "../database/tables.ts";
import type { Transcripts } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { idsNamed } from "./named-transcripts.ts";

/** The number of characters after which no word is added. */
const charsMax = 200;
/**
 * The number of packed bytes that are read of a transcript. They contain the first block of zstd,
 * of at most 128 KiB of JSON, unless it has hardly been compressed.
 */
const packedBytesMax = 48 << 10;

/**
 * The method that returns the first words and the subjects of transcripts, without reading their
 * whole text.
 */
export function firstWordsMethods({ db }: { readonly db: Kysely<Tables> }) {
  return {
    async listFirstWords({ names }, context) {
      const { accountId } = callerOf(context);
      const ids = idsNamed(names);
      const { rows } = await sql<{ id: string; subject: string | null; start: Buffer }>`
        select t.id, t.metadata ->> 'subject' as subject,
          substring(s.json_zstd from 1 for ${packedBytesMax}) as start
        from transcript t
        join transcript_version v on v.id = t.version_id
        join transcript_segments s
          on s.transcript_id = v.transcript_id and s.sha256 = v.segments_sha256
        where t.account_id = ${accountId} and t.id = any(${[...ids]}::uuid[])
      `.execute(db);
      const found = new Map(rows.map((row) => [row.id, row]));
      const firstWords = ids.flatMap((id) => {
        const row = found.get(id);
        if (!row) return [];
        const { subject, start } = row;
        return [{ name: `transcripts/${id}`, text: firstWordsOf(start), subject: subject ?? "" }];
      });
      return { firstWords };
    },
  } satisfies Partial<ServiceImpl<typeof Transcripts>>;
}

/** The beginning of a segment, or a word. */
const startOrWord = /"words":\[|"word":("(?:[^"\\]|\\.)*")/g;

/** Returns the first words in the beginning of packed segments. */
function firstWordsOf(packed: Uint8Array): string {
  // A text that is cut off is decompressed as far as it goes.
  const json = zstdDecompressSync(packed, { finishFlush: constants.ZSTD_e_flush }).toString();
  let text = "";
  // The last word of a segment may have no space, which lines show by their ends.
  for (const [, quoted = '" "'] of json.matchAll(startOrWord)) {
    const read: unknown = JSON.parse(quoted);
    if (typeof read === "string") text += read;
    if (text.length >= charsMax) break;
  }
  return text.trim().replaceAll(/\s+/g, " ");
}
