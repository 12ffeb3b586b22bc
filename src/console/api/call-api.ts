import { attachmentName } from "./attachment-name.ts";
import { ApiError, errorOfBody, offlineError } from "./api-error.ts";
import { noteAnswer } from "./reach.ts";

export interface Call {
  /** The HTTP method. Default: GET. */
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The body, which is sent as JSON; a Blob is JSON already. */
  readonly body?: object | Blob;
  /**
   * Headers in addition to those of every call: idempotency-key, or if-match with the version to
   * change.
   */
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Whether the call goes on when the page is closed. */
  readonly keepalive?: boolean;
  /**
   * The user for whom the call is made (identityOf), if that user's page may be closed by now.
   * Default: the user whose pages are shown (setExpectedUser).
   */
  readonly owner?: string;
}

/**
 * Calls a method of the API with the session (docs/console.md). `path` is the path in the API, such
 * as /v1/account. Returns the JSON body; throws ApiError.
 */
export function callApi<Answer>(path: string, call: Call = {}): Promise<Answer> {
  return callConsole(`/console/api${path}`, call);
}

/** Calls a path of the API, and returns its response. Throws ApiError. */
export function sendApi(path: string, call: Call): Promise<Response> {
  return send(`/console/api${path}`, call);
}

/**
 * Calls one of the console's own endpoints, such as /console/session. Returns the JSON body; throws
 * ApiError.
 */
export async function callConsole<Answer>(path: string, call: Call = {}): Promise<Answer> {
  const response = await send(path, call);
  try {
    return await response.json();
  } catch (error) {
    if (call.signal?.aborted) throw error;
    // The connection was lost, or something between the page and the service responded instead.
    throw offlineError();
  }
}

/**
 * Downloads a file, and returns it with its name (RFC 6266), which is undefined if the service
 * sends none.
 */
export async function fetchAttachment(
  path: string,
): Promise<{ readonly blob: Blob; readonly fileName: string | undefined }> {
  const response = await send(`/console/api${path}`, {});
  const header = response.headers.get("content-disposition") ?? "";
  return { blob: await bodyOf(response), fileName: attachmentName(header) };
}

async function bodyOf(response: Response): Promise<Blob> {
  try {
    return await response.blob();
  } catch {
    // The connection was lost.
    throw offlineError();
  }
}

let onSessionChanged: (() => void) | undefined;

/** Calls the listener when any call finds that the session has ended or belongs to another user. */
export function whenSessionChanged(listener: () => void): void {
  onSessionChanged = listener;
}

const sessionChangeReasons: ReadonlySet<string> = new Set(["SIGNED_OUT", "SESSION_CHANGED"]);

let expectedUser: string | undefined;

/**
 * Sets the user that is sent with each call (identityOf): the user whose pages are shown. The
 * service refuses a call if another tab has since signed in as a different user.
 */
export function setExpectedUser(user: string | undefined): void {
  expectedUser = user;
}

async function send(
  path: string,
  { method = "GET", body, headers, signal, keepalive = false, owner = expectedUser }: Call,
): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      headers: {
        accept: "application/json",
        ...consoleHeaders(owner),
        ...headers,
        ...(body && { "content-type": "application/json" }),
      },
      ...(body && { body: body instanceof Blob ? body : JSON.stringify(body) }),
      ...(signal && { signal }),
      keepalive,
      // A redirect would send the headers to another origin.
      redirect: "error",
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    noteAnswer(false);
    throw offlineError();
  }
  noteAnswer(true);
  if (response.ok) return response;
  const retryAfter = response.headers.get("retry-after");
  const text = await response.text().catch(() => "");
  const failure = errorOfBody(response.status, text, { retryAfter });
  throw path === "/console/session" ? failure : noteFailure(failure);
}

/** Returns an error of a call, after reporting it if the session has ended or changed. */
export function noteFailure(failure: ApiError): ApiError {
  if (sessionChangeReasons.has(failure.reason)) onSessionChanged?.();
  return failure;
}

/** Returns the headers of every call, for the user for whom it is made. */
export function consoleHeaders(owner = expectedUser): Readonly<Record<string, string>> {
  return {
    "x-hlust-console": "1",
    ...(owner !== undefined && { "x-hlust-console-for": owner }),
  };
}

/**
 * Returns whether another attempt may succeed: there was no response, or the service itself failed.
 */
export function isRetryable(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 500);
}
