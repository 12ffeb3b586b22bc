import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { looksLikeApiKey } from "../../auth/api-key.ts";
import { parseNetworks } from "../../std/networks.ts";
import { beginListening, type ListenPlace } from "../../server/listen-at.ts";
import { drainStreams } from "../../server/drain-streams.ts";
import { shuttingDown } from "../../server/shutting-down.ts";
import { ServiceError } from "../../std/service-error.ts";
import { ConfigError } from "../../std/setting.ts";
import type { AnnouncementOptions, openAnnouncement } from "./announcement.ts";
import { EventSocket } from "./event-socket.ts";
import { serveWyoming, type WyomingParts } from "./wyoming-call.ts";
import { writeEvent } from "./write-event.ts";

export interface WyomingOptions extends ListenPlace {
  /** The file with the API key under which all calls run. */
  readonly keyFile: string;
  /** The networks (CIDR) that may connect in addition to this machine. */
  readonly allowFrom: readonly string[];
  /** Whether it is announced by multicast DNS, and how. Default: it is not. */
  readonly isAnnounced?: boolean;
  readonly announcement?: AnnouncementOptions;
  /** A connection that sends no event for this long is closed. Default: 60 s. */
  readonly idleMsMax?: number;
  /** The maximum number of connections. Default: 64. */
  readonly connectionsMax?: number;
}

/** The open listener. Disposing of it finishes transcriptions whose audio is complete. */
export interface Wyoming extends AsyncDisposable {
  /** The bound address as <host>:<port>. */
  readonly address: string;
  /**
   * Refuses new connections with SHUTTING_DOWN, closes idle ones, and waits for transcriptions for
   * at most `msMax`. In the last part of it, those that are left end as when it is disposed of.
   */
  drain(msMax: number, hurried: AbortSignal): Promise<void>;
}

const idleMsMaxDefault = 60_000;
/** Home Assistant opens one for each command. */
const connectionsMaxDefault = 64;
/** The maximum time for transcriptions that are left when the service shuts down. */
const drainMsMax = 5_000;
/** How long accepted connections that have sent nothing yet may take to send an event. */
const silentMsMax = 2_000;
const thisMachine = ["127.0.0.0/8", "::1"];

/**
 * Listens for Wyoming, the protocol of Home Assistant, over TCP. It has no credentials: connections
 * from the allowed networks call with the key of the file. Throws ConfigError if the file has no
 * key, and the error of the system if the address is in use.
 */
export async function openWyoming(
  options: WyomingOptions,
  parts: Omit<WyomingParts, "readKey">,
): Promise<Wyoming> {
  const { keyFile, idleMsMax = idleMsMaxDefault } = options;
  const { connectionsMax = connectionsMaxDefault } = options;
  await checkKey(keyFile);
  const isAllowed = parseNetworks([...thisMachine, ...options.allowFrom]);
  const open = new Map<EventSocket, Promise<void>>();
  let isDraining = false;
  const accept = (socket: Socket): void => {
    if (!isAllowed(socket.remoteAddress ?? "")) {
      parts.log.info({ address: socket.remoteAddress }, "wyoming.address_refused");
      socket.destroy();
      return;
    }
    if (isDraining) {
      const { message: text, reason: code } = shuttingDown("stream");
      turnAway(socket, { text, code });
      return;
    }
    if (open.size >= connectionsMax) {
      const text = `${connectionsMax} connections are open`;
      turnAway(socket, { text, code: "TOO_MANY_CONNECTIONS" });
      return;
    }
    const events = new EventSocket(socket, idleMsMax);
    const serving = serveWyoming(events, { ...parts, readKey: async () => readKey(keyFile) });
    open.set(events, serving);
    void serving.finally(() => open.delete(events));
  };
  const listener = createServer({ allowHalfOpen: true, noDelay: true, keepAlive: true }, accept);
  beginListening(listener, options);
  await once(listener, "listening");
  const bound = boundAddress(listener);
  const announcement = options.isAnnounced
    ? await announce(bound, parts.log, options.announcement)
    : undefined;
  return {
    address: `${bound.host.includes(":") ? `[${bound.host}]` : bound.host}:${bound.port}`,
    async drain(msMax, hurried) {
      isDraining = true;
      await announcement?.[Symbol.asyncDispose]();
      for (const socket of open.keys()) socket.retire();
      const ends = () => Array.from(open.keys(), (socket) => () => socket.drain());
      await drainStreams(Promise.all(open.values()), ends, { msMax, hurried });
    },
    async [Symbol.asyncDispose]() {
      await announcement?.[Symbol.asyncDispose]();
      const closed = once(listener, "close");
      listener.close();
      // No other process can answer what this one has accepted.
      if (options.kept !== undefined) await untilNoneIsSilent(() => open.keys());
      const cut = setTimeout(() => {
        for (const socket of open.keys()) socket.destroy();
      }, drainMsMax);
      for (const socket of open.keys()) socket.drain();
      await Promise.all(open.values());
      await closed;
      clearTimeout(cut);
    },
  };
}

/** Waits until each client has sent something, for at most silentMsMax. */
async function untilNoneIsSilent(sockets: () => Iterable<EventSocket>): Promise<void> {
  const endAt = performance.now() + silentMsMax;
  while (performance.now() < endAt && Array.from(sockets()).some(({ isSilent }) => isSilent)) {
    await sleep(20);
  }
}

function turnAway(
  socket: Socket,
  error: { readonly text: string; readonly code: string | undefined },
): void {
  socket.on("error", () => socket.destroy());
  socket.end(writeEvent("error", error), () => socket.destroy());
}

/** Reads the key for each call, so that the operator can replace it. */
async function readKey(keyFile: string): Promise<string> {
  const key = await readFile(keyFile, "utf8").catch(() => "");
  if (looksLikeApiKey(key.trim())) return key.trim();
  throw new ServiceError("unavailable", "the key of the service for Wyoming cannot be read", {
    reason: "KEY_UNREADABLE",
  });
}

async function checkKey(keyFile: string): Promise<void> {
  const key = await readFile(keyFile, "utf8").catch((error: unknown) => {
    const problem = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`HLUST_WYOMING_KEY_FILE: ${problem}`, { cause: error });
  });
  if (looksLikeApiKey(key.trim())) return;
  throw new ConfigError(`HLUST_WYOMING_KEY_FILE: ${keyFile} has no API key`);
}

function boundAddress(listener: Server): { readonly host: string; readonly port: number } {
  const address = listener.address();
  if (typeof address !== "object" || address === null) throw new Error("no address");
  return { host: address.address, port: address.port };
}

/** Loads the code for multicast DNS, which most services do not need, and announces Wyoming. */
async function announce(...given: Parameters<typeof openAnnouncement>): Promise<AsyncDisposable> {
  const { openAnnouncement: openNow } = await import("./announcement.ts");
  return openNow(...given);
}
