/**
 * A signed URL of the service as a path on this page's origin. The signature covers only path and
 * query. If a service has several host names, its URLs have one of them, which the page's policy
 * may not allow.
 */
export function ownPath(signedUrl: string): string {
  const { pathname, search } = new URL(signedUrl, location.href);
  return pathname.slice(Math.max(0, pathname.lastIndexOf("/media/"))) + search;
}
