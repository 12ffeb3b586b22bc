/**
 * Query parameters that any call may carry (docs/api.md, JSON); names that begin with "$" are
 * skipped too.
 */
export const systemParameters = ["token", "key", "alt", "prettyPrint", "fields"] as const;
