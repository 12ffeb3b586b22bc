import { create } from "@bufbuild/protobuf";
import { sql, type Kysely } from "kysely";
import { actorName } from "../auth/actor-name.ts";
import type { Tables } from "../database/tables.ts";
import { ParticipantSchema } from "../gen/hlust/transcripts/v1alpha1/presence_pb.ts";
import {
  WatchTranscriptResponseSchema,
  type WatchTranscriptResponse,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { durationFromNs, timestampFromDate } from "../std/duration.ts";
import { versionMessage } from "./transcript-message.ts";
import { originColumns, originOf, type StoredVersion } from "./transcript-store.ts";

/** What a watch of a transcript shows. */
export interface SeenTranscript {
  readonly version: StoredVersion;
  readonly reviewEtag: string;
  readonly participants: readonly SeenParticipant[];
}

interface SeenParticipant {
  readonly actor: string;
  readonly name: string;
  readonly session: string;
  readonly isEditing: boolean;
  readonly position: number | undefined;
  readonly updatedAt: Date;
  /** The time (performance.now()) at which it expires, unless it reports again. */
  readonly expiresAtMs: number;
}

/** Reads the present state of transcripts by their ids. Those that do not exist are missing. */
export async function readSeen(
  db: Kysely<Tables>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, SeenTranscript & { readonly accountId: string }>> {
  const participants = await readParticipants(db, ids);
  const rows = await db
    .selectFrom("transcript as t")
    .innerJoin("transcript_version as v", "v.id", "t.version_id")
    .leftJoin("transcript_review as r", "r.transcript_id", "t.id")
    .where("t.id", "in", [...ids])
    .where("t.account_id", "is not", null)
    .select("t.account_id")
    .$narrowType<{ account_id: string }>()
    .select(["t.id", "v.id as version_id", "v.parent_id", "v.created_at"])
    .select(["r.etag"])
    .select(originColumns())
    .execute();
  return new Map(
    rows.map((row) => [
      row.id,
      {
        accountId: row.account_id,
        version: {
          id: row.version_id,
          parentId: row.parent_id,
          createdAt: row.created_at,
          ...originOf(row),
        },
        reviewEtag: row.etag ?? "",
        participants: participants.get(row.id) ?? [],
      },
    ]),
  );
}

async function readParticipants(
  db: Kysely<Tables>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, SeenParticipant[]>> {
  const rows = await db
    .selectFrom("transcript_participant as p")
    .where("transcript_id", "in", [...ids])
    .where("expires_at", ">", sql<Date>`now()`)
    .select(["transcript_id", "actor", "session", "is_editing", "position_ns", "updated_at"])
    .select(actorName("p.actor").as("name"))
    .select(sql<number>`(extract(epoch from expires_at - now()) * 1000)::float8`.as("left_ms"))
    // Those who edit come first: clients may not show all.
    .orderBy("is_editing", "desc")
    .orderBy("actor")
    .orderBy("session")
    .execute();
  const now = performance.now();
  const byTranscript = Map.groupBy(rows, (row) => row.transcript_id);
  return new Map(
    Array.from(byTranscript, ([id, own]) => [
      id,
      own.map((row) => ({
        actor: row.actor,
        name: row.name,
        session: row.session,
        isEditing: row.is_editing,
        position: row.position_ns === null ? undefined : Number(row.position_ns),
        updatedAt: row.updated_at,
        expiresAtMs: now + row.left_ms,
      })),
    ]),
  );
}

/** Returns the state at a time (performance.now()), without participants that have expired. */
export function seenAt(seen: SeenTranscript, now: number): SeenTranscript {
  const participants = seen.participants.filter(({ expiresAtMs }) => expiresAtMs > now);
  return { ...seen, participants };
}

/** Returns whether both states show the same, apart from the times of reports. */
export function showSame(one: SeenTranscript, other: SeenTranscript): boolean {
  return textOf(one) === textOf(other);
}

function textOf({ version, reviewEtag, participants }: SeenTranscript): string {
  const clients = participants.map(({ actor, name, session, isEditing, position }) => [
    actor,
    name,
    session,
    isEditing,
    position ?? null,
  ]);
  return JSON.stringify([version.id, reviewEtag, clients]);
}

/** Creates the message of a watch; without a state, the one about a deleted transcript. */
export function seenMessage(seen: SeenTranscript | undefined): WatchTranscriptResponse {
  if (!seen) return create(WatchTranscriptResponseSchema, { deleted: true });
  return create(WatchTranscriptResponseSchema, {
    version: versionMessage(seen.version),
    reviewEtag: seen.reviewEtag,
    participants: seen.participants.map((participant) => {
      const { actor, name, session, isEditing, position, updatedAt } = participant;
      return create(ParticipantSchema, {
        actor,
        name,
        session,
        editing: isEditing,
        ...(position !== undefined && { position: durationFromNs(position) }),
        updateTime: timestampFromDate(updatedAt),
      });
    }),
  });
}
