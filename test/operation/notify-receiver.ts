import koffi from "koffi";
import { socketAddress } from "../../src/systemd/notify-socket.ts";
import { until } from "../fixtures/until.ts";

/** What systemd receives on $NOTIFY_SOCKET. */
export interface NotifyReceiver extends Disposable {
  readonly address: string;
  /** Reads on its own from now on, so that its queue of ten datagrams does not fill up. */
  read(): void;
  /** Returns the datagrams so far, in order. */
  received(): readonly string[];
  /** Waits for a datagram that contains this line. */
  waitFor(line: string): Promise<void>;
}

const libc = koffi.load(null);
const socket: (family: number, type: number, protocol: number) => number = libc.func(
  "int socket(int, int, int)",
);
const bind: (descriptor: number, address: Uint8Array, length: number) => number = libc.func(
  "int bind(int, const void *, uint32_t)",
);
const recv: (descriptor: number, bytes: Uint8Array, length: number, flags: number) => number =
  libc.func("long recv(int, _Out_ void *, size_t, int)");
const close: (descriptor: number) => number = libc.func("int close(int)");

const [unixFamily, datagramType, withoutWaiting] = [1, 2, 0x40];

/** Receives at an address of unix(7): a path, or @ and an abstract name. */
export function openNotifyReceiver(address: string): NotifyReceiver {
  const descriptor = socket(unixFamily, datagramType, 0);
  const bytes = socketAddress(address);
  if (descriptor < 0 || bind(descriptor, bytes, bytes.length) < 0) {
    throw new Error(`${address} cannot be bound: errno ${koffi.errno()}`);
  }
  const datagrams: string[] = [];
  const received = (): readonly string[] => {
    const buffer = Buffer.alloc(4_096);
    for (;;) {
      const length = recv(descriptor, buffer, buffer.length, withoutWaiting);
      if (length < 0) return datagrams;
      datagrams.push(buffer.toString("utf8", 0, length));
    }
  };
  let reading: NodeJS.Timeout | undefined;
  return {
    address,
    read: () => {
      reading = setInterval(received, 20);
    },
    received,
    waitFor: (line) =>
      until(async () => received().some((text) => text.split("\n").includes(line)), 60_000),
    [Symbol.dispose]() {
      clearInterval(reading);
      close(descriptor);
    },
  };
}
