// Functions that client-keys.test.ts calls in a page.
import { ConnectError } from "@connectrpc/connect";
import { createHlustClient, type HlustClient } from "../../src/client/hlust-client.ts";
import { makeKeyPair } from "../../src/client/key-pair.ts";
import type { SigningAlgorithm } from "../../src/client/private-key.ts";
import { RecognitionConfig_AudioEncoding as Encoding } from "../../src/gen/hlust/speech/v2beta1/speech_pb.ts";
import type { Service } from "./client-page.ts";

const config = { encoding: Encoding.LINEAR16, sampleRateHertz: 16_000, languageCode: "en-US" };

/**
 * A client key that was generated in the page: the algorithm, the private key, and the results of
 * calls with the key.
 */
export interface OwnKey {
  readonly algorithm: SigningAlgorithm;
  readonly keyId: string;
  readonly clientId: string;
  readonly pem: string;
  readonly recognized: string;
  readonly transcripts: number;
}

/**
 * Generates a key pair, registers it, and makes calls with its tokens: over a WebSocket, and with
 * fetch and the saved PEM.
 */
export async function useOwnKey(
  service: Service & { readonly audience: string },
  audio: string,
  algorithm?: SigningAlgorithm,
): Promise<OwnKey> {
  const { token, ...where } = service;
  const pair = await makeKeyPair(algorithm);
  const { accounts } = createHlustClient({ ...where, token });
  const { publicKey, privateKey } = pair;
  const { keyId, clientId } = await accounts.createClientKey({ displayName: "page", publicKey });
  const own = createHlustClient({ ...where, token: { keyId, clientId, privateKey } });
  const recognized = await recognize(own, audio);
  const pem = pair.takePem();
  const saved = createHlustClient({ ...where, token: { keyId, clientId, privateKey: pem } });
  const { transcripts } = await saved.transcripts.listTranscripts({});
  const { algorithm: made } = pair;
  return { algorithm: made, keyId, clientId, pem, recognized, transcripts: transcripts.length };
}

/** Returns the algorithm that makeKeyPair() chooses in a browser without Ed25519. */
export async function makeOlderKey(): Promise<SigningAlgorithm> {
  const { subtle } = crypto;
  const generateKey = subtle.generateKey.bind(subtle);
  Object.defineProperty(subtle, "generateKey", {
    configurable: true,
    value: async (...parts: Parameters<typeof generateKey>) => {
      const [algorithm] = parts;
      if (typeof algorithm !== "string" && algorithm.name === "Ed25519") {
        throw new DOMException("Algorithm: Unrecognized name", "NotSupportedError");
      }
      return await generateKey(...parts);
    },
  });
  try {
    return (await makeKeyPair()).algorithm;
  } finally {
    Reflect.deleteProperty(subtle, "generateKey");
  }
}

/**
 * Recognizes speech in a page without a key. Each stream has its own token, from a URL or from a
 * function.
 */
export async function recognizeWithoutKey(url: string, audio: string): Promise<string[]> {
  const source = `${url}/stream-token`;
  const fromUrl = createHlustClient({ url, streamToken: source });
  const ask = async (): Promise<string> => {
    const text = await (await fetch(source, { method: "POST" })).text();
    const { token }: { readonly token: string } = JSON.parse(text);
    return token;
  };
  const fromFunction = createHlustClient({ url, streamToken: ask });
  const recognized: string[] = [];
  for (const client of [fromUrl, fromUrl, fromFunction]) {
    recognized.push(await recognize(client, audio));
  }
  return recognized;
}

/** Returns the error code of a stream without a token, and whether its audio was cancelled. */
export async function failureWithoutToken(url: string): Promise<unknown> {
  const client = createHlustClient({ url: new URL(url).origin, streamToken: url });
  let isCancelled = false;
  const audio = new ReadableStream<Uint8Array>({
    cancel() {
      isCancelled = true;
    },
  });
  const error: unknown = await client
    .recognizeLive({ config }, audio)
    .next()
    .catch((it: unknown) => it);
  return { code: error instanceof ConnectError ? error.code : String(error), isCancelled };
}

/** Returns the final results for base64-encoded samples. */
async function recognize(client: HlustClient, audio: string): Promise<string> {
  const { body } = await fetch(`data:application/octet-stream;base64,${audio}`);
  if (body === null) throw new Error("no audio");
  const found: string[] = [];
  for await (const { alternatives } of client.recognizeLive({ config }, body)) {
    found.push(alternatives[0]?.transcript ?? "");
  }
  return found.join("|");
}

/** Sends a text in a request and over a WebSocket, as a careless page might send a secret. */
export async function sendAway(service: Service, text: string): Promise<void> {
  await fetch(`${service.url}/v1/nothing`, { method: "POST", body: text });
  const url = service.url.replace("http", "ws");
  const path = `${url}/v2beta1/speech:streamingrecognize`;
  const socket = new WebSocket(path, ["Bearer", service.token]);
  await new Promise((resolve) => {
    socket.addEventListener("open", resolve);
  });
  socket.send(text);
  await new Promise((resolve) => {
    socket.addEventListener("close", resolve);
  });
}
