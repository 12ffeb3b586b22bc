import { element } from "./element.ts";

/** A call that is made with the session of the console. */
interface Call {
  readonly method: string;
  readonly target: string;
  /** The body as JSON; undefined if there is none. */
  readonly body: string | undefined;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** The maximum number of characters of an answer that are shown. */
const shownMax = 100_000;

let running: AbortController | undefined;

/** Makes a call, and shows the request, the status and the answer; streams as they come. */
export async function sendCall(result: HTMLElement, call: Call): Promise<void> {
  running?.abort();
  const stop = new AbortController();
  running = stop;
  const status = element("output", { className: "try-status" }, "Waiting for the answer…");
  const answer = element("pre", { tabIndex: 0, ariaLabel: "Answer" });
  const request = element("pre", { tabIndex: 0, ariaLabel: "Request" }, requestText(call));
  const stopButton = element("button", { type: "button", className: "try-send" }, "Stop");
  stopButton.addEventListener("click", () => stop.abort());
  result.replaceChildren(request, status, stopButton, answer);
  const startedMs = performance.now();
  const elapsed = (): string => `${Math.round(performance.now() - startedMs)} ms`;
  try {
    const response = await send(call, stop.signal);
    const line = `${response.status} ${response.statusText}`.trim();
    status.textContent = `${line}, ${elapsed()}`;
    status.dataset["ok"] = `${response.ok}`;
    const bytes = await showAnswer(response, answer);
    status.textContent = `${line}, ${elapsed()}, ${bytes} bytes`;
  } catch {
    const isStopped = stop.signal.aborted;
    status.textContent = isStopped
      ? `Stopped after ${elapsed()}`
      : "No answer: the service cannot be reached.";
    status.dataset["ok"] = `${isStopped}`;
  }
  stopButton.remove();
  answer.hidden = answer.textContent === "";
}

function requestText({ method, target, body = "" }: Call): string {
  return body.trim() === "" ? `${method} ${target}` : `${method} ${target}\n\n${body.trim()}`;
}

async function send({ method, target, body, headers }: Call, signal: AbortSignal) {
  const hasBody = body !== undefined && body.trim() !== "" && method !== "GET";
  return await fetch(`console/api${target}`, {
    method,
    headers: [
      ["accept", "*/*"],
      ["x-hlust-console", "1"],
      ...headers.map(([name, value]): [string, string] => [name, value]),
      ...(hasBody ? [["content-type", "application/json"] satisfies [string, string]] : []),
    ],
    ...(hasBody && { body }),
    signal,
    redirect: "error",
  });
}

/** Shows an answer. Returns its length in bytes. */
async function showAnswer(response: Response, place: HTMLElement): Promise<number> {
  const type = response.headers.get("content-type") ?? "";
  const isText = /json|^text\/|subrip|^$/.test(type);
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  for await (const chunk of chunksOf(response)) {
    bytes += chunk.length;
    if (!isText) {
      chunks.push(chunk);
    } else if (text.length <= shownMax) {
      text += decoder.decode(chunk, { stream: true });
      place.textContent = text;
    }
  }
  if (!isText) {
    const href = URL.createObjectURL(new Blob(chunks, { type }));
    const link = element("a", { href, download: fileNameOf(response) }, "Save the file");
    place.replaceChildren(`${bytes} bytes of ${type}. `, link);
  } else if (text.length > shownMax) {
    place.textContent = `${text.slice(0, shownMax)}\n… (the first ${shownMax} characters)`;
  } else {
    place.textContent = formatted(text);
  }
  return bytes;
}

async function* chunksOf({ body }: Response): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const reader = body?.getReader();
  for (;;) {
    const part = await reader?.read();
    if (!part || part.done) return;
    yield part.value;
  }
}

/** Returns JSON with line breaks; other text as it is. */
function formatted(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}

function fileNameOf(response: Response): string {
  const header = response.headers.get("content-disposition") ?? "";
  return /filename="([^"]+)"/.exec(header)?.[1] ?? "answer";
}
