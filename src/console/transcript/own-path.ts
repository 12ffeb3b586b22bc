/**
 * A signed URL of the service as a path on this page's origin. The signature covers path and query
 * only, and a service with several host names signs with one of them, which the page's policy may
 * not allow.
 */
export function ownPath(signedUrl: string): string {
  const { pathname, search } = new URL(signedUrl, location.href);
  return pathname.slice(Math.max(0, pathname.lastIndexOf("/media/"))) + search;
}
