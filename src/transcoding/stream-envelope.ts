/**
 * How the answers of a server stream stand in one HTTP body (§4.10): each message as {"result":
 * ...}, a failure after the first of them as {"error": google.rpc.Status}, the same on every
 * transport. All JSON here is on one line, as JSON.stringify writes it.
 */
export interface StreamEnvelope {
  readonly contentType: string;
  /** A message, from its JSON. */
  result(json: string): string;
  /**
   * What went wrong, from the JSON of a google.rpc.Status; nothing follows it. `canRepeat`: the
   * same call may go well later.
   */
  error(statusJson: string, options: { readonly canRepeat: boolean }): string;
  /** What follows the last message. */
  readonly end: string;
  /**
   * What may stand between messages, so that proxies do not take the stream for dead; "" where
   * readers know no such thing.
   */
  readonly alive: string;
}

/**
 * A line for each message. The body ends after the last one; a line that is not whole, or no end,
 * means that it broke off.
 */
export const jsonLines: StreamEnvelope = {
  contentType: "application/x-ndjson",
  result: (json) => `{"result":${json}}\n`,
  error: (statusJson) => `{"error":${statusJson}}\n`,
  end: "",
  // Readers in wide use parse each line, and an empty one is no JSON.
  alive: "",
};

/**
 * The id of what ends a stream: an EventSource that connects again, as it does after every end,
 * sends it back.
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
