import { ServiceError } from "../std/service-error.ts";

/** A transfer of less than stallBytesMin within stallMs is aborted. */
export interface StallLimits {
  readonly stallMs: number;
  readonly stallBytesMin: number;
}

/**
 * Passes bytes on. Throws if the bytes arrive too slowly. Only the time spent waiting for bytes
 * counts.
 */
export async function* unstalled(
  body: AsyncIterable<Uint8Array> & { destroy(error: Error): unknown },
  { stallMs, stallBytesMin }: StallLimits,
): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0;
  let waitedMs = 0;
  let sinceMs = 0;
  let timer: NodeJS.Timeout | undefined;
  const wait = (): void => {
    sinceMs = performance.now();
    timer = setTimeout(
      () => {
        if (bytes < stallBytesMin) body.destroy(tooSlow(stallMs, stallBytesMin));
        bytes = 0;
        waitedMs = 0;
        wait();
      },
      Math.max(stallMs - waitedMs, 0),
    );
  };
  try {
    wait();
    for await (const chunk of body) {
      clearTimeout(timer);
      waitedMs += performance.now() - sinceMs;
      bytes += chunk.length;
      yield chunk;
      wait();
    }
  } finally {
    clearTimeout(timer);
  }
}

function tooSlow(stallMs: number, stallBytesMin: number): ServiceError {
  const seconds = stallMs / 1000;
  return new ServiceError(
    "deadline_exceeded",
    `the media arrived more slowly than ${Math.round(stallBytesMin / seconds)} bytes a second for ${seconds} s`,
    { reason: "MEDIA_TOO_SLOW" },
  );
}
