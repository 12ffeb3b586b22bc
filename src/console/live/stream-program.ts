/**
 * Returns a program that does the same as the page: it sends samples and receives words. The
 * program requires an API key in HLUST_KEY.
 */
export function streamProgram(origin: string, languageCode: string): string {
  const url = `${origin.replace(/^http/, "ws")}/v2beta1/speech:streamingrecognize`;
  return `// arecord -q -t raw -f S16_LE -r 16000 | HLUST_KEY=hlust_... node live.mjs
import { env, stdin } from "node:process";
const socket = new WebSocket("${url}", ["Bearer", env.HLUST_KEY]);
const send = (message) => socket.send(JSON.stringify(message));
socket.onopen = async () => {
  const config = { encoding: "LINEAR16", sampleRateHertz: 16000, languageCode: "${languageCode}", enableWordTimeOffsets: true };
  send({ streamingConfig: { config, interimResults: true } });
  for await (const samples of stdin) send({ audioContent: samples.toString("base64") });
  send({ audioContent: "" });
};
socket.onmessage = ({ data }) => {
  const { result, error } = JSON.parse(data);
  if (error) console.error(error.message);
  for (const { isFinal, alternatives } of result?.results ?? []) {
    console.log(isFinal ? "=" : " ", alternatives[0].transcript);
  }
};
`;
}
