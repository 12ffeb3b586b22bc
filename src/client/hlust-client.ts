import { create, type DescMethod, type Message, type MessageInitShape } from "@bufbuild/protobuf";
import { type Client, createClient } from "@connectrpc/connect";
import { Accounts } from "../gen/hlust/accounts/v1/accounts_pb.ts";
import {
  Speech,
  type StreamingRecognitionConfigSchema,
  type StreamingRecognitionResult,
  StreamingRecognizeRequestSchema,
} from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import { Transcripts } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { Webhooks } from "../gen/hlust/webhooks/v1/webhooks_pb.ts";
import { recognizeLive } from "./recognize-live.ts";
import { createRestTransport, type RestTransportOptions } from "./rest-transport.ts";
import { uploadMedia } from "./upload-media.ts";

/** The service from TypeScript. Calls take signal, timeoutMs and headers, and reject with ConnectError. */
export interface HlustClient {
  readonly transcripts: Client<typeof Transcripts>;
  readonly speech: Client<typeof Speech>;
  readonly accounts: Client<typeof Accounts>;
  readonly webhooks: Client<typeof Webhooks>;
  /** Live recognition of LINEAR16 samples in chunks of any size; the end of `audio` finalizes. See recognizeLive(). */
  recognizeLive(
    config: MessageInitShape<typeof StreamingRecognitionConfigSchema>,
    audio: AsyncIterable<Uint8Array>,
    options?: { readonly signal?: AbortSignal | undefined },
  ): AsyncGenerator<StreamingRecognitionResult, void, undefined>;
  /** Media for a transcript or for a job; answers the name of what has it. See uploadMedia(). */
  uploadMedia(
    media: Blob | Uint8Array<ArrayBuffer>,
    options?: { readonly resourceName?: string; readonly signal?: AbortSignal },
  ): Promise<string>;
}

/** A client of the service at `url`, in a browser or in Node; `token` is an API key or a JWT. Opens nothing by itself. */
export function createHlustClient(
  options: Omit<RestTransportOptions, "lastMessageOf">,
): HlustClient {
  const transport = createRestTransport({ ...options, lastMessageOf });
  const transcripts = createClient(Transcripts, transport);
  const speech = createClient(Speech, transport);
  return {
    transcripts,
    speech,
    accounts: createClient(Accounts, transport),
    webhooks: createClient(Webhooks, transport),
    recognizeLive: (config, audio, options) => recognizeLive(speech, config, audio, options),
    uploadMedia: (media, options) => uploadMedia(transcripts, media, options),
  };
}

/** An empty audioContent finalizes a stream (section 4.9). */
function lastMessageOf(method: DescMethod): Message | undefined {
  if (method !== Speech.method.streamingRecognize) return undefined;
  return create(StreamingRecognizeRequestSchema, {
    streamingRequest: { case: "audioContent", value: new Uint8Array() },
  });
}
