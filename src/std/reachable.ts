/**
 * Returns the address at which this machine can call a server bound to `address`: "every interface"
 * includes the loopback interface.
 */
export function reachable(address: string): string {
  return address.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}
