/**
 * Query parameters that any call may carry (api: JSON); names that begin with "$" are skipped too.
 */
export const systemParameters = ["token", "key", "alt", "prettyPrint", "fields"] as const;
