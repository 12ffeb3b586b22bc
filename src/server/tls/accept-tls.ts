import { constants } from "node:crypto";
import type { Socket } from "node:net";
import { createServer, type SecureContextOptions, type TLSSocket } from "node:tls";
import type { Certificate } from "../../std/certificate.ts";
import { ServiceError } from "../../std/service-error.ts";
import { refuse } from "../refuse.ts";
import type { ServedCertificate } from "./served-certificate.ts";

/** The suites of TLS 1.3, and those of 1.2 with forward secrecy and authenticated encryption. */
const ciphers = [
  "TLS_AES_128_GCM_SHA256",
  "TLS_AES_256_GCM_SHA384",
  "TLS_CHACHA20_POLY1305_SHA256",
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305",
  "ECDHE-RSA-CHACHA20-POLY1305",
].join(":");

/** The first byte of a TLS connection: the record type of a handshake (RFC 8446, section 5.1). */
const handshakeRecord = 22;

/** Called with the decrypted connection. */
type OnSecure = (secure: TLSSocket, isHttp2: boolean) => void;

/**
 * Returns a function that does the handshake of a connection. It calls `onSecure` with the
 * decrypted connection and its protocol, which ALPN has chosen; without ALPN it is HTTP/1.1. A
 * handshake that fails, or takes longer than `msMax`, closes the connection. New connections get
 * the certificate of the moment; open ones keep theirs.
 */
export function acceptTls(
  certificate: ServedCertificate,
  msMax: number,
): (socket: Socket, onSecure: OnSecure) => void {
  const server = createServer({
    ...contextOf(certificate.current),
    ALPNProtocols: ["h2", "http/1.1"],
    handshakeTimeout: msMax,
  });
  certificate.onReplaced((replaced) => server.setSecureContext(contextOf(replaced)));
  /** What to call for each handshake in progress, by the address and port of the client. */
  const handshakes = new Map<string, OnSecure>();
  server.on("secureConnection", (secure: TLSSocket) => {
    const onSecure = handshakes.get(peerOf(secure));
    if (onSecure) onSecure(secure, secure.alpnProtocol === "h2");
    // The client has gone meanwhile.
    else secure.destroy();
  });
  // Port scans and clients that do not trust the certificate are not logged.
  server.on("tlsClientError", (_error, secure) => secure.destroy());
  return (socket, onSecure) =>
    readFirstByte(socket, msMax, (byte) => {
      if (byte !== handshakeRecord) {
        refuse(socket, needsTls());
        return;
      }
      const peer = peerOf(socket);
      handshakes.set(peer, onSecure);
      socket.once("close", () => handshakes.delete(peer));
      server.emit("connection", socket);
    });
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function contextOf({ cert, key }: Certificate): SecureContextOptions {
  const secureOptions = constants.SSL_OP_NO_RENEGOTIATION;
  return { cert, key, ciphers, minVersion: "TLSv1.2", secureOptions };
}

/** Passes on the first byte, and puts it back. */
function readFirstByte(socket: Socket, msMax: number, onByte: (byte: number) => void): void {
  const timer = setTimeout(() => socket.destroy(), msMax);
  const onReadable = () => {
    const chunk: Buffer | null = socket.read();
    const [byte] = chunk ?? [];
    if (chunk === null || byte === undefined) return;
    clearTimeout(timer);
    socket.off("readable", onReadable);
    socket.unshift(chunk);
    onByte(byte);
  };
  socket.on("error", () => socket.destroy());
  socket.once("close", () => clearTimeout(timer));
  socket.on("readable", onReadable);
}

function needsTls(): ServiceError {
  return new ServiceError(
    "invalid_argument",
    "this port needs TLS: call it with https:// or wss://, and gRPC with TLS",
    { reason: "TLS_REQUIRED", httpStatus: 400 },
  );
}
