import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { OpenApiDocument } from "../../transcoding/openapi/document.ts";
import { ServiceError, shown } from "../../std/service-error.ts";
import {
  answerContent,
  headerOf,
  targetOf,
  writeHead,
  type HttpDoor,
  type HttpRequest,
  type HttpResponse,
} from "../http.ts";
import { intro } from "../openapi.ts";
import { findConsoleParts, fontFaces } from "./console-parts.ts";
import { docsPage } from "./docs-page.ts";

/** The response for one path. It changes only with a restart. */
interface Page {
  readonly content: Buffer;
  /** A strong ETag, in quotes. */
  readonly etag: string;
  readonly headers: Readonly<Record<string, string>>;
}

const methods = "GET, HEAD";

/**
 * The page may load only the style sheet and the icon from its own folder. Inline content, scripts
 * and frames are not allowed.
 */
const pagePolicy =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * Where the console is built, its script, style sheet and fonts are allowed too, and calls of the
 * service. The script turns no text into code or elements (Trusted Types).
 */
const scriptedPolicy = `${pagePolicy}; script-src 'self'; connect-src 'self'; font-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'`;

/**
 * Creates the door of the API reference: /openapi.json for programs, /docs for people. No token is
 * needed. `describe` is called once, at the first request, when the address of the service is
 * known. `consoleFolder` is that of the built console, whose sessions the page can use.
 */
export function createDocsDoor(describe: () => OpenApiDocument, consoleFolder?: string): HttpDoor {
  let pages: ReadonlyMap<string, Page> | undefined;
  return {
    handles: (request) => paths.has(pathOf(targetOf(request))),
    async handle(request, response) {
      const path = pathOf(targetOf(request));
      const method = request.method ?? "";
      if (method !== "GET" && method !== "HEAD") throw notAllowed(path, method);
      const page = (pages ??= pagesOf(describe(), consoleFolder)).get(path);
      if (page === undefined) throw new Error(`there is no page ${path}`);
      answerPage(page, request, response);
    },
  };
}

const paths: ReadonlySet<string> = new Set([
  "/openapi.json",
  "/docs",
  "/docs/style.css",
  "/docs/icon.svg",
]);

function pathOf(target: string): string {
  return target.split("?", 1)[0] ?? "";
}

function pagesOf(document: OpenApiDocument, consoleFolder: string | undefined): Map<string, Page> {
  const parts = consoleFolder === undefined ? undefined : findConsoleParts(consoleFolder);
  const sibling = (name: string) => readFileSync(new URL(name, import.meta.url), "utf8");
  // Pages of any site may read the document, which is public.
  const open = { "access-control-allow-origin": "*" };
  return new Map([
    ["/openapi.json", pageOf(JSON.stringify(document), "application/json", open)],
    [
      "/docs",
      pageOf(docsPage(document, intro, parts), "text/html; charset=utf-8", {
        "content-security-policy": parts ? scriptedPolicy : pagePolicy,
        "referrer-policy": "no-referrer",
      }),
    ],
    [
      "/docs/style.css",
      pageOf(
        sibling("style.css") + (parts ? fontFaces(parts.fonts) : ""),
        "text/css; charset=utf-8",
      ),
    ],
    ["/docs/icon.svg", pageOf(sibling("icon.svg"), "image/svg+xml")],
  ]);
}

function pageOf(
  text: string,
  contentType: string,
  more: Readonly<Record<string, string>> = {},
): Page {
  const content = Buffer.from(text);
  const etag = `"${createHash("sha256").update(content).digest("base64url").slice(0, 27)}"`;
  // Browsers cache the response but revalidate it, because another version of the service has
  // another page.
  const headers = { "content-type": contentType, "cache-control": "no-cache", etag, ...more };
  return { content, etag, headers };
}

function answerPage(
  { content, etag, headers }: Page,
  request: HttpRequest,
  response: HttpResponse,
): void {
  const tags = headerOf(request, "if-none-match")?.split(",") ?? [];
  const isKnown = tags.some((tag) => ["*", etag].includes(tag.trim().replace(/^W\//, "")));
  if (isKnown) {
    const { "content-type": _, ...kept } = headers;
    writeHead(response, 304, kept);
    response.end();
    return;
  }
  answerContent(response, 200, content, headers);
}

function notAllowed(path: string, method: string): ServiceError {
  return new ServiceError(
    "unimplemented",
    `${path} does not accept ${shown(method)}, only ${methods}`,
    {
      reason: "METHOD_NOT_ALLOWED",
      httpStatus: 405,
      metadata: { allow: methods },
    },
  );
}
