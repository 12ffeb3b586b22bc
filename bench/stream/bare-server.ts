// Does the minimum that a server of §4.9 does: ws, JSON.parse and Buffer.from. Its responses have
// the number and length of the scripted engine's responses, and are sent after the same chunks. It
// does not process audio, but counts the chunks of the built-in recording.
//
// `node bare-server.ts` prints the port of the server.
import { WebSocketServer, type WebSocket } from "ws";

/**
 * The 100 ms chunks of the built-in recording: a tone, then silence. The final result is sent after
 * 500 ms of silence.
 */
const chunksOfTone = 30;
const chunksOfPeriod = 37;
const finalAfter = 35;
const chunksOfWord = 5;
const chunkMs = 100;

const server = new WebSocketServer({
  host: "127.0.0.1",
  port: 0,
  perMessageDeflate: false,
  handleProtocols: (offered) => [...offered].find((protocol) => protocol === "Bearer") ?? false,
});
server.on("connection", serve);
server.on("listening", () => {
  const address = server.address();
  if (typeof address === "object" && address !== null) console.log(address.port);
});

function serve(socket: WebSocket): void {
  let chunks = 0;
  let samples = 0;
  socket.on("message", (data: Buffer) => {
    const message: unknown = JSON.parse(data.toString());
    if (!isAudio(message)) return;
    const bytes = Buffer.from(message.audioContent, "base64");
    if (bytes.length === 0) {
      const spoken = chunks % chunksOfPeriod;
      if (spoken > 0 && spoken < finalAfter) socket.send(answerAt(chunks, true));
      socket.close(1000);
      return;
    }
    samples += bytes.length / 2;
    chunks += 1;
    const place = chunks % chunksOfPeriod;
    const isFinal = place === finalAfter;
    const isInterim = place <= chunksOfTone && place % chunksOfWord === 1;
    if (samples > 0 && (isInterim || isFinal)) socket.send(answerAt(chunks, isFinal));
  });
}

function isAudio(message: unknown): message is { audioContent: string } {
  return typeof message === "object" && message !== null && "audioContent" in message;
}

/**
 * Returns the scripted engine's response after this number of chunks of the stream, as JSON of
 * §4.9.
 */
function answerAt(chunks: number, isFinal: boolean): string {
  const begin = Math.floor((chunks - 1) / chunksOfPeriod) * chunksOfPeriod;
  const spoken = Math.min(chunksOfTone, chunks - begin);
  const count = Math.ceil(spoken / chunksOfWord);
  const words = Array.from({ length: count }, (_, index) => ({
    startTime: secondsAt(begin + index * chunksOfWord),
    endTime: secondsAt(begin + Math.min(spoken, (index + 1) * chunksOfWord)),
    word: `word${index + 1}`,
    confidence: 1,
  }));
  const text = words.map(({ word }) => word).join(" ");
  const transcript = isFinal ? `${text} ` : text;
  const result = {
    alternatives: [{ transcript, confidence: 1, words }],
    ...(isFinal && { isFinal }),
  };
  return JSON.stringify({ result: { results: [result] } });
}

function secondsAt(chunks: number): string {
  return `${(chunks * chunkMs) / 1000}s`;
}
