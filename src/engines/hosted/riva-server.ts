import type { MessageInitShape } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import {
  AudioEncoding,
  type RecognitionConfigSchema,
  RivaSpeechRecognition,
  type SpeechRecognitionAlternative,
} from "../../gen/nvidia/riva/asr/riva_asr_pb.ts";
import { engineSampleRate } from "../protocol/engine.ts";
import { grpcRecognition } from "./grpc-recognition.ts";
import { openGrpcServer } from "./grpc-server.ts";
import type { HostedServer, ServerCall, ServerReading, ServerSettings } from "./hosted-server.ts";

/** Opens a server of nvidia.riva.asr. */
export function openRivaServer(settings: ServerSettings): HostedServer {
  const grpc = openGrpcServer(settings);
  const client = createClient(RivaSpeechRecognition, grpc.transport);
  return grpcRecognition(grpc, {
    checked: "",
    configOf: (call) => configOf(settings, call),
    stream: (requests, signal) => client.streamingRecognize(requests, { signal }),
    recognize: async (config, audio, signal) =>
      await client.recognize({ config, audio }, { signal }),
    readingOf,
  });
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

function readingOf(alternative: SpeechRecognitionAlternative): ServerReading {
  const { transcript, words } = alternative;
  // Riva's confidences are scores of its decoder, mostly logarithms. Some are between 0 and 1, but
  // none is a probability.
  return {
    text: transcript,
    words: words.map(({ word, startTime, endTime }) => ({
      text: word,
      startMs: startTime,
      endMs: endTime,
    })),
  };
}
