// Functions that client.test.ts calls in a page.
import { ConnectError } from "@connectrpc/connect";
import { createHlustClient } from "../../src/client/hlust-client.ts";
import { RecognitionConfig_AudioEncoding as Encoding } from "../../src/gen/hlust/speech/v2beta1/speech_pb.ts";
import { TranscriptMetadata_FileType as FileType } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";

const config = { encoding: Encoding.LINEAR16, sampleRateHertz: 16_000, languageCode: "en-US" };

/** The address of the service and a key. */
export interface Service {
  readonly url: string;
  readonly token: string;
}

/** Returns the live results for base64-encoded samples: the texts, and whether they are final. */
export async function recognize(service: Service, audio: string): Promise<[string, boolean][]> {
  const { body } = await fetch(`data:application/octet-stream;base64,${audio}`);
  if (body === null) throw new Error("no audio");
  const found: [string, boolean][] = [];
  const live = createHlustClient(service).recognizeLive({ config, interimResults: true }, body);
  for await (const { alternatives, isFinal } of live) {
    found.push([alternatives[0]?.transcript ?? "", isFinal]);
  }
  return found;
}

/** Creates a transcript and reads it back. */
export async function makeTranscript(service: Service, subject: string) {
  const { transcripts } = createHlustClient(service);
  const metadata = { fileType: FileType.AUDIO, languageCode: "is-IS", subject };
  const { name } = await transcripts.createTranscript({ transcript: { metadata } });
  const transcript = await transcripts.getTranscript({ name });
  return { name, read: transcript.name, subject: transcript.metadata?.subject };
}

/** Returns the codes of the ConnectErrors with which calls fail, by the name of the failure. */
export async function failures(service: Service): Promise<Record<string, unknown>> {
  const stranger = createHlustClient({ ...service, token: "wrong" });
  const unreachable = createHlustClient({ ...service, url: "http://127.0.0.1:9" });
  const client = createHlustClient(service);
  const audio = () => new Blob([new Uint8Array(320)]).stream();
  const calls: Record<string, () => Promise<unknown>> = {
    wrongToken: () => stranger.transcripts.listTranscripts({}),
    wrongTokenLive: () => stranger.recognizeLive({ config }, audio()).next(),
    missing: () => client.transcripts.getTranscript({ name: "transcripts/0" }),
    aborted: () => client.transcripts.listTranscripts({}, { signal: AbortSignal.abort() }),
    badConfigLive: () => client.recognizeLive({}, audio()).next(),
    unreachable: () => unreachable.transcripts.listTranscripts({}),
    unreachableLive: () => unreachable.recognizeLive({ config }, audio()).next(),
  };
  const found: Record<string, unknown> = {};
  for (const [name, call] of Object.entries(calls)) {
    found[name] = await call().then(
      () => "it succeeded",
      (error: unknown) => (error instanceof ConnectError ? error.code : String(error)),
    );
  }
  return found;
}
