import type { MediaOperation, MediaRecorder } from "../metrics/recorders.ts";
import type { MediaStore } from "./media-store.ts";

/** Returns the same store, whose operations are recorded for the metrics of the node. */
export function recordedStore(store: MediaStore, recorder: MediaRecorder): MediaStore {
  const recorded = async <T>(operation: MediaOperation, act: () => Promise<T>): Promise<T> => {
    const startMs = performance.now();
    let hasFailed = true;
    try {
      const result = await act();
      hasFailed = false;
      return result;
    } finally {
      recorder.operated(operation, (performance.now() - startMs) / 1000, hasFailed);
    }
  };
  const { partial } = store;
  const openChunks = store.openChunks?.bind(store);
  const file = store.file?.bind(store);
  const unfinished = store.unfinished?.bind(store);
  return {
    put: (id, bytes, options) =>
      recorded("put", () => store.put(id, counted(bytes, recorder), options)),
    open: (id, range) => recorded("open", () => store.open(id, range)),
    ...(openChunks && {
      openChunks: (id, range) => recorded("open", () => openChunks(id, range)),
    }),
    ...(file && { file }),
    sizeBytes: (id) => store.sizeBytes(id),
    delete: (id) => recorded("delete", () => store.delete(id)),
    ...(store.keepsAll !== undefined && { keepsAll: store.keepsAll }),
    partial: {
      committedBytes: (id) => partial.committedBytes(id),
      append: (id, offset, bytes, options) =>
        recorded("append", () => partial.append(id, offset, counted(bytes, recorder), options)),
      finish: (id) => recorded("finish", () => partial.finish(id)),
      abort: (id) => partial.abort(id),
      list: () => partial.list(),
    },
    removed: store.removed,
    notes: store.notes,
    list: () => store.list(),
    ping: () => store.ping(),
    direct: store.direct,
    ...(unfinished && { unfinished }),
  };
}

async function* counted(
  bytes: AsyncIterable<Uint8Array>,
  recorder: MediaRecorder,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of bytes) {
    recorder.wrote(chunk.length);
    yield chunk;
  }
}
