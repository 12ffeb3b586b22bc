import type { MessageInitShape } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { joinSamples } from "../../audio/join-samples.ts";
import {
  AudioEncoding,
  type RecognitionConfigSchema,
  RivaSpeechRecognition,
  type SpeechRecognitionAlternative,
  type StreamingRecognizeRequestSchema,
} from "../../gen/nvidia/riva/asr/riva_asr_pb.ts";
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

/** Opens a server of nvidia.riva.asr. */
export function openRivaServer(settings: ServerSettings): HostedServer {
  const grpc = openGrpcServer(settings);
  const client = createClient(RivaSpeechRecognition, grpc.transport);
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
        const samples = bytesOf(joinSamples(await Array.fromAsync(audio)));
        const { results } = await client.recognize({ config, audio: samples }, { signal });
        return results.map(({ alternatives }): ServerResult => alternatives.map(readingOf));
      } catch (error) {
        throw grpc.failureOf(error);
      }
    },
    probe: (signal) => grpc.probe("", signal),
    close: () => grpc.close(),
  };
}

function configOf(
  { model, languageCode }: ServerSettings,
  call: ServerCall,
): MessageInitShape<typeof RecognitionConfigSchema> {
  return {
    encoding: AudioEncoding.LINEAR_PCM,
    sampleRateHertz: engineSampleRate,
    languageCode: languageCode ?? call.languageCode,
    maxAlternatives: call.alternativesMax,
    speechContexts: call.hints.map(({ phrase, boost }) => ({ phrases: [phrase], boost })),
    audioChannelCount: 1,
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
  return {
    text: transcript,
    confidence,
    words: words.map(({ word, startTime, endTime, confidence: own }) => ({
      text: word,
      startMs: startTime,
      endMs: endTime,
      confidence: own,
    })),
  };
}
