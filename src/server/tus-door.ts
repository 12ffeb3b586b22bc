import type { DescMethod } from "@bufbuild/protobuf";
import type { Authenticator } from "../auth/authenticate.ts";
import type { ResumableUpload } from "../media/receive-part.ts";
import type { ResumableUploads } from "../media/resumable-uploads.ts";
import { isId } from "../std/ids.ts";
import type { Log } from "../std/log.ts";
import { ServiceError, shown } from "../std/service-error.ts";
import { callOriginOf } from "./call-origin.ts";
import {
  headerOf,
  targetOf,
  writeHead,
  type HttpDoor,
  type HttpRequest,
  type HttpResponse,
} from "./http.ts";
import { askForBody } from "./request-body.ts";
import type { ConsoleCall, RestDoor } from "./rest.ts";
import {
  checkPartType,
  readCreation,
  readOffset,
  refuseUnchecked,
  tusExtensions,
  tusVersion,
  type Creation,
  type ReadHeader,
} from "./tus-headers.ts";
import { readUpload, type UploadLimits } from "./upload-body.ts";

const uploadsPath = "/v1alpha1/uploads";

export interface TusParts extends UploadLimits {
  readonly uploads: ResumableUploads;
  /** Creates an upload for a caller. Throws if the resource does not exist. */
  readonly begin: (accountId: string, creation: Creation) => Promise<ResumableUpload>;
  /** The method whose scope a caller needs, and as which its calls are counted. */
  readonly method: DescMethod;
  /** Returns the public address, without a trailing slash. */
  readonly publicUrl: () => string;
  readonly log: Log;
}

/** The door of resumable uploads. Like the REST door, it can be called with a console session. */
export interface TusDoor extends HttpDoor {
  readonly handlesTarget: (target: string) => boolean;
  readonly handle: RestDoor;
  readonly asksForBody: true;
}

/** A call that has passed the checks common to all methods. */
interface TusCall {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly header: ReadHeader;
  readonly accountId: string;
  /** The id in the path; undefined for the collection. */
  readonly uploadId: string;
}

/**
 * Creates the door of resumable uploads at /v1alpha1/uploads: tus 1.0.0 with the extensions
 * creation, creation-with-upload, expiration and termination
 * (https://tus.io/protocols/resumable-upload).
 */
export function createTusDoor(
  parts: TusParts,
  { authenticator }: { readonly authenticator: Authenticator },
): TusDoor {
  const collection = { POST: create };
  const upload = { HEAD: show, PATCH: append, DELETE: remove };
  const handlesTarget = (target: string): boolean => {
    const path = pathOf(target);
    return path === uploadsPath || path.startsWith(`${uploadsPath}/`);
  };
  return {
    handlesTarget,
    handles: (request) => handlesTarget(targetOf(request)),
    // The door checks the headers of an upload before gigabytes are sent.
    asksForBody: true,
    async handle(request, response, by) {
      const target = by?.target ?? targetOf(request);
      const path = pathOf(target);
      const uploadId = path.slice(uploadsPath.length + 1);
      const header = (name: string) => headerOf(request, name);
      const methods: Readonly<Record<string, typeof create>> =
        uploadId === "" ? collection : upload;
      const method = methodOf(request);
      response.setHeader("tus-resumable", tusVersion);
      if (method === "OPTIONS") {
        answerOptions(response, parts, Object.keys(methods));
        return;
      }
      const run = Object.hasOwn(methods, method) ? methods[method] : undefined;
      if (!run) throw notAllowed(path, method, Object.keys(methods));
      checkVersion(header, response);
      const accountId = await authenticate(request, target, by);
      if (uploadId !== "" && !isId(uploadId)) throw noUpload(uploadId);
      await run(parts, { request, response, header, accountId, uploadId });
    },
  };

  async function authenticate(
    request: HttpRequest,
    url: string,
    by: ConsoleCall | undefined,
  ): Promise<string> {
    const headers = { get: (name: string) => headerOf(request, name.toLowerCase()) ?? null };
    const facts = { headers, url, origin: callOriginOf(request), session: by?.session };
    return (await authenticator.authenticate(facts, parts.method)).accountId;
  }
}

async function create(parts: TusParts, call: TusCall): Promise<void> {
  const { request, response, header, accountId } = call;
  const { uploads, begin, publicUrl } = parts;
  const creation = readCreation(header, uploads.bytesMax);
  const hasBody = header("content-type") !== undefined && header("content-length") !== "0";
  if (hasBody) {
    checkPartType(header);
    refuseUnchecked(header);
  }
  const begun = await begin(accountId, creation);
  const location = `${publicUrl()}${uploadsPath}/${begun.id}`;
  const upload = hasBody ? await receive(parts, { ...call, uploadId: begun.id }, 0) : begun;
  if (!hasBody) askForBody(request, response);
  if (upload) answer(response, 201, upload, { location });
}

async function show({ uploads }: TusParts, { response, accountId, uploadId }: TusCall) {
  const upload = await uploads.find(accountId, uploadId);
  const { metadata } = upload;
  answer(response, 200, upload, {
    "upload-length": `${upload.sizeBytes}`,
    ...(metadata !== "" && { "upload-metadata": metadata }),
  });
}

async function append(parts: TusParts, call: TusCall): Promise<void> {
  const { header, response } = call;
  const offset = readOffset(header);
  checkPartType(header);
  refuseUnchecked(header);
  const upload = await receive(parts, call, offset);
  if (upload) answer(response, 204, upload);
}

async function remove({ uploads }: TusParts, { response, accountId, uploadId }: TusCall) {
  await uploads.remove(accountId, uploadId);
  writeHead(response, 204, { "cache-control": "no-store" });
  response.end();
}

/**
 * Appends the body to an upload. Returns undefined if the client has closed the request; the bytes
 * that have arrived are kept.
 */
async function receive(
  { uploads, log, ...limits }: TusParts,
  { request, response, accountId, uploadId }: TusCall,
  offset: number,
): Promise<ResumableUpload | undefined> {
  const onReady = (): void => askForBody(request, response);
  const upload = await readUpload(request, limits, async ({ announced, ...body }) =>
    uploads.append(accountId, uploadId, { offset, announcedBytes: announced, onReady, ...body }),
  );
  if (upload) return upload;
  const { requestId } = callOriginOf(request);
  log.info({ uploadId, requestId }, "upload.interrupted");
  response.destroy();
  return undefined;
}

/** Sends the state of an upload. Only an incomplete upload expires. */
function answer(
  response: HttpResponse,
  status: number,
  { sizeBytes, receivedBytes, expiresAt }: ResumableUpload,
  headers: Readonly<Record<string, string>> = {},
): void {
  writeHead(response, status, {
    "upload-offset": `${receivedBytes}`,
    ...(receivedBytes < sizeBytes && { "upload-expires": expiresAt.toUTCString() }),
    "cache-control": "no-store",
    ...(status !== 204 && { "content-length": "0" }),
    ...headers,
  });
  response.end();
}

function answerOptions(
  response: HttpResponse,
  { uploads }: TusParts,
  methods: readonly string[],
): void {
  writeHead(response, 204, {
    allow: [...methods, "OPTIONS"].join(", "),
    "tus-version": tusVersion,
    "tus-extension": tusExtensions,
    "tus-max-size": `${uploads.bytesMax}`,
  });
  response.end();
}

/**
 * Returns the method of a call. Clients behind proxies that refuse PATCH or DELETE send a POST with
 * X-HTTP-Method-Override.
 */
function methodOf(request: HttpRequest): string {
  const { method = "" } = request;
  return method === "POST" ? (headerOf(request, "x-http-method-override") ?? method) : method;
}

function checkVersion(header: ReadHeader, response: HttpResponse): void {
  const version = header("tus-resumable");
  if (version === tusVersion) return;
  response.setHeader("tus-version", tusVersion);
  const found = version === undefined ? "it is missing" : `not ${shown(version)}`;
  throw new ServiceError(
    "failed_precondition",
    `the header Tus-Resumable must be ${tusVersion}: ${found}`,
    { reason: "TUS_VERSION_NOT_SUPPORTED", httpStatus: 412 },
  );
}

/** Returns the path of a target, without its query and without a slash at the end. */
function pathOf(target: string): string {
  const path = target.split("?", 1)[0] ?? "";
  return path === `${uploadsPath}/` ? uploadsPath : path;
}

function noUpload(id: string): ServiceError {
  return new ServiceError("not_found", `there is no upload ${shown(`uploads/${id}`)}`);
}

function notAllowed(path: string, method: string, methods: readonly string[]): ServiceError {
  const allow = [...methods, "OPTIONS"].join(", ");
  return new ServiceError(
    "unimplemented",
    `${path} does not accept ${shown(method)}, only ${allow}`,
    { reason: "METHOD_NOT_ALLOWED", httpStatus: 405, metadata: { allow } },
  );
}
