/**
 * The address at which this machine can call a server that is bound to an address: "every
 * interface" includes the loopback interface.
 */
export function reachable(address: string): string {
  return address.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}
