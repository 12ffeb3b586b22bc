/**
 * The form of a server stream's answers in one HTTP body (§4.10): each message as {"result": ...},
 * a failure after the first of them as {"error": google.rpc.Status}, the same on every transport.
 * All JSON here is on one line, as JSON.stringify writes it.
 */
export interface StreamEnvelope {
  readonly contentType: string;
  /** A message, from its JSON. */
  result(json: string): string;
  /**
   * The error, from the JSON of a google.rpc.Status; nothing follows it. `canRepeat`: a retry may
   * succeed.
   */
  error(statusJson: string, options: { readonly canRepeat: boolean }): string;
  /** The text after the last message. */
  readonly end: string;
  /**
   * Text between messages that keeps proxies from closing the stream; "" if the format has none.
   */
  readonly alive: string;
}

/**
 * A line for each message. The body ends after the last one; an incomplete line, or no end of the
 * body, means that the stream was interrupted.
 */
export const jsonLines: StreamEnvelope = {
  contentType: "application/x-ndjson",
  result: (json) => `{"result":${json}}\n`,
  error: (statusJson) => `{"error":${statusJson}}\n`,
  end: "",
  // Widely used readers parse each line, and an empty line is not JSON.
  alive: "",
};

/**
 * The id of the event that ends a stream: an EventSource, which reconnects after every end, sends
 * it back.
 */
export const endedEventId = "end";

/**
 * Server-sent events (HTML, section 9.2). Failures are messages like results, not events of the
 * type "error": an EventSource has its own of that name, for broken connections.
 */
export const eventStream: StreamEnvelope = {
  contentType: "text/event-stream",
  result: (json) => `data: {"result":${json}}\n\n`,
  error: (statusJson, { canRepeat }) =>
    `${canRepeat ? "" : `id: ${endedEventId}\n`}data: {"error":${statusJson}}\n\n`,
  end: `event: end\nid: ${endedEventId}\ndata: {}\n\n`,
  alive: ":\n\n",
};
