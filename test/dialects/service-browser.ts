import { createSocket, type RemoteInfo } from "node:dgram";
import { once } from "node:events";
import type { NetworkInterfaceInfo } from "node:os";
import multicastDns from "multicast-dns";
import { within } from "../fixtures/until.ts";

const group = "224.0.0.251";
const address = "127.0.0.1";

/** The only network of these tests: nothing leaves the machine. */
export const loopback: NodeJS.Dict<NetworkInterfaceInfo[]> = {
  lo: [
    {
      address,
      netmask: "255.0.0.0",
      family: "IPv4",
      mac: "00:00:00:00:00:00",
      internal: false,
      cidr: "127.0.0.1/8",
    },
  ],
};

export interface FoundRecord {
  readonly name: string;
  readonly type: string;
  readonly ttl?: number | undefined;
  readonly flush?: boolean | undefined;
  // oxlint-disable-next-line typescript/no-explicit-any -- what tests look into, and assert
  readonly data: any;
}

/** A program that looks for services by multicast DNS, on loopback and a free port. */
export interface ServiceBrowser extends AsyncDisposable {
  readonly dnsPort: number;
  /** Asks by multicast. */
  ask(name: string, type: "PTR" | "A"): void;
  /** Sends bytes by multicast. */
  send(bytes: Uint8Array): void;
  /** Resolves with the answers of the next response. */
  next(): Promise<readonly FoundRecord[]>;
  /** Resolves with the answers of the next response that ends a service. */
  goodbye(): Promise<readonly FoundRecord[]>;
}

export async function openServiceBrowser(): Promise<ServiceBrowser> {
  // The socket has the port before the service uses it, so that no other test can.
  const socket = createSocket({ type: "udp4", reuseAddr: true });
  socket.bind(0, "0.0.0.0");
  await once(socket, "listening");
  socket.addMembership(group, address);
  socket.setMulticastInterface(address);
  const { port } = socket.address();
  const dns = multicastDns({ socket, bind: false, port });
  const found: (readonly FoundRecord[])[] = [];
  let wake = Promise.withResolvers<void>();
  dns.on("response", ({ answers }) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- records of known types
    found.push(answers as unknown as FoundRecord[]);
    wake.resolve();
  });
  const next = async (): Promise<readonly FoundRecord[]> => {
    for (;;) {
      const answers = found.shift();
      if (answers) return answers;
      wake = Promise.withResolvers();
      await within("a response", wake.promise);
    }
  };
  return {
    dnsPort: port,
    ask: (name, type) => dns.query(name, type),
    send: (bytes) => socket.send(bytes, port, group),
    next,
    async goodbye() {
      for (;;) {
        const answers = await next();
        if (answers.every(({ ttl }) => ttl === 0)) return answers;
      }
    },
    async [Symbol.asyncDispose]() {
      await new Promise<void>((resolve) => dns.destroy(resolve));
    },
  };
}

/** Asks as a resolver that knows only unicast DNS does. Resolves with its whole answer. */
export async function askAlone(dnsPort: number, name: string): Promise<Readonly<Answer>> {
  const socket = createSocket("udp4");
  socket.bind(0, address);
  await once(socket, "listening");
  const dns = multicastDns({ socket, bind: false, port: dnsPort, ip: group });
  socket.setMulticastInterface(address);
  const answered = once(dns, "response");
  // Resolvers ask again, since datagrams get lost, or the service has not begun.
  const ask = (): void => dns.query({ id: 4_711, questions: [{ name, type: "PTR" }] });
  ask();
  const asking = setInterval(ask, 100);
  const [packet, from] = await within("an answer", answered).finally(() => clearInterval(asking));
  await new Promise<void>((resolve) => dns.destroy(resolve));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the event has
  return { ...(packet as Answer), from: from as RemoteInfo };
}

interface Answer {
  readonly id: number;
  readonly questions: readonly { readonly name: string; readonly type: string }[];
  readonly answers: readonly FoundRecord[];
  readonly additionals: readonly FoundRecord[];
  readonly from: RemoteInfo;
}
