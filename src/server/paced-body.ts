import { BodyPace, type BodyLimits } from "./body-pace.ts";
import { clientGone } from "./client-gone.ts";
import type { HttpRequest } from "./http.ts";

/**
 * Yields the body of a request, read within the limits (undefined: without limits). Throws
 * deadline_exceeded if the body exceeds the limits, and cancelled if the client closes the request.
 */
export async function* pacedBody(
  request: HttpRequest,
  limits: BodyLimits | undefined,
): AsyncGenerator<Uint8Array, void> {
  const chunks: AsyncIterator<Uint8Array> = request.iterator({ destroyOnReturn: false });
  const pace = limits && new BodyPace(limits);
  for (;;) {
    pace?.wait();
    const { done, value } = await (pace ? inTime(next(chunks), pace) : next(chunks));
    if (done) return;
    pace?.add(value.length);
    yield value;
  }
}

/**
 * Returns the next chunk. If the client closes the request, reading the body fails, which is not a
 * bug.
 */
async function next(chunks: AsyncIterator<Uint8Array>): Promise<IteratorResult<Uint8Array>> {
  try {
    return await chunks.next();
  } catch {
    throw clientGone();
  }
}

/** Rejects if the chunk does not arrive in time. */
async function inTime<T>(part: Promise<T>, pace: BodyPace): Promise<T> {
  const late = Promise.withResolvers<never>();
  const look = () => {
    const leftMs = pace.leftMs();
    if (leftMs > 0) timer = setTimeout(look, leftMs);
    else late.reject(pace.failure());
  };
  let timer = setTimeout(look, pace.leftMs());
  try {
    return await Promise.race([part, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
