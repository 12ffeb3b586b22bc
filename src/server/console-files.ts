import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ServiceError, shown } from "../std/service-error.ts";
import {
  answerContent,
  headerOf,
  targetOf,
  writeHead,
  type HttpDoor,
  type HttpRequest,
  type HttpResponse,
} from "./http.ts";

/** A console file in its available encodings. */
interface ConsoleFile {
  readonly contentType: string;
  readonly forms: ReadonlyMap<Encoding, Buffer>;
}

/** Content encodings and their file suffixes, smallest first. */
const encodings = { br: ".br", gzip: ".gz", identity: "" } as const;
type Encoding = keyof typeof encodings;

const contentTypes: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  woff2: "font/woff2",
  wav: "audio/wav",
};

const pagesPath = "/console/";

export interface ConsoleFilesParts {
  /** The folder of the built console (script/build-console.ts). */
  readonly folder: string;
  /** Origins of media and uploads in addition to the service's own, such as a bucket's origin. */
  readonly mediaOrigins: readonly string[];
}

/**
 * Creates the door that serves the console's files: one page for every path under /console/, and
 * its assets under /console/assets/.
 */
export function createConsoleFiles({ folder, mediaOrigins }: ConsoleFilesParts): HttpDoor {
  const files = readFiles(folder);
  const page = files.get("index.html");
  const pageHeaders = headersOfPage(mediaOrigins);
  return {
    handles: (request) => {
      const path = pathOf(targetOf(request));
      return path === "/" || path === "/console" || path.startsWith(pagesPath);
    },
    async handle(request, response) {
      const path = pathOf(targetOf(request));
      const method = request.method ?? "";
      if (method !== "GET" && method !== "HEAD") throw notAllowed(path, method);
      if (!path.startsWith(pagesPath)) {
        writeHead(response, 307, { location: pagesPath, "content-length": 0 });
        response.end();
        return;
      }
      const name = path.slice(pagesPath.length);
      if (name.startsWith("assets/")) {
        const file = files.get(name);
        if (!file) throw new ServiceError("not_found", `the console has no file ${shown(path)}`);
        // An asset can be cached forever, because its name changes with its content.
        answerFile(file, request, response, {
          "cache-control": "public, max-age=31536000, immutable",
        });
        return;
      }
      if (!page) throw notBuilt();
      answerFile(page, request, response, pageHeaders);
    },
  };
}

function readFiles(folder: string): Map<string, ConsoleFile> {
  const files = new Map<string, ConsoleFile>();
  for (const name of namesIn(folder)) {
    const contentType = contentTypes[name.split(".").at(-1) ?? ""];
    if (contentType === undefined) continue;
    const forms = new Map<Encoding, Buffer>();
    for (const encoding of ["br", "gzip", "identity"] as const) {
      const form = readForm(join(folder, name + encodings[encoding]));
      if (form) forms.set(encoding, form);
    }
    files.set(name, { contentType, forms });
  }
  return files;
}

/**
 * Returns the names of the files in a folder; empty if the console was not built, as in many tests.
 */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: "utf8" });
  } catch {
    return [];
  }
}

function readForm(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

/**
 * Returns the headers of the console's pages. The pages load nothing from other origins, have no
 * inline scripts or styles, turn no string into script (Trusted Types), and are not shown in
 * frames. Only these pages may use the microphone.
 */
function headersOfPage(mediaOrigins: readonly string[]): Readonly<Record<string, string>> {
  const media = ["'self'", ...mediaOrigins].join(" ");
  const policy = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "font-src": "'self'",
    "img-src": "'self'",
    "connect-src": media,
    "media-src": `${media} blob:`,
    "worker-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
    "require-trusted-types-for": "'script'",
    "trusted-types": "'none'",
  };
  return {
    "content-security-policy": Object.entries(policy)
      .map(([name, value]) => `${name} ${value}`)
      .join("; "),
    "permissions-policy": "microphone=(self), camera=(), geolocation=(), display-capture=()",
    "referrer-policy": "no-referrer",
    "x-robots-tag": "noindex",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
  };
}

function answerFile(
  { contentType, forms }: ConsoleFile,
  request: HttpRequest,
  response: HttpResponse,
  headers: Readonly<Record<string, string>>,
): void {
  const encoding = chosenEncoding(headerOf(request, "accept-encoding") ?? "", forms);
  answerContent(response, 200, forms.get(encoding) ?? Buffer.alloc(0), {
    "content-type": contentType,
    vary: "accept-encoding",
    ...(encoding !== "identity" && { "content-encoding": encoding }),
    ...headers,
  });
}

/** Returns the smallest encoding that the browser accepts (RFC 9110, section 12.5.3). */
function chosenEncoding(accepted: string, forms: ConsoleFile["forms"]): Encoding {
  const parts = accepted.split(",").map((part) => part.trim().toLowerCase());
  const wanted = parts.filter((part) => !/;\s*q=0(\.0*)?$/.test(part));
  const taken = new Set(wanted.map((part) => part.split(";", 1)[0]?.trim()));
  for (const encoding of forms.keys()) if (taken.has(encoding)) return encoding;
  return "identity";
}

function pathOf(target: string): string {
  return target.split("?", 1)[0] ?? "";
}

function notBuilt(): ServiceError {
  return new ServiceError(
    "unavailable",
    "the console is not built: run script/setup, or npm run console:build, and start the service again",
    { reason: "CONSOLE_NOT_BUILT" },
  );
}

function notAllowed(path: string, method: string): ServiceError {
  return new ServiceError(
    "unimplemented",
    `${path} does not accept ${shown(method)}, only GET, HEAD`,
    { reason: "METHOD_NOT_ALLOWED", httpStatus: 405, metadata: { allow: "GET, HEAD" } },
  );
}
