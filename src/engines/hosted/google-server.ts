import type { MessageInitShape } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { joinSamples } from "../../audio/join-samples.ts";
import { Speech } from "../../gen/google/cloud/speech/v1/speech_pb.ts";
import {
  RecognitionConfig_AudioEncoding as Encoding,
  type RecognitionConfigSchema,
  type SpeechRecognitionAlternative,
  type StreamingRecognizeRequestSchema,
} from "../../gen/hlust/speech/v2beta1/speech_pb.ts";
import { msOfDuration } from "../../std/duration.ts";
import { engineSampleRate } from "../protocol/engine.ts";
import { bytesOf, LiveText } from "./grpc-results.ts";
import { openGrpcServer } from "./grpc-server.ts";
import type {
  HostedServer,
  ServerCall,
  ServerReading,
  ServerResult,
  ServerSettings,
} from "./hosted-server.ts";

/** Opens a server of google.cloud.speech.v1, such as another Hlust. */
export function openGoogleServer(settings: ServerSettings): HostedServer {
  const grpc = openGrpcServer(settings);
  const client = createClient(Speech, grpc.transport);
  return {
    takesHints: true,
    isStreamed: (mode) => mode === "live",
    async recognize(audio, call) {
      try {
        const config = configOf(settings, call);
        const { signal } = call;
        if (call.mode === "live") {
          const answers = client.streamingRecognize(requests(audio, config), { signal });
          const text = new LiveText(call.onPartial);
          for await (const { results } of answers) {
            text.take(
              results.map(({ isFinal, alternatives }) => ({
                isFinal,
                readings: alternatives.map(readingOf),
              })),
            );
          }
          return text.results;
        }
        const content = bytesOf(joinSamples(await Array.fromAsync(audio)));
        const source = { case: "content", value: content } as const;
        const { results } = await client.recognize(
          { config, audio: { audioSource: source } },
          { signal },
        );
        return results.map(({ alternatives }): ServerResult => alternatives.map(readingOf));
      } catch (error) {
        throw grpc.failureOf(error);
      }
    },
    probe: (signal) => grpc.probe(Speech.typeName, signal),
    close: () => grpc.close(),
  };
}

function configOf(
  { model, languageCode }: ServerSettings,
  call: ServerCall,
): MessageInitShape<typeof RecognitionConfigSchema> {
  return {
    encoding: Encoding.LINEAR16,
    sampleRateHertz: engineSampleRate,
    languageCode: languageCode ?? call.languageCode,
    maxAlternatives: call.alternativesMax,
    speechContexts: call.hints.map(({ phrase, boost }) => ({ phrases: [phrase], boost })),
    enableWordTimeOffsets: true,
    enableAutomaticPunctuation: true,
    ...(model !== undefined && { model }),
  };
}

async function* requests(
  audio: AsyncIterable<Int16Array>,
  config: MessageInitShape<typeof RecognitionConfigSchema>,
): AsyncGenerator<MessageInitShape<typeof StreamingRecognizeRequestSchema>, void, undefined> {
  const value = { config, interimResults: true };
  yield { streamingRequest: { case: "streamingConfig", value } };
  for await (const chunk of audio) {
    yield { streamingRequest: { case: "audioContent", value: bytesOf(chunk) } };
  }
}

function readingOf(alternative: SpeechRecognitionAlternative): ServerReading {
  const { transcript, confidence, words } = alternative;
  // Times that another Hlust has estimated are estimated here again, and marked.
  const isTimed = words.every(({ estimatedTimes }) => !estimatedTimes);
  return {
    text: transcript,
    confidence,
    words: (isTimed ? words : []).map(({ word, startTime, endTime, confidence: own }) => ({
      text: word,
      // A time of 0 is not on the wire.
      startMs: startTime ? msOfDuration(startTime) : 0,
      endMs: endTime ? msOfDuration(endTime) : 0,
      confidence: own,
    })),
  };
}
