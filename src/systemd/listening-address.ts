import koffi from "koffi";

/** Constants of Linux: the levels, options and families of sockets. */
const [socketLevel, acceptsOption, protocolOption, tcpProtocol] = [1, 30, 38, 6];
const [ipv4Family, ipv6Family] = [2, 10];
/** The size of a sockaddr_storage. */
const addressBytes = 128;

let functions: ReturnType<typeof bind> | undefined;

/**
 * Returns the address to which a descriptor is bound; undefined if it is not a TCP socket that
 * listens.
 */
export function listeningAddress(
  descriptor: number,
): { readonly host: string; readonly port: number } | undefined {
  if (optionOf(descriptor, protocolOption) !== tcpProtocol) return undefined;
  if (optionOf(descriptor, acceptsOption) !== 1) return undefined;
  const bytes = Buffer.alloc(addressBytes);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.length);
  if ((functions ??= bind()).getsockname(descriptor, bytes, length) < 0) return undefined;
  const port = bytes.readUInt16BE(2);
  switch (bytes.readUInt16LE(0)) {
    case ipv4Family:
      return { host: bytes.subarray(4, 8).join("."), port };
    case ipv6Family:
      return { host: ipv6Text(bytes.subarray(8, 24)), port };
    default:
      return undefined;
  }
}

/** Returns the text of an IPv6 address in the form of RFC 5952. */
function ipv6Text(bytes: Buffer): string {
  const groups = Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(2 * at).toString(16));
  return new URL(`http://[${groups.join(":")}]`).hostname.slice(1, -1);
}

function optionOf(descriptor: number, option: number): number | undefined {
  const value = Buffer.alloc(4);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(value.length);
  const { getsockopt } = (functions ??= bind());
  const result = getsockopt(descriptor, socketLevel, option, value, length);
  return result < 0 ? undefined : value.readInt32LE();
}

/** Node listens on a descriptor, but reads its address only then. */
function bind() {
  const libc = koffi.load(null);
  const getsockopt: (
    descriptor: number,
    level: number,
    option: number,
    value: Uint8Array,
    length: Uint8Array,
  ) => number = libc.func("int getsockopt(int, int, int, _Out_ void *, _Inout_ void *)");
  const getsockname: (descriptor: number, address: Uint8Array, length: Uint8Array) => number =
    libc.func("int getsockname(int, _Out_ void *, _Inout_ void *)");
  return { getsockopt, getsockname };
}
