import { useQuery } from "@tanstack/react-query";
import type { AuditEventJson } from "../../gen/hlust/accounts/v1/accounts_pb.ts";
import { apiKeysQuery, clientKeysQuery } from "../keys/key.ts";
import { accountText } from "../text/account.ts";
import { useText } from "../text/language.tsx";
import { membersQuery } from "./account-query.ts";

/** Those who have done something in an account: members, keys and the operator. */
export interface Actors {
  /** Those that exist, followed by those that only the log still has, whether loaded or not. */
  readonly all: readonly string[];
  /** Returns the name of an actor, which the log has for those that were removed. */
  readonly nameOf: (actor: string) => string;
}

/**
 * Returns the actors of an account, and `logged`, those of its whole audit log. `events` are those
 * that are loaded, from which names are taken.
 */
export function useActors(events: readonly AuditEventJson[], logged: readonly string[]): Actors {
  const t = useText();
  const { data: members = [] } = useQuery(membersQuery);
  const { data: apiKeys = [] } = useQuery(apiKeysQuery);
  const { data: clientKeys = [] } = useQuery(clientKeysQuery);
  const present = new Map<string, string>([
    ["operator", t(accountText.operator)],
    ...members.map(({ name = "", displayName = "", email = "" }): [string, string] => [
      name,
      displayName || email,
    ]),
    ...[...apiKeys, ...clientKeys].map(({ name, displayName, label }): [string, string] => [
      name,
      displayName || label,
    ]),
  ]);
  const noted = notedNames(events);
  const nameOf = (actor: string): string => {
    const name = present.get(actor) ?? noted.get(actor);
    if (name !== undefined) return name;
    const [kind = "", id = ""] = actor.split("/");
    if (kind !== "members" && kind !== "apiKeys" && kind !== "clientKeys") return actor;
    // Two that were removed have the same kind, but not the same end of their id.
    return `${t(accountText.anyone[kind])} ${id.slice(-8)}`;
  };
  // An actor may have come since the first page was loaded.
  const ofLog = [...logged, ...events.map(({ actor = "" }) => actor)];
  return { all: [...new Set([...present.keys(), ...ofLog])].filter((one) => one !== ""), nameOf };
}

/** Returns the latest names that events have for the members and keys that they are about. */
function notedNames(events: readonly AuditEventJson[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { resource = "", details = {} } of events) {
    const name = details["displayName"] || details["email"];
    const isActor = /^(members|apiKeys|clientKeys)\//.test(resource);
    if (isActor && name && !names.has(resource)) names.set(resource, name);
  }
  return names;
}
