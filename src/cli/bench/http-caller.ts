import { Pool } from "undici";
import { jsonText } from "./json-field.ts";
import type { Target } from "./target.ts";

/** A failed call; calls with the same `kind` failed in the same way. */
export class CallFailure extends Error {
  override readonly name = "CallFailure";
  readonly kind: string;

  constructor(kind: string, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** Calls one server with JSON over HTTP, on persistent connections. */
export class HttpCaller implements AsyncDisposable {
  readonly #pool: Pool;
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor({ url, token }: Pick<Target, "url" | "token">, timeoutMs: number) {
    const { origin, pathname } = new URL(url);
    this.#pool = new Pool(origin, {
      connect: { timeout: timeoutMs },
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    });
    this.#base = pathname === "/" ? "" : pathname;
    this.#headers = {
      "content-type": "application/json",
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    };
  }

  /** Resolves to the JSON of a response. Throws CallFailure for any status other than 200. */
  async call(method: "GET" | "POST", path: string, body?: string | Buffer): Promise<unknown> {
    const answer = await this.#request(method, path, body).catch((error: unknown) => {
      const { message } = error instanceof Error ? error : new Error(String(error));
      const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
      throw new CallFailure(typeof code === "string" ? code : message, message);
    });
    if (answer.status === 200) return answer.json;
    const problem = jsonText(answer.json, "message") || `the server answered HTTP ${answer.status}`;
    throw new CallFailure(`HTTP ${answer.status}`, problem);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.destroy();
  }

  async #request(method: "GET" | "POST", path: string, body: string | Buffer | undefined) {
    const { statusCode, body: answer } = await this.#pool.request({
      method,
      path: `${this.#base}${path}`,
      headers: this.#headers,
      ...(body !== undefined && { body }),
    });
    return { status: statusCode, json: jsonOf(await answer.text()) };
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
