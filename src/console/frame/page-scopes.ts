const pageScopes: Readonly<Record<string, string>> = {
  "/live": "speech",
  "/import": "transcripts.write",
  "/keys": "account",
  "/webhooks": "account",
  "/account/settings": "account",
  "/operator": "operator",
};

/**
 * Whether a page has something for a user with these scopes. Others are in no menu, and no key
 * opens them.
 */
export function mayOpen(path: string, scopes: readonly string[]): boolean {
  const scope = pageScopes[path];
  return scope === undefined || scopes.includes(scope);
}
