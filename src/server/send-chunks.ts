import { Http2ServerResponse } from "node:http2";
import { Readable } from "node:stream";
import { isClosed, type HttpResponse } from "./http.ts";

/**
 * Sends a body and ends the answer. Each chunk is with the system before the next is asked for.
 * Throws when the caller goes away, also while a stream hangs, which is destroyed.
 */
export async function sendChunks(
  response: HttpResponse,
  chunks: AsyncIterable<Uint8Array>,
): Promise<void> {
  let giveUp = (_reason: Error): void => {};
  const onClose = () => {
    const gone = new Error("the client closed the request");
    giveUp(gone);
    // Of a store that hangs no next chunk would come to see it at.
    if (chunks instanceof Readable) chunks.destroy(gone);
  };
  response.once("close", onClose);
  if (isClosed(response)) onClose();
  try {
    for await (const chunk of chunks) {
      if (isClosed(response)) throw new Error("the client closed the request");
      await new Promise<void>((resolve, reject) => {
        giveUp = reject;
        const onWritten = (error?: Error | null) => {
          if (error) reject(error);
          else resolve();
        };
        // One line for each version: the types of Node do not see that the calls are alike.
        if (response instanceof Http2ServerResponse) response.write(chunk, onWritten);
        else response.write(chunk, onWritten);
      });
    }
    response.end();
  } finally {
    response.off("close", onClose);
  }
}
