import type { Interceptor, Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";

/** Returns a transport with its own connection, whose calls carry a key. */
export function openDoor(protocol: Protocol, address: string, key: string): Transport {
  const authorize: Interceptor = (next) => (request) => {
    request.header.set("authorization", `Bearer ${key}`);
    return next(request);
  };
  return protocols[protocol](address, [authorize]);
}

/** The protocols other than REST that provide the same methods. The number is the HTTP version. */
const protocols = {
  grpc: (baseUrl, interceptors) => createGrpcTransport({ baseUrl, interceptors }),
  "grpc-web/1.1": (baseUrl, interceptors) =>
    createGrpcWebTransport({ baseUrl, interceptors, httpVersion: "1.1" }),
  "grpc-web/2": (baseUrl, interceptors) =>
    createGrpcWebTransport({ baseUrl, interceptors, httpVersion: "2" }),
  "connect/1.1": (baseUrl, interceptors) =>
    createConnectTransport({ baseUrl, interceptors, httpVersion: "1.1" }),
  "connect/2": (baseUrl, interceptors) =>
    createConnectTransport({ baseUrl, interceptors, httpVersion: "2" }),
} satisfies Readonly<Record<string, (baseUrl: string, interceptors: Interceptor[]) => Transport>>;
export type Protocol = keyof typeof protocols;
