import { createContextKey, type HandlerContext } from "@connectrpc/connect";
import { ServiceError } from "../std/service-error.ts";

/** What a key may do (decisions: Access). */
export const scopes = ["transcripts.read", "transcripts.write", "speech", "account"] as const;
export type Scope = (typeof scopes)[number];

/** Who calls: the account that owns what is made and seen, and the key that was shown. */
export interface Caller {
  readonly accountId: string;
  readonly keyId: string;
  readonly scopes: ReadonlySet<Scope>;
}

/** Where the doors put the caller before a method runs. */
export const callerKey = createContextKey<Caller | undefined>(undefined, {
  description: "the authenticated caller",
});

/** The caller of a method. Every door authenticates first; without it the call is refused. */
export function callerOf(context: Pick<HandlerContext, "values">): Caller {
  const caller = context.values.get(callerKey);
  if (!caller) throw new ServiceError("unauthenticated", "this method needs a token");
  return caller;
}
