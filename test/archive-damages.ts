import { createHash } from "node:crypto";
import { readFile, rm, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import type { FindingCode } from "../src/fsck/finding.ts";
import { newId } from "../src/std/ids.ts";
import { aged, bytesOf, damage, fileOf, newMedia, packed, type Kept } from "./archive-fixture.ts";
import type { TestTranscripts } from "./open-test-transcripts.ts";

const hourMs = 3_600_000;

export interface Damage {
  readonly what: string;
  readonly damage: (test: TestTranscripts, kept: Kept) => Promise<unknown>;
  readonly found: readonly FindingCode[];
  /** Whether --repair leaves nothing. Default: nothing is repaired. */
  readonly isMended?: boolean;
}

const heads: Damage[] = [
  {
    what: "a head that names no version, and is the same as the newest",
    damage: (test, { id }) =>
      damage(test, sql`update transcript set version_id = ${newId()} where id = ${id}`),
    found: ["HEAD_VERSION_MISSING"],
    isMended: true,
  },
  {
    what: "a newest version that is lost, of which only the head is left",
    damage: async (test, { id, versions }) => {
      await damage(test, sql`delete from transcript_version where id = ${versions[2]}`);
      await damage(
        test,
        sql`update transcript set subject = 'nýtt', metadata = metadata || '{"subject": "Nýtt"}' where id = ${id}`,
      );
    },
    found: ["HEAD_VERSION_MISSING"],
  },
  {
    what: "a head that names an older version",
    damage: (test, { id, versions }) =>
      damage(test, sql`update transcript set version_id = ${versions[0]} where id = ${id}`),
    found: ["HEAD_NOT_NEWEST", "HEAD_PARENT", "HEAD_TIME"],
    isMended: true,
  },
  {
    what: "a head with other metadata",
    damage: (test, { id }) =>
      damage(test, sql`update transcript set metadata = '{"languageCode": "en"}' where id = ${id}`),
    found: ["HEAD_METADATA", "HEAD_SUBJECT", "HEAD_KEYWORDS"],
    isMended: true,
  },
  {
    what: "a head with another parent and time",
    damage: (test, { id }) =>
      damage(
        test,
        sql`update transcript set parent_version_id = null, updated_at = ${aged} where id = ${id}`,
      ),
    found: ["HEAD_PARENT", "HEAD_TIME"],
    isMended: true,
  },
  {
    what: "a subject that is folded otherwise, keywords in another order",
    damage: (test, { id }) =>
      damage(
        test,
        sql`update transcript set subject = 'Þ', keywords = '{fundur,þing}' where id = ${id}`,
      ),
    found: ["HEAD_SUBJECT", "HEAD_KEYWORDS"],
    isMended: true,
  },
];

const chains: Damage[] = [
  {
    what: "a gap",
    damage: (test, { versions }) =>
      damage(test, sql`delete from transcript_version where id = ${versions[1]}`),
    found: ["VERSION_PARENT_MISSING", "SEGMENTS_UNUSED"],
  },
  {
    what: "two roots",
    damage: (test, { versions }) =>
      damage(test, sql`update transcript_version set parent_id = null where id = ${versions[1]}`),
    found: ["VERSION_ROOTS", "VERSION_ROOTS"],
  },
  {
    what: "a fork",
    damage: (test, { id, versions }) =>
      damage(
        test,
        sql`update transcript_version set parent_id = ${versions[0]} where id = ${versions[2]} and transcript_id = ${id}`,
      ),
    found: ["HEAD_PARENT", "VERSION_FORK", "VERSION_FORK"],
  },
  {
    what: "a time that does not rise",
    damage: (test, { versions }) =>
      damage(
        test,
        sql`update transcript_version set created_at = ${aged} where id = ${versions[1]}`,
      ),
    found: ["VERSION_TIME"],
  },
  {
    what: "a cycle",
    damage: (test, { versions }) =>
      damage(
        test,
        sql`update transcript_version set parent_id = ${versions[1]} where id = ${versions[0]}`,
      ),
    found: [
      "VERSION_FORK",
      "VERSION_FORK",
      "VERSION_TIME",
      "VERSION_CYCLE",
      "VERSION_CYCLE",
      "VERSION_CYCLE",
    ],
  },
  {
    what: "a lost head, its versions and segments left",
    damage: (test, { id }) => damage(test, sql`delete from transcript where id = ${id}`),
    found: ["VERSION_UNOWNED", "VERSION_UNOWNED", "VERSION_UNOWNED", "UPLOAD_TRANSCRIPT"],
  },
];

const { sha256, zstd } = packed('[{"speakerId":7}]');
const segments: Damage[] = [
  {
    what: "lost",
    damage: (test, { id, versions }) =>
      damage(
        test,
        sql`delete from transcript_segments s using transcript_version v
        where v.id = ${versions[1]} and s.transcript_id = ${id} and s.sha256 = v.segments_sha256`,
      ),
    found: ["SEGMENTS_MISSING"],
  },
  {
    what: "cut off",
    damage: (test, { id, versions }) =>
      damage(
        test,
        sql`update transcript_segments s set json_zstd = substr(json_zstd, 1, 20) from transcript_version v
        where v.id = ${versions[1]} and s.transcript_id = ${id} and s.sha256 = v.segments_sha256`,
      ),
    found: ["SEGMENTS_UNREADABLE"],
  },
  {
    what: "of another text",
    damage: (test, { id, versions }) =>
      damage(
        test,
        sql`update transcript_segments s set json_zstd = ${packed("[]").zstd} from transcript_version v
        where v.id = ${versions[1]} and s.transcript_id = ${id} and s.sha256 = v.segments_sha256`,
      ),
    found: ["SEGMENTS_ALTERED"],
  },
  {
    what: "with a wrong length",
    damage: (test, { id }) =>
      damage(
        test,
        sql`update transcript_segments set json_bytes = json_bytes + sign(random() - 0.5)::int where transcript_id = ${id}`,
      ),
    found: ["SEGMENTS_LENGTH", "SEGMENTS_LENGTH"],
    isMended: true,
  },
  {
    what: "that are none",
    damage: async (test, { id, versions }) => {
      await damage(
        test,
        sql`insert into transcript_segments values (${id}, ${sha256}, ${zstd}, 17)`,
      );
      await damage(
        test,
        sql`update transcript_version set segments_sha256 = ${sha256} where id = ${versions[2]}`,
      );
    },
    found: ["SEGMENTS_INVALID"],
  },
  {
    what: "that no version refers to",
    damage: (test, { id }) =>
      damage(
        test,
        sql`insert into transcript_segments values (${id}, ${packed("[]").sha256}, ${packed("[]").zstd}, 2)`,
      ),
    found: ["SEGMENTS_UNUSED"],
    isMended: true,
  },
];

const media: Damage[] = [
  {
    what: "lost",
    damage: (test, { mediaId }) => rm(fileOf(test, mediaId)),
    found: ["MEDIA_MISSING"],
  },
  {
    what: "cut off",
    damage: (test, { mediaId }) => truncate(fileOf(test, mediaId), 5),
    found: ["MEDIA_LENGTH"],
  },
  {
    what: "altered",
    damage: async (test, { mediaId }) => {
      const file = fileOf(test, mediaId);
      const hash = createHash("sha256")
        .update(await readFile(file))
        .digest();
      await damage(test, sql`update media set sha256 = ${hash} where id = ${mediaId}`);
      await writeFile(file, "RIFF of a recordinG");
    },
    found: ["MEDIA_ALTERED"],
  },
  {
    what: "that nothing refers to",
    damage: (test) => newMedia(test, test.accountId, aged),
    found: ["MEDIA_UNUSED"],
  },
  {
    what: "with a waveform that lacks a part",
    damage: (test, { mediaId }) =>
      damage(
        test,
        sql`with piece as (insert into media_peaks values (${mediaId}, 1, '\\x0001'))
        update media set peaks_count = 1, described_at = now() where id = ${mediaId}`,
      ),
    found: ["MEDIA_FACTS"],
    isMended: true,
  },
  {
    what: "without a record, an hour old",
    damage: async (test) => {
      const id = newId();
      await test.store.put(id, bytesOf("lost"), { bytesMax: 10 });
      const then = new Date(Date.now() - hourMs * 1.1);
      await utimes(fileOf(test, id), then, then);
    },
    found: ["MEDIA_UNRECORDED"],
    isMended: true,
  },
  {
    what: "that was set aside and has a record again",
    damage: (test, { mediaId }) => test.store.removed.add(mediaId),
    found: ["MEDIA_SET_ASIDE", "MEDIA_MISSING"],
    isMended: true,
  },
  {
    what: "that was set aside, which is as it should be",
    damage: async (test) => {
      const id = newId();
      await test.store.put(id, bytesOf("lost"), { bytesMax: 10 });
      await test.store.removed.add(id);
    },
    found: [],
  },
  {
    what: "without a record, on its way",
    damage: (test) => test.store.put(newId(), bytesOf("new"), { bytesMax: 10 }),
    found: [],
  },
  {
    what: "whose put ended an hour ago",
    damage: async (test) => {
      const file = join(test.mediaFolder, "unfinished", `${newId()}.unknown-1`);
      await writeFile(file, "half");
      const then = new Date(Date.now() - hourMs * 1.1);
      await utimes(file, then, then);
    },
    found: ["MEDIA_UNFINISHED"],
    isMended: true,
  },
];

const others: Damage[] = [
  {
    what: "a transcript with another account's media",
    damage: async (test, { id }) => {
      const mediaId = await newMedia(test, await test.newAccount());
      await damage(test, sql`update transcript set media_id = ${mediaId} where id = ${id}`);
    },
    found: ["TRANSCRIPT_MEDIA"],
  },
  {
    what: "media without its row",
    damage: (test, { mediaId }) => damage(test, sql`delete from media where id = ${mediaId}`),
    found: ["TRANSCRIPT_MEDIA", "UPLOAD_MEDIA"],
  },
  {
    what: "an upload to another account's transcript",
    damage: async (test) => {
      const accountId = await test.newAccount();
      await damage(test, sql`update upload set account_id = ${accountId}, media_id = null`);
    },
    found: ["UPLOAD_TRANSCRIPT"],
  },
  {
    what: "a job that ended well without a transcript",
    damage: (test) => damage(test, newJob(test, { state: "SUCCESS", transcriptId: null })),
    found: ["JOB_TRANSCRIPT"],
  },
  {
    what: "a job whose transcript was deleted",
    damage: (test) => damage(test, newJob(test, { state: "SUCCESS", transcriptId: newId() })),
    found: [],
  },
  {
    what: "a job with another account's media",
    damage: async (test) => {
      const mediaId = await newMedia(test, await test.newAccount());
      await damage(test, newJob(test, { state: "FAILED", mediaId }));
    },
    found: ["JOB_MEDIA"],
  },
  {
    what: "a job that is in no queue",
    damage: (test) => damage(test, newJob(test, { state: "PROCESSING" })),
    found: ["JOB_NOT_QUEUED"],
  },
];

function newJob(
  test: TestTranscripts,
  job: {
    state: string;
    transcriptId?: string | null;
    mediaId?: string | null;
  },
): ReturnType<typeof sql> {
  const { state, transcriptId = null, mediaId = null } = job;
  return sql`insert into transcript_job (id, account_id, state, metadata, transcript_id, media_id)
    values (${newId()}, ${test.accountId}, ${state}, '{}', ${transcriptId}, ${mediaId})`;
}

/** Every damage, by what it is done to. */
export const damages: Readonly<Record<string, readonly Damage[]>> = {
  heads,
  chains,
  segments,
  media,
  others,
};
