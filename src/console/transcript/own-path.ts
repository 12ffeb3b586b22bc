/**
 * A signed URL of the service as a path of this page's own origin: only path and query are signed,
 * and a service that is reached by several names signs with one of them, which the policy of the
 * page may not let it ask.
 */
export function ownPath(signedUrl: string): string {
  const { pathname, search } = new URL(signedUrl, location.href);
  return pathname.slice(Math.max(0, pathname.lastIndexOf("/media/"))) + search;
}
