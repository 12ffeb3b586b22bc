import { connect } from "node:net";
import type pg from "pg";

/** The code of a CancelRequest (PostgreSQL's protocol, section 53.7). */
const cancelRequest = 80_877_102;
const cancelMsMax = 2_000;

/**
 * Requests that the server cancel the statement that a connection is executing; a pooler forwards
 * the request. Resolves when the request has been sent or could not be sent, because the server
 * never answers a cancellation.
 */
export async function cancelStatement(client: pg.Client): Promise<void> {
  if (!("processID" in client && "secretKey" in client)) return;
  const { host, port } = client;
  const message = Buffer.alloc(16);
  message.writeInt32BE(message.length, 0);
  message.writeInt32BE(cancelRequest, 4);
  message.writeInt32BE(Number(client.processID), 8);
  message.writeInt32BE(Number(client.secretKey), 12);
  const socket = host.startsWith("/")
    ? connect(`${host}/.s.PGSQL.${port}`)
    : connect({ host, port });
  socket.setTimeout(cancelMsMax, () => socket.destroy());
  // The server closes the connection when it has read the message.
  socket.on("error", () => {});
  socket.resume().write(message);
  await new Promise<void>((resolve) => socket.once("close", () => resolve()));
}
