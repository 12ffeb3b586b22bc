import { clone, create, type MessageInitShape } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import {
  RecognitionConfig_AudioEncoding as Encoding,
  type Speech,
  type StreamingRecognitionConfig,
  StreamingRecognitionConfigSchema,
  type StreamingRecognitionResult,
  type StreamingRecognizeRequestSchema,
} from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import { askForStreamToken, type StreamTokenSource } from "./stream-token.ts";
import { unlessAborted } from "../std/until-aborted.ts";

/**
 * A message of audio is at most this long: the service takes 1 MiB of JSON, which base64 makes a
 * third longer.
 */
const audioBytesMax = 256 << 10;

/**
 * Recognizes LINEAR16 samples while they come (§4.9), in chunks of any size, and yields
 * interim and final results as they come. The end of `audio` finalizes (over REST by
 * `lastMessageOf` of the transport); leaving the loop or aborting `signal` ends the call and lets
 * `audio` go. Throws ConnectError.
 */
export async function* recognizeLive(
  speech: Client<typeof Speech>,
  config: MessageInitShape<typeof StreamingRecognitionConfigSchema>,
  audio: AsyncIterable<Uint8Array>,
  options: {
    readonly signal?: AbortSignal | undefined;
    /** Where the token of this stream is from. Default: the transport's. */
    readonly streamToken?: StreamTokenSource | undefined;
  } = {},
): AsyncGenerator<StreamingRecognitionResult, void, undefined> {
  const { streamToken } = options;
  const left = new AbortController();
  const signal = AbortSignal.any([left.signal, ...(options.signal ? [options.signal] : [])]);
  try {
    const headers = streamToken && (await headersOf(streamToken, audio, signal));
    const requests = requestsOf(withEncoding(config), audio, signal);
    const responses = speech.streamingRecognize(requests, { signal, ...(headers && { headers }) });
    for await (const { results } of responses) yield* results;
  } finally {
    left.abort();
  }
}

/**
 * A token of the stream's own. Without one there is no stream, and nobody else lets the audio go.
 */
async function headersOf(
  source: StreamTokenSource,
  audio: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  try {
    return { authorization: `Bearer ${await askForStreamToken(source, signal)}` };
  } catch (error) {
    letGo(audio[Symbol.asyncIterator]());
    throw error;
  }
}

/** Not awaited: it may stand behind a next() that never comes. */
function letGo(chunks: AsyncIterator<Uint8Array>): void {
  chunks.return?.().catch(() => {});
}

/** The samples are LINEAR16, so that need not be said. */
function withEncoding(
  init: MessageInitShape<typeof StreamingRecognitionConfigSchema>,
): StreamingRecognitionConfig {
  const schema = StreamingRecognitionConfigSchema;
  const streamingConfig = clone(schema, create(schema, init));
  const { config } = streamingConfig;
  if (config) config.encoding ||= Encoding.LINEAR16;
  return streamingConfig;
}

type Request = MessageInitShape<typeof StreamingRecognizeRequestSchema>;

async function* requestsOf(
  config: StreamingRecognitionConfig,
  audio: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Request, void, undefined> {
  const chunks = audio[Symbol.asyncIterator]();
  try {
    yield { streamingRequest: { case: "streamingConfig", value: config } };
    for (;;) {
      // Not for await: a microphone that has nothing to say must not hold back the end of the call.
      const next = await unlessAborted(chunks.next(), signal);
      if (next.done) break;
      for (let at = 0; at < next.value.byteLength; at += audioBytesMax) {
        const value = next.value.subarray(at, at + audioBytesMax);
        yield { streamingRequest: { case: "audioContent", value } };
      }
    }
  } finally {
    letGo(chunks);
  }
}
