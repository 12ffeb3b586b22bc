import { WebSocket } from "ws";
import { engineSampleRate } from "../protocol/engine.ts";
import {
  answerBytesMax,
  connectMsMax,
  type HostedServer,
  type ServerCall,
  type ServerReading,
  type ServerResult,
  type ServerSettings,
} from "./hosted-server.ts";
import { checkResults } from "./check-readings.ts";
import { jsonMember as member } from "./json-member.ts";
import { readJsonWord } from "./json-word.ts";
import { type FailureKind, failureOfStatus, ServerFailure, serverWords } from "./server-failure.ts";

/** The server compares this text with the message, spaces included. */
const eof = '{"eof" : 1}';
/** The maximum number of samples in a message: vosk-server recognizes one before it reads on. */
const messageSamplesMax = 4000;

/**
 * Opens a vosk-server, or another Hlust: a WebSocket for each utterance. It gives the text so far,
 * and words with times and confidences, or several readings without confidences of words.
 */
export function openVoskServer(settings: ServerSettings): HostedServer {
  return {
    // A phrase_list of Vosk would exclude all other words.
    takesHints: false,
    isStreamed: () => true,
    async recognize(audio, call) {
      using connection = await connect(settings, call.signal);
      const { alternativesMax } = call;
      const alternatives = alternativesMax > 1 && { max_alternatives: alternativesMax };
      const config = { sample_rate: engineSampleRate, words: true, ...alternatives };
      // The server in C++ would recognize it as if it were audio.
      if (!connection.isCpp) connection.send(JSON.stringify({ config }));
      const results = readAll(connection, call);
      // An error of the socket ends the reading, so nothing else awaits it while audio is sent.
      results.catch(() => {});
      for await (const chunk of audio) {
        if (connection.isOver) break;
        for (let at = 0; at < chunk.length; at += messageSamplesMax) {
          const part = chunk.slice(at, at + messageSamplesMax);
          connection.send(new Uint8Array(part.buffer));
        }
      }
      endAudio(connection);
      return await results;
    },
    // It recognizes nothing: a server logs an error for a connection that closes without eof.
    async probe(signal) {
      using connection = await connect(settings, signal);
      endAudio(connection);
      for await (const _ of connection.messages());
    },
    close() {},
  };
}

/** Ends the audio. The server closes the connection after its last result. */
function endAudio(connection: Connection): void {
  if (!connection.isCpp) {
    connection.send(eof);
    return;
  }
  // The one in C++ reads on to a byte of 0, and closes when it gets one more message.
  connection.send(`${eof}\0`);
  connection.send(`${eof}\0`);
}

interface Connection extends Disposable {
  readonly isOver: boolean;
  /** Whether it is the vosk-server in C++, and not that in Python. */
  readonly isCpp: boolean;
  send(data: string | Uint8Array): void;
  messages(): AsyncGenerator<string, void, undefined>;
}

/** Opens a WebSocket. Redirects are not followed. */
async function connect(
  { address, key, authorities: ca }: ServerSettings,
  signal: AbortSignal,
): Promise<Connection> {
  const socket = new WebSocket(address, {
    handshakeTimeout: connectMsMax,
    maxPayload: answerBytesMax,
    perMessageDeflate: false,
    followRedirects: false,
    ...(key !== undefined && { headers: { authorization: `Bearer ${key}` } }),
    ...(ca !== undefined && { ca }),
  });
  const waiting: string[] = [];
  let end: { readonly failure?: ServerFailure } | undefined;
  let onChange = Promise.withResolvers<void>();
  const change = () => {
    onChange.resolve();
    onChange = Promise.withResolvers<void>();
  };
  const over = (failure?: ServerFailure) => {
    end ??= failure ? { failure } : {};
    change();
  };
  const abort = () => socket.terminate();
  signal.addEventListener("abort", abort);
  socket.on("message", (data: Buffer) => {
    waiting.push(data.toString());
    change();
  });
  socket.on("unexpected-response", (_request, { statusCode = 0 }) => {
    const message = `${address.href} answered ${statusCode}`;
    over(new ServerFailure(failureOfStatus(statusCode), message));
    socket.terminate();
  });
  socket.on("error", (error) => {
    const isTooLong = Reflect.get(error, "code") === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH";
    const kind = isTooLong ? "refused" : "unreachable";
    over(new ServerFailure(kind, `${address.href}: ${error.message}`, { cause: error }));
  });
  socket.on("close", (code, reason) => over(failureOfClose(address, code, reason.toString(), key)));
  let isCpp = false;
  socket.on("upgrade", ({ headers }) => {
    isCpp = String(headers["server"]).startsWith("Boost.Beast");
  });
  const opened = new Promise<void>((resolve) => {
    socket.once("open", resolve).once("close", () => resolve());
  });
  if (signal.aborted) abort();
  await opened;
  const connection: Connection = {
    get isOver() {
      return end !== undefined;
    },
    isCpp,
    send(data) {
      if (socket.readyState === WebSocket.OPEN) socket.send(data);
    },
    async *messages() {
      for (;;) {
        const text = waiting.shift();
        if (text !== undefined) yield text;
        else if (!end) await onChange.promise;
        else if (end.failure) throw end.failure;
        else return;
      }
    },
    [Symbol.dispose]() {
      signal.removeEventListener("abort", abort);
      if (socket.readyState === WebSocket.CLOSED) return;
      socket.close();
      // A server that does not close holds no place here.
      setTimeout(() => socket.terminate(), 1000).unref();
    },
  };
  if (socket.readyState !== WebSocket.OPEN) {
    connection[Symbol.dispose]();
    throw ending(end) ?? new ServerFailure("unreachable", `${address.href} closed the connection`);
  }
  return connection;
}

function ending(end: { readonly failure?: ServerFailure } | undefined): ServerFailure | undefined {
  return end?.failure;
}

/** vosk-server closes with 1000 after the last result; Hlust gives the reason of an error. */
function failureOfClose(
  { href }: URL,
  code: number,
  reason: string,
  key: string | undefined,
): ServerFailure | undefined {
  if (code === 1000) return undefined;
  const message = `${href} closed with ${code}: ${serverWords(reason, key) || "no reason"}`;
  return new ServerFailure(failureOfCode(code), message, { status: `${code}` });
}

function failureOfCode(code: number): FailureKind {
  if (code === 1013) return "busy";
  if (code === 1011) return "error";
  return code === 1007 || code === 1008 || code === 1009 ? "refused" : "unreachable";
}

/** Reads the answers until the server closes, and reports the text so far. */
async function readAll(
  connection: Connection,
  { onPartial }: Pick<ServerCall, "onPartial">,
): Promise<readonly ServerResult[]> {
  const results: ServerResult[] = [];
  const said: string[] = [];
  for await (const text of connection.messages()) {
    const answer = readVoskAnswer(text);
    if ("result" in answer) {
      results.push(answer.result);
      checkResults(results.length);
      const [best] = answer.result;
      if (best && best.text !== "") said.push(best.text);
    }
    const partial = "partial" in answer ? [answer.partial] : [];
    onPartial({ text: [...said, ...partial].join(" "), words: [] });
  }
  return results;
}

/** Reads an answer of vosk-server. Throws ServerFailure (broken). */
function readVoskAnswer(
  text: string,
): { readonly partial: string } | { readonly result: ServerResult } {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch (error) {
    throw new ServerFailure("broken", "an answer is not JSON", { cause: error });
  }
  const partial = member(answer, "partial");
  if (typeof partial === "string") return { partial };
  const alternatives = member(answer, "alternatives");
  const readings = (Array.isArray(alternatives) ? alternatives : [answer]).map(readReading);
  // Vosk gives scores with alternatives, of which some may look like a probability.
  const isScored = readings.some(({ confidence = 0 }) => confidence < 0 || confidence > 1);
  return {
    result: readings.map(({ confidence, ...reading }) =>
      isScored || confidence === undefined ? reading : { ...reading, confidence },
    ),
  };
}

function readReading(value: unknown): ServerReading {
  const [text, result, confidence] = ["text", "result", "confidence"].map((name) =>
    member(value, name),
  );
  if (typeof text !== "string") throw new ServerFailure("broken", "an answer has no text");
  return {
    text,
    ...(typeof confidence === "number" && { confidence }),
    words: (Array.isArray(result) ? result : []).map((word) => readJsonWord(word, "conf")),
  };
}
