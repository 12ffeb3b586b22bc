import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Kysely } from "kysely";
import { callerOf, type Caller } from "../auth/caller.ts";
import type { Tables } from "../database/tables.ts";
import type { ReportPresenceRequest } from "../gen/hlust/transcripts/v1alpha1/presence_pb.ts";
import type { Transcripts } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ServiceError, shown, Violations } from "../std/service-error.ts";
import { nanosecondsOf, timeTrouble } from "./check-segments.ts";
import { addPresence, removePresence, renewPresence } from "./presence-store.ts";
import { transcriptIdIn, transcriptNotFound } from "./resource-names.ts";

/** The maximum number of clients that have one transcript open. */
export const participantsMax = 50;
export const sessionCharsMax = 64;
export const sessionPattern = /^[!-~]+$/;
/** The time after which another client may have left. */
const retryAfterMs = 15_000;

/** The method with which clients report that they have a transcript open. */
export function presenceMethods({ db }: { readonly db: Kysely<Tables> }) {
  return {
    async reportPresence(request, context) {
      const caller = callerOf(context);
      const { name, session, leave } = request;
      const transcriptId = transcriptIdIn(name);
      checkPresence(request);
      const { accountId, actor } = caller;
      const client = { accountId, transcriptId, actor, session };
      if (leave) {
        if (!(await hasTranscript(db, client))) throw transcriptNotFound(name);
        await removePresence(db, client);
        return create(EmptySchema);
      }
      if (request.editing) refuseReader(caller);
      const position = request.position ? nanosecondsOf(request.position) : null;
      const presence = { isEditing: request.editing, position };
      if (await renewPresence(db, client, presence)) return create(EmptySchema);
      const added = await db
        .transaction()
        .execute(
          async (trx) =>
            await addPresence(trx, client, { ...presence, clientsMax: participantsMax }),
        );
      if (added === "no transcript") throw transcriptNotFound(name);
      if (added === "full") throw presenceFull();
      return create(EmptySchema);
    },
  } satisfies Partial<ServiceImpl<typeof Transcripts>>;
}

function checkPresence({ session, position, leave }: ReportPresenceRequest): void {
  const violations = new Violations();
  if (session === "") violations.add("session", "is required");
  else if (session.length > sessionCharsMax) {
    const description = `has ${session.length} characters; at most ${sessionCharsMax} are allowed`;
    violations.add("session", description);
  } else if (!sessionPattern.test(session)) {
    violations.add("session", `must be visible ASCII characters, not ${shown(session)}`);
  }
  const trouble = position && !leave ? timeTrouble(position) : undefined;
  if (trouble !== undefined) violations.add("position", trouble);
  violations.throwIfAny();
}

async function hasTranscript(
  db: Kysely<Tables>,
  { accountId, transcriptId }: { readonly accountId: string; readonly transcriptId: string },
): Promise<boolean> {
  const row = await db
    .selectFrom("transcript")
    .where("account_id", "=", accountId)
    .where("id", "=", transcriptId)
    .select("id")
    .executeTakeFirst();
  return row !== undefined;
}

/** Refuses callers who cannot change transcripts, and so cannot edit this one. */
function refuseReader({ scopes }: Caller): void {
  const scope = "transcripts.write";
  if (scopes.has(scope)) return;
  throw new ServiceError("permission_denied", `editing: you lack the scope ${scope}`, {
    reason: "SCOPE_MISSING",
    metadata: { scope },
  });
}

function presenceFull(): ServiceError {
  return new ServiceError(
    "resource_exhausted",
    `the transcript has ${participantsMax} participants already: try again later`,
    { reason: "PRESENCE_FULL", retryAfterMs },
  );
}
