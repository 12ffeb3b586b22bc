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
 * The maximum size of an audio message. The service accepts 1 MiB of JSON, and base64 makes audio a
 * third longer.
 */
const audioBytesMax = 256 << 10;

/**
 * Recognizes LINEAR16 samples while they are produced (§4.9), in chunks of any size, and yields
 * interim and final results. The end of `audio` finalizes the stream (over REST, with the
 * transport's `lastMessageOf`). Leaving the loop or aborting `signal` ends the call and releases
 * `audio`. Throws ConnectError.
 */
export async function* recognizeLive(
  speech: Client<typeof Speech>,
  config: MessageInitShape<typeof StreamingRecognitionConfigSchema>,
  audio: AsyncIterable<Uint8Array>,
  options: {
    readonly signal?: AbortSignal | undefined;
    /** The source of this stream's token. Default: the transport's token. */
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
 * Returns the headers with the token of this stream. If there is no token, the stream does not
 * begin, so the audio is released here.
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

/**
 * Releases the audio. The release is not awaited, since return() may wait for a next() that never
 * resolves.
 */
function letGo(chunks: AsyncIterator<Uint8Array>): void {
  chunks.return?.().catch(() => {});
}

/** Adds the encoding, which callers can leave out: the samples are always LINEAR16. */
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
      // A `for await` loop is not used here, since a silent microphone must not delay the end of
      // the call.
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
