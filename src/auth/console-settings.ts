import { type Kysely, sql } from "kysely";
import type { Tables } from "../database/tables.ts";
import type { Session } from "./session-store.ts";

/** What members and API keys have chosen in the console, as JSON that only its pages read. */
export interface ConsoleSettings {
  /** Returns the JSON object that the session's user has saved; "{}" if there is none. */
  read(session: Pick<Session, "actor">): Promise<string>;
  /** Replaces the settings of the session's user. */
  save(session: Pick<Session, "accountId" | "actor">, settings: string): Promise<void>;
}

export function consoleSettings(db: Kysely<Tables>): ConsoleSettings {
  return {
    async read({ actor }) {
      const row = await db
        .selectFrom("console_settings")
        .select("settings")
        .where("actor", "=", actor)
        .executeTakeFirst();
      return row?.settings ?? "{}";
    },

    async save({ accountId, actor }, settings) {
      const [kind, id = ""] = actor.split("/");
      const owner = kind === "members" ? { member_id: id } : { api_key_id: id };
      await db
        .insertInto("console_settings")
        .values({ account_id: accountId, member_id: null, api_key_id: null, ...owner, settings })
        .onConflict((conflict) =>
          conflict.column("actor").doUpdateSet({ settings, updated_at: sql<Date>`now()` }),
        )
        .execute();
    },
  };
}
