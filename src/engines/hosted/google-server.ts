import type { MessageInitShape } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { Speech } from "../../gen/google/cloud/speech/v1/speech_pb.ts";
import {
  RecognitionConfig_AudioEncoding as Encoding,
  type RecognitionConfigSchema,
  type SpeechRecognitionAlternative,
} from "../../gen/hlust/speech/v2beta1/speech_pb.ts";
import { msOfDuration } from "../../std/duration.ts";
import { engineSampleRate } from "../protocol/engine.ts";
import { grpcRecognition } from "./grpc-recognition.ts";
import { openGrpcServer } from "./grpc-server.ts";
import type { HostedServer, ServerCall, ServerReading, ServerSettings } from "./hosted-server.ts";

/** Opens a server of google.cloud.speech.v1, such as another Hlust. */
export function openGoogleServer(settings: ServerSettings): HostedServer {
  const grpc = openGrpcServer(settings);
  const client = createClient(Speech, grpc.transport);
  return grpcRecognition(grpc, {
    checked: Speech.typeName,
    configOf: (call) => configOf(settings, call),
    stream: (requests, signal) => client.streamingRecognize(requests, { signal }),
    async recognize(config, value, signal) {
      const audio = { audioSource: { case: "content", value } } as const;
      return await client.recognize({ config, audio }, { signal });
    },
    readingOf,
  });
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
