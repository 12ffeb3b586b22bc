import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";

/** A web server on the loopback interface for media that jobs download. */
export interface MediaHost extends AsyncDisposable {
  readonly address: string;
}

/** Opens a media host. `files` has the content or a request listener for each path. */
export async function openMediaHost(
  files: Readonly<Record<string, Buffer | RequestListener>>,
): Promise<MediaHost> {
  const server = createServer((request, response) => {
    const file = files[request.url ?? ""];
    if (typeof file === "function") {
      file(request, response);
      return;
    }
    response.writeHead(file ? 200 : 404, file ? { "content-length": file.length } : {});
    response.end(file);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("the media host is not bound");
  return {
    address: `http://127.0.0.1:${bound.port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
