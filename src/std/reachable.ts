/**
 * Where a server that is bound to an address can be called from this machine: every interface is
 * also the local one.
 */
export function reachable(address: string): string {
  return address.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}
