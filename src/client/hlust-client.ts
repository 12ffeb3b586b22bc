import { create, type DescMethod, type Message, type MessageInitShape } from "@bufbuild/protobuf";
import { type Client, createClient } from "@connectrpc/connect";
import { Accounts } from "../gen/hlust/accounts/v1/accounts_pb.ts";
import { Operator } from "../gen/hlust/operator/v1/operator_pb.ts";
import {
  Speech,
  type StreamingRecognitionConfigSchema,
  type StreamingRecognitionResult,
  StreamingRecognizeRequestSchema,
} from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import { Vocabulary } from "../gen/hlust/speech/v2beta1/vocabulary_pb.ts";
import { Transcripts } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { Webhooks } from "../gen/hlust/webhooks/v1/webhooks_pb.ts";
import { accessTokensOf, type SigningKey } from "./access-token.ts";
import { recognizeLive } from "./recognize-live.ts";
import { createRestTransport, type RestTransportOptions } from "./rest-transport.ts";
import { retryCalls } from "./retry-calls.ts";
import type { StreamTokenSource } from "./stream-token.ts";
import { uploadMedia } from "./upload-media.ts";

/**
 * A TypeScript client of the service. Calls accept signal, timeoutMs and headers, and reject with
 * ConnectError.
 */
export interface HlustClient {
  readonly transcripts: Client<typeof Transcripts>;
  readonly speech: Client<typeof Speech>;
  readonly vocabulary: Client<typeof Vocabulary>;
  readonly accounts: Client<typeof Accounts>;
  readonly webhooks: Client<typeof Webhooks>;
  readonly operator: Client<typeof Operator>;
  /**
   * Recognizes live LINEAR16 samples in chunks of any size. The end of `audio` finalizes the
   * stream. See recognizeLive().
   */
  recognizeLive(
    config: MessageInitShape<typeof StreamingRecognitionConfigSchema>,
    audio: AsyncIterable<Uint8Array>,
    options?: { readonly signal?: AbortSignal | undefined },
  ): AsyncGenerator<StreamingRecognitionResult, void, undefined>;
  /**
   * Uploads media for a transcript or a job. Returns the name of the transcript or upload. See
   * uploadMedia().
   */
  uploadMedia(
    media: Blob | Uint8Array<ArrayBuffer>,
    options?: { readonly resourceName?: string; readonly signal?: AbortSignal },
  ): Promise<string>;
}

export interface HlustClientOptions extends Omit<RestTransportOptions, "lastMessageOf" | "token"> {
  /**
   * An API key or a JWT, or a function that returns one and is called before each call. It can also
   * be a client key, with which the client signs its own tokens, each before the previous one
   * expires.
   */
  readonly token?: RestTransportOptions["token"] | SigningKey;
  /**
   * The public URL of the service if it differs from `url`: the audience of a client key's tokens.
   */
  readonly audience?: string | undefined;
  /**
   * The source from which recognizeLive() gets the token of each stream, for pages without a key.
   * Default: `token`.
   */
  readonly streamToken?: StreamTokenSource | undefined;
  /**
   * How often a unary call is repeated that failed because the service was unreachable, restarting
   * or busy, if repeating it is safe. Default: 2. See retryCalls().
   */
  readonly maxRetries?: number | undefined;
}

/**
 * Creates a client for the service at `url`, in a browser or in Node. Creating a client opens no
 * connection.
 */
export function createHlustClient(options: HlustClientOptions): HlustClient {
  const { token, audience = options.url, streamToken, maxRetries = 2, ...rest } = options;
  const retries = retryCalls({
    maxRetries,
    isRead: ({ localName }) => /^(?:get|list)/.test(localName),
    isKeyed: (method) => method === Transcripts.method.submitTranscriptJob,
  });
  const transport = createRestTransport({
    ...rest,
    token: typeof token === "object" ? accessTokensOf(token, { audience }) : token,
    interceptors: [retries, ...(options.interceptors ?? [])],
    lastMessageOf,
  });
  const transcripts = createClient(Transcripts, transport);
  const speech = createClient(Speech, transport);
  return {
    transcripts,
    speech,
    vocabulary: createClient(Vocabulary, transport),
    accounts: createClient(Accounts, transport),
    webhooks: createClient(Webhooks, transport),
    operator: createClient(Operator, transport),
    recognizeLive: (config, audio, options) =>
      recognizeLive(speech, config, audio, { ...options, streamToken }),
    uploadMedia: (media, options) => uploadMedia(transcripts, media, options),
  };
}

/** Returns the message that finalizes a stream (§4.9): an empty audioContent. */
function lastMessageOf(method: DescMethod): Message | undefined {
  if (method !== Speech.method.streamingRecognize) return undefined;
  return create(StreamingRecognizeRequestSchema, {
    streamingRequest: { case: "audioContent", value: new Uint8Array() },
  });
}
