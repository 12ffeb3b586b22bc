// The client of calls.ts, which runs in its own process. It reads a line of JSON, {request, calls},
// from its input, and writes a line when the calls have ended.
//
// Usage: node load.ts <port>
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";

const connections = 4;
const port = Number(process.argv[2]);
const sockets = await Promise.all(Array.from({ length: connections }, () => open()));

for await (const line of createInterface({ input: process.stdin })) {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what calls.ts sends
  const { request, calls } = JSON.parse(line) as { request: string; calls: number };
  await Promise.all(sockets.map((socket) => callAgain(socket, request, calls / connections)));
  console.log("done");
}
for (const socket of sockets) socket.destroy();

function open(): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => {
      resolve(socket);
    });
    socket.setNoDelay(true).once("error", reject);
  });
}

/** Repeatedly sends the request and waits for the whole response. */
async function callAgain(socket: Socket, request: string, calls: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let answered = 0;
  let text = "";
  const onData = (data: Buffer) => {
    text += data.toString("latin1");
    const head = text.indexOf("\r\n\r\n");
    if (head === -1) return;
    if (!text.startsWith("HTTP/1.1 200 ")) reject(new Error(text.slice(0, 500)));
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(text.slice(0, head + 2))?.[1]);
    if (text.length < head + 4 + length) return;
    text = "";
    answered += 1;
    if (answered === calls) resolve();
    else socket.write(request, "latin1");
  };
  socket.on("data", onData);
  socket.write(request, "latin1");
  await promise;
  socket.off("data", onData);
}
