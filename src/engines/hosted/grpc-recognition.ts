import { joinSamples } from "../../audio/join-samples.ts";
import { bytesOf, LiveText } from "./grpc-results.ts";
import type { GrpcServer } from "./grpc-server.ts";
import type { HostedServer, ServerCall, ServerReading } from "./hosted-server.ts";

/** A message to a stream: first the configuration, then the audio. */
interface StreamRequest<Config> {
  readonly streamingRequest:
    | {
        readonly case: "streamingConfig";
        readonly value: { readonly config: Config; readonly interimResults: true };
      }
    | { readonly case: "audioContent"; readonly value: Uint8Array<ArrayBuffer> };
}

interface GrpcResult<Alternative> {
  readonly alternatives: readonly Alternative[];
}

/** A protocol of the shape of Google's, which Riva's has too. */
export interface GrpcProtocol<Config, Alternative> {
  /** The service whose health is checked; "" for the server as a whole. */
  readonly checked: string;
  readonly configOf: (call: ServerCall) => Config;
  readonly stream: (
    requests: AsyncIterable<StreamRequest<Config>>,
    signal: AbortSignal,
  ) => AsyncIterable<{
    readonly results: readonly (GrpcResult<Alternative> & { readonly isFinal: boolean })[];
  }>;
  readonly recognize: (
    config: Config,
    samples: Uint8Array<ArrayBuffer>,
    signal: AbortSignal,
  ) => Promise<{ readonly results: readonly GrpcResult<Alternative>[] }>;
  readonly readingOf: (alternative: Alternative) => ServerReading;
}

/** Returns a server that recognizes over gRPC: live audio in a stream, all other audio at once. */
export function grpcRecognition<Config, Alternative>(
  grpc: GrpcServer,
  protocol: GrpcProtocol<Config, Alternative>,
): HostedServer {
  const readingsOf = ({ alternatives }: GrpcResult<Alternative>) =>
    alternatives.map((each) => protocol.readingOf(each));
  return {
    takesHints: true,
    isStreamed: (mode) => mode === "live",
    async recognize(audio, call) {
      try {
        const config = protocol.configOf(call);
        const { signal } = call;
        if (call.mode === "live") {
          const text = new LiveText(call.onPartial);
          for await (const { results } of protocol.stream(requests(audio, config), signal)) {
            text.take(
              results.map((each) => ({ isFinal: each.isFinal, readings: readingsOf(each) })),
            );
          }
          return text.results;
        }
        const samples = bytesOf(joinSamples(await Array.fromAsync(audio)));
        const { results } = await protocol.recognize(config, samples, signal);
        return results.map(readingsOf);
      } catch (error) {
        throw grpc.failureOf(error);
      }
    },
    probe: (signal) => grpc.probe(protocol.checked, signal),
    close: () => grpc.close(),
  };
}

async function* requests<Config>(
  audio: AsyncIterable<Int16Array>,
  config: Config,
): AsyncGenerator<StreamRequest<Config>, void, undefined> {
  const value = { config, interimResults: true } as const;
  yield { streamingRequest: { case: "streamingConfig", value } };
  for await (const chunk of audio) {
    yield { streamingRequest: { case: "audioContent", value: bytesOf(chunk) } };
  }
}
