import { once } from "node:events";
import { getOption, type MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { Authenticator } from "../src/auth/authenticate.ts";
import { shownToken } from "../src/auth/shown-tokens.ts";
import { access } from "../src/gen/hlust/api/annotations_pb.ts";
import { defaultAnswers } from "../src/server/answers-in-hand.ts";
import { createAnswerError } from "../src/server/answer-errors.ts";
import type { StreamLimits } from "../src/server/answer-stream.ts";
import { bodyLimits } from "../src/server/body-pace.ts";
import { findCallOrigin } from "../src/server/call-origin.ts";
import { createDraining } from "../src/server/draining.ts";
import { createGrpcDoor } from "../src/server/grpc.ts";
import { answerFailure, breakOff } from "../src/server/http.ts";
import { implemented, methodsOf } from "../src/server/methods.ts";
import { openPort } from "../src/server/port.ts";
import { refuseMalformed } from "../src/server/refuse.ts";
import { createRestDoor } from "../src/server/rest.ts";
import { openServer } from "../src/server/server.ts";
import { createLog } from "../src/std/log.ts";
import { ServiceError } from "../src/std/service-error.ts";
import { createTranscoder } from "../src/transcoding/transcoder.ts";
import { type CountRequest, type NumberSchema, Streams } from "./gen/streams_pb.ts";
import { testCaller } from "./test-caller.ts";
import { createMessageReading } from "../src/server/message-reading.ts";

/** A server of test/vectors/streams.proto, and what its methods saw. */
export interface TestStreams extends AsyncDisposable {
  readonly address: string;
  readonly seen: Seen;
  /** What was thrown and is no ServiceError. */
  readonly bugs: readonly unknown[];
}

export interface Seen {
  /** How often Count and Export were asked for a message. */
  asked: number;
  /** How many calls of them and of Talk are over, whichever way: their cleaning up has run. */
  over: number;
  /** What the signal of a call said. */
  reasons: unknown[];
  /** The tokens that were shown. */
  tokens: (string | undefined)[];
  /** How each open stream is ended when what it was opened with is revoked. */
  watched: Set<(reason: ServiceError) => void>;
}

export const token = "the-key";

/** Behind every door, as the service is; `accepted` is the token that it takes. */
export async function openTestStreams(
  accepted = token,
  given: Partial<ServerParts> = {},
): Promise<TestStreams> {
  const seen = newSeen();
  const bugs: unknown[] = [];
  const server = await openServer({
    host: "127.0.0.1",
    port: 0,
    services: [implemented(Streams, streamsService(seen))],
    authenticator: authenticator(seen, accepted),
    media: undefined,
    readiness: [],
    explain: (error) => {
      bugs.push(error);
      return undefined;
    },
    log: createLog("silent"),
    ...given,
  });
  const { address } = server;
  return { address, seen, bugs, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

/** Behind the REST door alone, with limits of its own. */
export async function openTestRestDoor(
  limits: StreamLimits,
): Promise<TestStreams & { readonly stop: AbortController }> {
  const seen = newSeen();
  const bugs: unknown[] = [];
  const stop = new AbortController();
  const answerError = createAnswerError(
    () => undefined,
    (bug) => bugs.push(bug),
  );
  const door = createRestDoor({
    transcoder: createTranscoder([Streams]),
    methods: methodsOf([implemented(Streams, streamsService(seen))]),
    authenticator: authenticator(seen, token),
    answerError,
    reading: createMessageReading(undefined),
    shutdownSignal: stop.signal,
    answers: defaultAnswers(),
    limits,
  });
  const port = await openPort(
    { host: "127.0.0.1", port: 0 },
    {
      handle: (request, response) => {
        door(request, response).catch((error: unknown) => {
          answerFailure(response, answerError(error));
        });
      },
      refuse: refuseMalformed,
      upgrade: (_, socket) => socket.destroy(),
    },
  );
  return {
    address: port.address,
    seen,
    bugs,
    stop,
    async [Symbol.asyncDispose]() {
      port.close();
      await port.drain();
    },
  };
}

/** Behind the door of gRPC, gRPC-Web and Connect alone; `shutdown` ends what is left. */
export async function openTestGrpcDoor(): Promise<
  TestStreams & { readonly shutdown: AbortController }
> {
  const seen = newSeen();
  const bugs: unknown[] = [];
  const shutdown = new AbortController();
  const handle = createGrpcDoor({
    services: [implemented(Streams, streamsService(seen))],
    open: [],
    authenticator: authenticator(seen, token),
    answerError: createAnswerError(
      () => undefined,
      (bug) => bugs.push(bug),
    ),
    draining: createDraining(),
    shutdownSignal: shutdown.signal,
    bodyLimits,
    reading: createMessageReading(undefined),
    answers: defaultAnswers(),
    otherwise: (_, response) => breakOff(response),
  });
  const port = await openPort(
    { host: "127.0.0.1", port: 0 },
    {
      handle: (request, response) => {
        findCallOrigin(request, () => false);
        handle(request, response);
      },
      refuse: refuseMalformed,
      upgrade: (_, socket) => socket.destroy(),
    },
  );
  return {
    address: port.address,
    seen,
    bugs,
    shutdown,
    async [Symbol.asyncDispose]() {
      port.close();
      await port.drain();
    },
  };
}

function newSeen(): Seen {
  return { asked: 0, over: 0, reasons: [], tokens: [], watched: new Set() };
}

/** Takes one key, where the contract says that it may stand. */
function authenticator(seen: Seen, accepted: string): Authenticator {
  const withParameter = new Set(
    Streams.methods.filter((method) => getOption(method, access).tokenParameter),
  );
  return {
    authenticate(request, method) {
      const shown = shownToken(request, withParameter.has(method));
      seen.tokens.push(shown);
      if (shown === accepted) {
        return Promise.resolve(testCaller("a", []));
      }
      const reason = shown === undefined ? "TOKEN_MISSING" : "TOKEN_INVALID";
      return Promise.reject(new ServiceError("unauthenticated", "no token", { reason }));
    },
    watch(_caller, _method, end) {
      seen.watched.add(end);
      return {
        [Symbol.dispose]() {
          seen.watched.delete(end);
        },
      };
    },
  };
}

type ServerParts = Parameters<typeof openServer>[0];
type NumberInit = MessageInitShape<typeof NumberSchema>;

function streamsService(seen: Seen): ServiceImpl<typeof Streams> {
  async function* count(request: CountRequest, context: HandlerContext) {
    const { signal } = context;
    signal.addEventListener("abort", () => seen.reasons.push(signal.reason));
    context.responseHeader.set("x-count", `${request.to}`);
    try {
      for (let n = request.from; n < request.to; n += 1) {
        seen.asked += 1;
        yield { n, name: "x".repeat(request.size) } satisfies NumberInit;
      }
      await atEnd(request.atEnd, signal);
    } finally {
      seen.over += 1;
    }
  }

  return {
    count,
    names: count,
    async *export(request, context) {
      for await (const { n, name } of count(request, context)) {
        const contentType = n === request.from ? "text/csv" : "text/plain";
        yield { contentType, data: Buffer.from(`${n},${name}\n`) };
      }
    },
    async download({ to, size, atEnd: end }, { responseHeader, signal }) {
      await atEnd(end, signal);
      responseHeader.set("content-disposition", 'attachment; filename="a.bin"');
      return { contentType: to === 0 ? "" : "application/x-test", data: Buffer.alloc(size, 255) };
    },
    upload: ({ name, file }) => ({
      n: file?.data.length ?? -1,
      name: `${name}:${Buffer.from(file?.data ?? []).toString("latin1")}`,
      contentType: file?.contentType ?? "none",
    }),
    echo: ({ contentType, data }) => ({ contentType, data }),
    async wait(request, context) {
      const { signal } = context;
      signal.addEventListener("abort", () => seen.reasons.push(signal.reason));
      const timeoutMs = context.timeoutMs();
      await atEnd(request.atEnd, signal);
      return { n: Math.ceil(timeoutMs ?? -1) };
    },
    async *talk(requests) {
      try {
        for await (const { from } of requests) yield { n: from };
      } finally {
        seen.over += 1;
      }
    },
  };
}

async function atEnd(what: string, signal: AbortSignal): Promise<void> {
  switch (what) {
    case "":
      return;
    case "hang":
      if (!signal.aborted) await once(signal, "abort");
      throw signal.reason;
    case "abort":
      // As most of Node does.
      if (!signal.aborted) await once(signal, "abort");
      throw new DOMException("aborted", "AbortError");
    case "deaf":
      await new Promise(() => {});
      return;
    case "bug":
      throw new Error("a bug");
    case "refuse":
      throw new ServiceError("failed_precondition", "no more", { reason: "NO_MORE" });
    case "away":
      throw new ServiceError("unavailable", "come again");
    default:
      throw new Error(`${what} is nothing that it can do`);
  }
}
