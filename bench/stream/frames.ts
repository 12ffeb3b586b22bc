// `node bench/stream/frames.ts` compares in one process, with slices in turn, the CPU time from the
// bytes of a chunk of live audio to its message: with ws alone and as any message is read, and as
// the service reads them.
import { randomBytes } from "node:crypto";
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { duplexPair } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import { chunksOf, syntheticRecording } from "../../src/cli/bench/recording.ts";
import { StreamingRecognizeRequestSchema as schema } from "../../src/gen/hlust/speech/v2beta1/speech_pb.ts";
import { readWholeFrames } from "../../src/server/whole-frames.ts";
import { countValues } from "../../src/transcoding/count-values.ts";
import { readJson, readSingleBytes } from "../../src/transcoding/read-json.ts";
import { report, reportMachine } from "../report.ts";
import { trimmedMean } from "../trimmed-mean.ts";
import { maskedFrame } from "./paced-sockets.ts";

const blocks = Number(process.argv[2] ?? 40);
/** Linux counts the CPU time of a thread in steps of some milliseconds. */
const framesOfSlice = 5_000;
const warmBlocks = 4;
const valuesMax = 5_000;

const frames = chunksOf(syntheticRecording(1), 100).messages.map(maskedFrame);
let messages = 0;

const byWs = open((data) => {
  countValues(data, valuesMax);
  countValues(data, valuesMax);
  if (readJson(schema, data)) messages += 1;
});
const wholeFrames = open((data) => {
  countValues(data, valuesMax);
  countValues(data, valuesMax);
  if (readJson(schema, data)) messages += 1;
});
readWholeFrames(wholeFrames);
const own = open((data) => {
  if (readSingleBytes(schema, data, { isOverwritten: true })) messages += 1;
});
readWholeFrames(own);

const sockets = [byWs, wholeFrames, own] as const;
const costs = sockets.map(() => new Array<number>());
for (let block = -warmBlocks; block < blocks; block += 1) {
  const sums = sockets.map(() => 0);
  const order = [0, 1, 2].map((at) => (at + block + warmBlocks) % sockets.length);
  for (const at of [...order, ...order.toReversed()]) {
    const socket = sockets[at];
    if (socket) sums[at] = (sums[at] ?? 0) + usOfFrame(socket) / 2;
  }
  if (block >= 0) sums.forEach((us, at) => costs[at]?.push(us));
}
const sent = (blocks + warmBlocks) * 6 * framesOfSlice;
if (messages !== sent) throw new Error(`${messages} of ${sent} messages were read`);
const [before = [], between = [], after = []] = costs;
const ratio = (us: readonly number[]) =>
  trimmedMean(us.map((each, at) => Math.log(each / (before[at] ?? NaN))));
const note = (us: readonly number[]) =>
  `${trimmedMean(us).mean.toFixed(2)} to ${trimmedMean(before).mean.toFixed(2)} us, standard error ${(100 * ratio(us).error).toFixed(1)} %`;
reportMachine();
report([
  {
    name: "whole frames, past ws",
    ratio: Math.exp(ratio(between).mean),
    ratioMax: 1,
    note: note(between),
  },
  {
    name: "and audio that is not parsed, in place",
    ratio: Math.exp(ratio(after).mean),
    ratioMax: 1,
    note: note(after),
  },
]);

/** Opens the socket of a server, without a network. */
function open(read: (data: Buffer) => void): WebSocket {
  const [, raw] = duplexPair();
  const request = new IncomingMessage(new Socket());
  request.method = "GET";
  request.headers = {
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": randomBytes(16).toString("base64"),
  };
  const opened: WebSocket[] = [];
  new WebSocketServer({ noServer: true, perMessageDeflate: false }).handleUpgrade(
    request,
    raw,
    Buffer.alloc(0),
    (socket) => opened.push(socket),
  );
  const [socket] = opened;
  if (!socket) throw new Error("no socket was opened");
  return socket.on("message", read);
}

/** Passes frames to a socket, each in memory of its own, as a connection does. */
function usOfFrame(socket: WebSocket): number {
  const received = Array.from({ length: framesOfSlice }, (_, at) => {
    const frame = frames[at % frames.length] ?? Buffer.alloc(0);
    const bytes = Buffer.allocUnsafeSlow(frame.length);
    frame.copy(bytes);
    return bytes;
  });
  const receiver: unknown = Reflect.get(socket, "_receiver");
  if (typeof receiver !== "object" || receiver === null) throw new Error("there is no receiver");
  const write: unknown = Reflect.get(receiver, "write");
  if (typeof write !== "function") throw new Error("there is no receiver");
  const before = process.threadCpuUsage();
  for (const bytes of received) Reflect.apply(write, receiver, [bytes]);
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / framesOfSlice;
}
