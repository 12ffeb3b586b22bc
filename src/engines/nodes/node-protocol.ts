/**
 * The version of the protocol between nodes, frames included (protocol/engine-frames.ts). Nodes of
 * different versions refuse each other. A change that an earlier version would misread, or that it
 * must obey, raises it. A new optional field does not, if an earlier version may ignore it and a
 * later one does without it: nodes of several releases then work together during an upgrade.
 */
export const nodeProtocol = 1;

/** The maximum size of a message. */
export const messageBytesMax = 20 << 20;

/** The size of an HTTP/2 window: much more than is sent within a round trip. */
export const windowBytes = 4 << 20;

/** The interval of the beats of a client. */
export const beatMs = 500;

/**
 * The silence after which a client gives up a node, and a node a client. The sessions then continue
 * elsewhere, so the cost of an error is a delay.
 */
export const silentMsMax = 5_000;

/** The time within which a connection must be open and both ends must have said hello. */
export const helloMsMax = 10_000;

/** Returns the value of the authorization header for a credential. */
export function authorizationOf(credential: string): string {
  return `Bearer ${credential}`;
}
