/**
 * Returns whether the host of a URL is this machine itself, which browsers and OpenID providers
 * trust without TLS.
 */
export function isLoopbackHost(hostname: string): boolean {
  return /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}
