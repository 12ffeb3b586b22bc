import multicastDns, { type MulticastDNS, type QueryPacket } from "multicast-dns";
import { parseNetworks } from "../../std/networks.ts";
import { isAnswer, serviceRecords, type AnnouncedService } from "./service-records.ts";

/** A network of this machine on which the service is announced. */
export interface AnnouncedNetwork {
  /** The IPv4 address of this machine on it, from which packets are sent. */
  readonly address: string;
  /** What counts as the same network (CIDR). */
  readonly cidrs: readonly string[];
  /** The addresses on it at which the service listens. */
  readonly served: readonly string[];
}

export interface ResponderOptions {
  /** The UDP port of multicast DNS. */
  readonly dnsPort: number;
  /** Gets each error of the system. */
  readonly onProblem: (error: Error) => void;
}

/** RFC 6762, section 6: the minimum time between two multicasts of a record. */
const pauseMs = 1_000;
/** RFC 6762, section 6.7: the limit in seconds for clients that know only unicast DNS. */
const unicastTtlMax = 10;

/**
 * Announces a service on one network by multicast DNS (RFC 6762) and answers questions about it
 * until it is closed. Errors of the socket are reported and never thrown.
 */
export class Responder {
  readonly #socket: MulticastDNS;
  readonly #options: ResponderOptions;
  #service: AnnouncedService;
  #isNear: (address: string) => boolean;
  #sentAtMs = -Infinity;
  #next: NodeJS.Timeout | undefined;
  #isBroken = false;
  #closing: Promise<void> | undefined;

  constructor(network: AnnouncedNetwork, service: AnnouncedService, options: ResponderOptions) {
    this.#service = service;
    this.#options = options;
    this.#isNear = parseNetworks(network.cidrs);
    this.#socket = multicastDns({
      interface: network.address,
      // A socket that is bound to the address of the interface would receive no multicasts.
      bind: "0.0.0.0",
      port: options.dnsPort,
    });
    this.#socket.on("error", (error) => this.#onError(error));
    // Invalid packets are warnings too. They come from others, and only the system has calls.
    this.#socket.on("warning", (error) => {
      if ("syscall" in error) options.onProblem(error);
    });
    this.#socket.on("query", (query, from) => this.#onQuery(query, from));
    this.#announce();
  }

  /** Whether the socket is lost, so that another one must be opened. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** Announces other addresses in place of those before. */
  update({ cidrs }: AnnouncedNetwork, service: AnnouncedService): void {
    this.#isNear = parseNetworks(cidrs);
    this.#service = service;
    this.#announce();
  }

  /** Announces the end of the service, and closes the socket. */
  async close(): Promise<void> {
    this.#closing ??= this.#end();
    await this.#closing;
  }

  async #end(): Promise<void> {
    clearTimeout(this.#next);
    if (this.#isBroken) return;
    await new Promise<void>((resolve) => {
      // If the network is gone, no client is left that needs it.
      this.#socket.respond(serviceRecords(this.#service, 0), () => resolve());
    });
    if (this.#isBroken) return;
    await new Promise<void>((resolve) => this.#socket.destroy(resolve));
  }

  /** Sends all records twice, a second apart (RFC 6762, section 8.3). */
  #announce(): void {
    this.#multicast();
    this.#multicastLater();
  }

  /** Multicasts as soon as it may: one multicast answers all questions until then. */
  #multicastLater(): void {
    if (this.#next !== undefined) return;
    const waitMs = Math.max(0, this.#sentAtMs + pauseMs - performance.now());
    this.#next = setTimeout(() => this.#multicast(), waitMs);
  }

  #multicast(): void {
    clearTimeout(this.#next);
    this.#next = undefined;
    if (this.#isBroken || this.#closing) return;
    this.#sentAtMs = performance.now();
    this.#socket.respond(serviceRecords(this.#service), (error) => {
      if (error) this.#options.onProblem(error);
    });
  }

  #onQuery(
    { id = 0, questions = [] }: QueryPacket,
    from: { readonly address: string; readonly port: number },
  ): void {
    if (this.#closing || !this.#isNear(from.address)) return;
    const asked = questions.filter((question) =>
      serviceRecords(this.#service).some((record) => isAnswer(record, question)),
    );
    if (asked.length === 0) return;
    if (from.port === this.#options.dnsPort) this.#multicastLater();
    else this.#answerAlone(id, asked, from);
  }

  /** Answers a client that speaks unicast DNS as a DNS server would (RFC 6762, section 6.7). */
  #answerAlone(
    id: number,
    asked: NonNullable<QueryPacket["questions"]>,
    { address, port }: { readonly address: string; readonly port: number },
  ): void {
    const records = serviceRecords(this.#service, unicastTtlMax).map((record) => ({
      ...record,
      flush: false,
    }));
    const answers = records.filter((record) => asked.some((each) => isAnswer(record, each)));
    const additionals = records.filter((record) => !answers.includes(record));
    const questions = asked.map(({ name, type }) => ({ name, type }));
    this.#socket.respond({ id, questions, answers, additionals }, { address, port }, (error) => {
      if (error) this.#options.onProblem(error);
    });
  }

  #onError(error: Error): void {
    this.#options.onProblem(error);
    if (this.#isBroken) return;
    this.#isBroken = true;
    clearTimeout(this.#next);
    this.#socket.destroy();
  }
}
