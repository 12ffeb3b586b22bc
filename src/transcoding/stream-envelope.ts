/**
 * The form of a server stream's answers in one HTTP body (§4.10). Each message is {"result": ...},
 * and a failure after the first message is {"error": google.rpc.Status}, on every transport. All
 * JSON is on one line, as JSON.stringify() writes it.
 */
export interface StreamEnvelope {
  readonly contentType: string;
  /** Returns the text of a message, from its JSON. */
  result(json: string): string;
  /**
   * Returns the text of the error that ends the stream, from the JSON of a google.rpc.Status.
   * `canRepeat`: whether a retry can succeed.
   */
  error(statusJson: string, options: { readonly canRepeat: boolean }): string;
  /** The text after the last message. */
  readonly end: string;
  /**
   * The text that is sent between messages so that proxies do not close the stream; "" if the
   * format has none.
   */
  readonly alive: string;
}

/**
 * Writes one line per message. The body ends after the last line. An incomplete line, or a body
 * without an end, means that the stream was interrupted.
 */
export const jsonLines: StreamEnvelope = {
  contentType: "application/x-ndjson",
  result: (json) => `{"result":${json}}\n`,
  error: (statusJson) => `{"error":${statusJson}}\n`,
  end: "",
  // Empty lines cannot be used: common readers parse every line, and an empty line is not JSON.
  alive: "",
};

/**
 * The id of the event that ends a stream. An EventSource reconnects after every end, and then sends
 * this id back.
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
