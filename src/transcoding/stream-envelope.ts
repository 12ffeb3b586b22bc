/**
 * The form of a response stream in one HTTP body (§4.10). On every transport, each message is
 * {"result": ...}, and a failure after the first message is {"error": google.rpc.Status}. All JSON
 * is on one line, as JSON.stringify() writes it.
 */
export interface StreamEnvelope {
  readonly contentType: string;
  /** Returns the text of a message with this JSON. */
  result(json: string): string;
  /**
   * Returns the text of the error that ends the stream, from the JSON of a google.rpc.Status.
   * `canRepeat` states whether a retry can succeed.
   */
  error(statusJson: string, options: { readonly canRepeat: boolean }): string;
  /** The text after the last message. */
  readonly end: string;
  /**
   * The text that is sent between messages so that proxies do not close the stream; "" if the
   * format has no such text.
   */
  readonly alive: string;
}

/**
 * Writes one line per message. The body ends after the last line. An incomplete line or a body
 * without an end means that the stream was interrupted.
 */
export const jsonLines: StreamEnvelope = {
  contentType: "application/x-ndjson",
  result: (json) => `{"result":${json}}\n`,
  error: (statusJson) => `{"error":${statusJson}}\n`,
  end: "",
  // Empty lines cannot be used, because common readers parse every line, and an empty line is not
  // JSON.
  alive: "",
};

/**
 * The id of the event that ends a stream. An EventSource reconnects whenever a stream ends, and
 * then sends this id back.
 */
export const endedEventId = "end";

/**
 * Writes server-sent events (HTML, section 9.2). Failures are messages like results, not events of
 * the type "error", which an EventSource itself uses for broken connections.
 */
export const eventStream: StreamEnvelope = {
  contentType: "text/event-stream",
  result: (json) => `data: {"result":${json}}\n\n`,
  error: (statusJson, { canRepeat }) =>
    `${canRepeat ? "" : `id: ${endedEventId}\n`}data: {"error":${statusJson}}\n\n`,
  end: `event: end\nid: ${endedEventId}\ndata: {}\n\n`,
  alive: ":\n\n",
};
