import { queryOptions } from "@tanstack/react-query";
import type {
  ApiKeyJson,
  ClientKeyJson,
  KeyLimitsJson,
  ListApiKeysResponseJson,
  ListClientKeysResponseJson,
} from "../../gen/hlust/accounts/v1/accounts_pb.ts";
import { callApi } from "../api/call-api.ts";

/** The operations that a key may be allowed (docs/api.md, Access). */
export const scopes = [
  "transcripts.read",
  "transcripts.write",
  "speech",
  "account",
  "operator",
] as const;
export type Scope = (typeof scopes)[number];

/** An API key or a client key, as lists show it. */
export interface Key {
  /** The name: "apiKeys/<id>" or "clientKeys/<id>". */
  readonly name: string;
  readonly displayName: string;
  readonly scopes: readonly string[];
  /**
   * The text by which the owner recognizes the key: the prefix of its secret or its algorithm, and
   * the beginning and end of its id.
   */
  readonly label: string;
  readonly creationTime: string;
  readonly expireTime: string | undefined;
  readonly lastUseTime: string | undefined;
  readonly limits: KeyLimitsJson;
  /** The time until which the secret before the last rotation is valid too. */
  readonly previousSecretExpireTime: string | undefined;
}

/** The names of the limits of a key. */
export const limitNames = [
  "requestsPerMinute",
  "concurrentStreams",
  "queuedJobs",
  "audioSecondsPerDay",
] as const satisfies readonly (keyof KeyLimitsJson)[];
export type LimitName = (typeof limitNames)[number];

export const apiKeysQuery = queryOptions({
  queryKey: ["keys", "api"],
  queryFn: async ({ signal }) => {
    const { apiKeys = [] } = await callApi<ListApiKeysResponseJson>("/v1/apiKeys", { signal });
    return apiKeys.map((key) => keyOf(key, `hlust_${shortId(key)}`));
  },
});

export const clientKeysQuery = queryOptions({
  queryKey: ["keys", "client"],
  queryFn: async ({ signal }) => {
    const { clientKeys = [] } = await callApi<ListClientKeysResponseJson>("/v1/clientKeys", {
      signal,
    });
    return clientKeys.map((key) => keyOf(key, `${key.algorithm} · ${shortId(key)}`));
  },
});

/**
 * Returns a short form of an id. Ids begin with their creation time and end with random characters.
 */
function shortId({ name = "" }: ApiKeyJson | ClientKeyJson): string {
  const id = name.slice(name.indexOf("/") + 1);
  return `${id.slice(0, 8)}…${id.slice(-4)}`;
}

function keyOf(key: ApiKeyJson | ClientKeyJson, label: string): Key {
  return {
    name: key.name ?? "",
    displayName: key.displayName ?? "",
    scopes: key.scopes ?? [],
    label,
    creationTime: key.creationTime ?? "",
    expireTime: key.expireTime,
    lastUseTime: key.lastUseTime,
    limits: key.limits ?? {},
    previousSecretExpireTime:
      "previousSecretExpireTime" in key ? key.previousSecretExpireTime : undefined,
  };
}
