/**
 * Converts a signed URL of the service to a path on this page's origin. The signature covers only
 * the path and query. A service may have several host names, and the page's policy may not allow
 * the one in its URLs.
 */
export function ownPath(signedUrl: string): string {
  const { pathname, search } = new URL(signedUrl, location.href);
  return pathname.slice(Math.max(0, pathname.lastIndexOf("/media/"))) + search;
}
