/**
 * The query parameters that any call can have and that are ignored (docs/api.md, JSON), in addition
 * to names that begin with "$".
 */
export const systemParameters = ["token", "key", "alt", "prettyPrint", "fields"] as const;
