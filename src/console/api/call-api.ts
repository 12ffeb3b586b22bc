import { attachmentName } from "./attachment-name.ts";
import { ApiError, errorOfBody, offlineError } from "./api-error.ts";
import { noteAnswer } from "./reach.ts";

export interface Call {
  /** Default: GET. */
  readonly method?: "GET" | "POST" | "PATCH" | "DELETE";
  /** Sent as JSON. */
  readonly body?: object;
  /**
   * Beside those that every call has: idempotency-key, or if-match with the version that is
   * changed.
   */
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /**
   * Whose call it is (identityOf), where its page may be gone by now. Default: of whoever the pages
   * are for (callsAreOf).
   */
  readonly owner?: string;
}

/**
 * Calls a method of the API with the session (docs/console.md): `path` is that of the contract,
 * such as /v1/account. Answers the body in JSON; throws ApiError.
 */
export function callApi<Answer>(path: string, call: Call = {}): Promise<Answer> {
  return callConsole(`/console/api${path}`, call);
}

/** The same at one of the console's own doors: /console/session and its like. */
export async function callConsole<Answer>(path: string, call: Call = {}): Promise<Answer> {
  const response = await send(path, call);
  try {
    return await response.json();
  } catch (error) {
    if (call.signal?.aborted) throw error;
    // It broke off on the way, or something between answered in the service's place.
    throw offlineError();
  }
}

/**
 * A file that the service answers to a GET, with the name that it gives it (RFC 6266); undefined
 * where it gives none.
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
    // It broke off on the way.
    throw offlineError();
  }
}

/** Who wants to know that the session is over, or another's, whoever found out. */
let onSessionChanged: (() => void) | undefined;

export function whenSessionChanged(tell: () => void): void {
  onSessionChanged = tell;
}

const changes: ReadonlySet<string> = new Set(["SIGNED_OUT", "SESSION_CHANGED"]);

/**
 * Who is told to the service with each call, so that nothing is done for anybody else whom another
 * tab has signed in.
 */
let pagesOwner: string | undefined;

/**
 * From now on calls are of this owner (identityOf): of whoever the pages are for that are shown.
 */
export function callsAreOf(owner: string | undefined): void {
  pagesOwner = owner;
}

async function send(
  path: string,
  { method = "GET", body, headers, signal, owner = pagesOwner }: Call,
): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      headers: {
        accept: "application/json",
        "x-hlust-console": "1",
        ...(owner !== undefined && { "x-hlust-console-for": owner }),
        ...headers,
        ...(body && { "content-type": "application/json" }),
      },
      ...(body && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
      // A page that went to another origin with a redirect would take the header along.
      redirect: "error",
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    noteAnswer(false);
    throw offlineError();
  }
  noteAnswer(true);
  if (response.ok) return response;
  const failure = errorOfBody(response.status, await response.text().catch(() => ""));
  if (changes.has(failure.reason) && path !== "/console/session") onSessionChanged?.();
  throw failure;
}

/** Whether asking again may help: not where the service has said what is wrong. */
export function mayPass(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 500);
}
