// What the package hlust-client exports.
export { Code, ConnectError } from "@connectrpc/connect";
export { makeKeyPair } from "./key-pair.ts";
export { signAccessToken } from "./access-token.ts";
export { createHlustClient, type HlustClient, type HlustClientOptions } from "./hlust-client.ts";
export { createRestTransport, type RestTransportOptions } from "./rest-transport.ts";
export type { SigningKey } from "./access-token.ts";
export type { ClientKeyPair } from "./key-pair.ts";
export type { PrivateKey, SigningAlgorithm } from "./private-key.ts";
export type { StreamTokenSource } from "./stream-token.ts";
