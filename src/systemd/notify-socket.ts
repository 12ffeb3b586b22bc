import koffi from "koffi";

const unixFamily = 1;
/** A datagram socket, which child processes do not inherit (SOCK_DGRAM, SOCK_CLOEXEC). */
const datagramType = 2 | 0o2000000;
/** A full queue of the receiver must not hold the event loop (MSG_DONTWAIT, MSG_NOSIGNAL). */
const sendFlags = 0x40 | 0x4000;
/** The size of sun_path in unix(7). */
const pathBytesMax = 108;

let functions: ReturnType<typeof bind> | undefined;

/**
 * Sends one datagram to the socket with this address: an absolute path, or @ and an abstract name
 * (unix(7)). Throws if the address is not one of these, or nothing receives there.
 */
export function sendDatagram(address: string, text: string): void {
  const target = socketAddress(address);
  const { socket, sendto, close } = (functions ??= bind());
  const descriptor = socket(unixFamily, datagramType, 0);
  if (descriptor < 0) throw failed("socket");
  try {
    const bytes = Buffer.from(text);
    const sent = sendto(descriptor, bytes, bytes.length, sendFlags, target, target.length);
    if (sent < 0) throw failed("sendto");
  } finally {
    close(descriptor);
  }
}

/** Returns the struct sockaddr_un of an address. */
export function socketAddress(address: string): Buffer {
  const path = Buffer.from(address.startsWith("@") ? `\0${address.slice(1)}` : `${address}\0`);
  if (!/^[/@]./.test(address) || path.length > pathBytesMax) {
    throw new Error(
      `must be an absolute path, or @ and a name, of at most ${pathBytesMax - 1} bytes`,
    );
  }
  const family = Buffer.alloc(2);
  // Linux runs on both byte orders, but Node for Linux only on this one of x64 and arm64.
  family.writeUInt16LE(unixFamily);
  return Buffer.concat([family, path]);
}

function failed(call: string): Error {
  const errno = koffi.errno();
  const [name = `errno ${errno}`] =
    Object.entries(koffi.os.errno).find(([, value]) => value === errno) ?? [];
  return new Error(`${call}: ${name}`);
}

/** Node has no Unix datagram sockets, so the functions of libc are called. */
function bind() {
  const libc = koffi.load(null);
  const socket: (family: number, type: number, protocol: number) => number = libc.func(
    "int socket(int, int, int)",
  );
  const sendto: (
    descriptor: number,
    bytes: Uint8Array,
    length: number,
    flags: number,
    address: Uint8Array,
    addressLength: number,
  ) => number = libc.func("long sendto(int, const void *, size_t, int, const void *, uint32_t)");
  const close: (descriptor: number) => number = libc.func("int close(int)");
  return { socket, sendto, close };
}
