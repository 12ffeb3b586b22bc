import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, request as sendRequest, type RequestListener } from "node:http";
import { stripTypeScriptTypes } from "node:module";
import { connect } from "node:net";
import { join, normalize, resolve } from "node:path";
import { pipeline } from "node:stream";

/**
 * A web server for pages that use the service from the pages' own origin, like a reverse proxy.
 */
export interface PageServer extends AsyncDisposable {
  readonly address: string;
  /** Returns all bytes that browsers have sent to the server. */
  sent(): Buffer;
}

const root = resolve(import.meta.dirname, "../..");
/**
 * The packages that pages can load. They can also load the source modules, without their types.
 */
const packages = ["@bufbuild/protobuf", "@connectrpc/connect"];
const folders = ["src/", "test/browser/", ...packages.map((name) => `node_modules/${name}/`)];

/**
 * Serves an empty page at /page, modules at their paths in the project, and the service at all
 * other paths. With a `key`, a POST to /stream-token returns a token for one stream, as the server
 * for a page without a key does.
 */
export async function openPageServer(service: string, key?: string): Promise<PageServer> {
  const { hostname, port } = new URL(service);
  const server = createServer((request, response) => {
    const path = normalize(request.url ?? "").slice(1);
    if (path === "page") {
      response.writeHead(200, { "content-type": "text/html" }).end(page());
    } else if (path === "stream-token" && key !== undefined) {
      const headers = { authorization: `Bearer ${key}` };
      const url = `${service}/v1/streamTokens`;
      pipeline(
        request,
        sendRequest(url, { method: request.method, headers }, (answer) => {
          response.writeHead(answer.statusCode ?? 500, answer.headers);
          pipeline(answer, response, () => {});
        }),
        () => {},
      );
    } else if (folders.some((folder) => path.startsWith(folder))) {
      serveModule(path, response);
    } else {
      const { method, url, headers } = request;
      const forwarded = sendRequest({ hostname, port, method, path: url, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        pipeline(answer, response, () => {});
      });
      pipeline(request, forwarded, () => {});
    }
  });
  server.on("upgrade", ({ url, rawHeaders }, socket, head) => {
    const target = connect(Number(port), hostname);
    const lines = [`GET ${url} HTTP/1.1`];
    for (let at = 0; at < rawHeaders.length; at += 2) {
      lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
    }
    target.write(`${lines.join("\r\n")}\r\n\r\n`);
    target.write(head);
    pipeline(socket, target, socket, () => {});
  });
  const sent: Buffer[] = [];
  server.on("connection", (socket) => {
    socket.on("data", (chunk: Buffer) => sent.push(chunk));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("the page server is not bound");
  return {
    address: `http://127.0.0.1:${bound.port}`,
    sent: () => Buffer.concat(sent),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function serveModule(path: string, response: Parameters<RequestListener>[1]): void {
  const text = readFileSync(join(root, path), "utf8");
  const code = path.endsWith(".ts") ? stripTypeScriptTypes(text) : text;
  response.writeHead(200, { "content-type": "text/javascript" }).end(code);
}

/** Returns a page without scripts, with an import map for the packages. */
function page(): string {
  const imports = Object.fromEntries(packages.flatMap(exportsOf));
  const map = JSON.stringify({ imports });
  return `<!doctype html><meta charset="utf-8"><script type="importmap">${map}</script>`;
}

function exportsOf(name: string): [specifier: string, url: string][] {
  const manifest = readFileSync(join(root, "node_modules", name, "package.json"), "utf8");
  const { exports }: { exports: Record<string, { import: string }> } = JSON.parse(manifest);
  return Object.entries(exports).map(([key, { import: file }]) => [
    name + key.slice(1),
    `/node_modules/${name}/${file.slice(2)}`,
  ]);
}
