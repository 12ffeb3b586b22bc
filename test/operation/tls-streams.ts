import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectTls } from "node:tls";
import type { Client } from "@connectrpc/connect";
import { recognizeLive } from "../../src/client/recognize-live.ts";
import type { Speech } from "../../src/gen/hlust/speech/v2beta1/speech_pb.ts";
import type { ServiceProcess } from "../fault/process.ts";
import { speech } from "../fixtures/engine-pool-fixture.ts";
import type { Certificate } from "../fixtures/trusted-certificate.ts";
import { finalsOf, openStream, streamingConfig } from "../spec/stream.ts";

export const settings = { HLUST_ENGINE: "scripted", HLUST_ACCOUNT_STREAMS: "0" };
export const config = { encoding: 1, sampleRateHertz: 16_000, languageCode: "is-IS" } as const;
export const oneSecond = Buffer.from(speech(1_000).buffer);

/** Returns the settings of a certificate. */
export const tlsOf = ({ certificate, key }: Certificate) => ({
  HLUST_TLS_CERTIFICATE: certificate,
  HLUST_TLS_KEY: key,
});
/** Returns the common name of the certificate that new connections get. */
export async function servedName(address: string): Promise<string> {
  const { hostname, port } = new URL(address);
  const socket = connectTls({ host: hostname, port: Number(port) });
  await once(socket, "secureConnect");
  const { subject } = socket.getPeerCertificate();
  socket.destroy();
  return String(subject.CN);
}

/** Opens a live stream over WebSocket; `end` sends more audio and returns the finals. */
export async function openSocket({ address, key }: ServiceProcess) {
  const stream = await openStream(address, { token: key });
  stream.send(streamingConfig({ languageCode: "is-IS" }));
  stream.sendAudio(oneSecond);
  await stream.waitFor(({ result }) => (result?.results?.length ?? 0) > 0);
  return async () => {
    stream.sendAudio(oneSecond);
    stream.send({ audioContent: "" });
    assert.equal(await stream.closed, 1000);
    return finalsOf(stream.messages).length;
  };
}

/** Does the same over gRPC. */
export async function openGrpcStream(client: Client<typeof Speech>) {
  const rest = Promise.withResolvers<"end">();
  async function* samples() {
    yield oneSecond;
    await rest.promise;
    yield oneSecond;
  }
  const results = recognizeLive(client, { config, interimResults: true }, samples());
  const answers = results[Symbol.asyncIterator]();
  await answers.next();
  return async () => {
    rest.resolve("end");
    let finals = 0;
    for (;;) {
      const { done, value } = await answers.next();
      if (done) return finals;
      if (value.isFinal) finals += 1;
    }
  };
}
