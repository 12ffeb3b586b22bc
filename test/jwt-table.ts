import { generateKeyPairSync } from "node:crypto";
import { newId } from "../src/std/ids.ts";
import { base64url, newKeyPair, signJwt, type TestClientKey } from "./auth-fixture.ts";

/** Whose tokens the table is of. */
export interface JwtParties {
  readonly rsa: TestClientKey;
  readonly ec: TestClientKey;
  readonly ed: TestClientKey;
  /** Of another account. */
  readonly foreign: TestClientKey;
  /** What aud has to be. */
  readonly publicUrl: string;
  /** Where somebody else serves keys of their own. */
  readonly elsewhere: string;
  /** Seconds. */
  readonly now: number;
  /** How long a token may be on its way. */
  readonly slackSeconds: number;
}

/** What differs from a token in order; undefined takes a member away. */
interface Changes {
  readonly key?: TestClientKey;
  readonly header?: object;
  readonly claims?: object;
  readonly signWith?: Parameters<typeof signJwt>[2];
}

/** A token in order but for the changes. */
export function jwtOf(parties: JwtParties, changes: Changes = {}): string {
  const { key = parties.ec, header, claims, signWith } = changes;
  const { id, clientId, privateKey } = key;
  const { publicUrl, now } = parties;
  const kind = privateKey.asymmetricKeyType;
  const alg = kind === "rsa" ? "RS256" : kind === "ec" ? "ES256" : "EdDSA";
  return signJwt(
    { alg, kid: id, typ: "JWT", ...header },
    { iss: clientId, sub: clientId, aud: publicUrl, iat: now, exp: now + 3600, ...claims },
    signWith ?? privateKey,
  );
}

type Row = readonly [name: string, make: () => string];

/** Tokens that must be refused, each wrong in one way (RFC 8725, and what was found in libraries and services). */
export function refusedJwts(parties: JwtParties): readonly Row[] {
  return [
    ...wrongAlgorithms(parties),
    ...wrongSignatures(parties),
    ...wrongKeys(parties),
    ...wrongHeaders(parties),
    ...wrongClaims(parties),
    ...wrongTimes(parties),
    ...wrongForms(parties),
  ];
}

const unsigned = (token: string) => token.replace(/[^.]*$/, "");
const signedBy = (token: string, signature: Buffer) =>
  unsigned(token) + signature.toString("base64url");

function wrongAlgorithms(parties: JwtParties): Row[] {
  const { rsa, ed } = parties;
  const pem = rsa.publicKey.export({ type: "spki", format: "pem" }).toString();
  const none = (alg: string) => () => unsigned(jwtOf(parties, { header: { alg } }));
  const of = (alg: string, changes: Changes) => () =>
    jwtOf(parties, { ...changes, header: { alg, ...changes.header } });
  return [
    ["of the algorithm none", none("none")],
    ["of the algorithm None", none("None")],
    ["of the algorithm nOnE", none("nOnE")],
    ["of no algorithm", () => jwtOf(parties, { header: { alg: undefined } })],
    ["signed by HS256 with the public key", of("HS256", { key: rsa, signWith: pem })],
    [
      "signed by HS256 with the public key, without its end",
      of("HS256", { key: rsa, signWith: pem.trim() }),
    ],
    ["signed by HS256 with nothing", of("HS256", { signWith: "" })],
    ["of the algorithm PS256", of("PS256", { key: rsa })],
    ["of the algorithm RS512", of("RS512", { key: rsa })],
    ["of another key's algorithm", of("EdDSA", { signWith: ed.privateKey })],
    [
      "of a password's algorithm, to be hashed for hours",
      of("PBES2-HS256+A128KW", { signWith: pem, header: { p2c: 2 ** 31 - 1, p2s: "AAAAAAAAAAA" } }),
    ],
  ];
}

function wrongSignatures(parties: JwtParties): Row[] {
  const { ec } = parties;
  const token = () => jwtOf(parties);
  /** The order of P-256. */
  const order = Buffer.from(
    "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
    "hex",
  );
  return [
    ["with its signature taken away", () => unsigned(token())],
    ["with its signature and dot taken away", () => unsigned(token()).slice(0, -1)],
    ["with a signature of zeros", () => signedBy(token(), Buffer.alloc(64))],
    [
      "with a signature of the curve's order",
      () => signedBy(token(), Buffer.concat([order, order])),
    ],
    ["with half a signature", () => token().slice(0, -43)],
    ["with a signature in DER", () => signedBy(token(), Buffer.from("3006020101020101", "hex"))],
    [
      "with changed claims",
      () => {
        const [head, , signature] = token().split(".");
        const claims = { iss: ec.clientId, sub: ec.clientId };
        return `${head}.${base64url(JSON.stringify(claims))}.${signature}`;
      },
    ],
  ];
}

function wrongKeys(parties: JwtParties): Row[] {
  const { ec, foreign, elsewhere } = parties;
  const of = (changes: Changes) => () => jwtOf(parties, changes);
  const kid = (value: unknown) => of({ header: { kid: value } });
  const { privateKey, publicKey } = newKeyPair("ES256");
  const own = { signWith: privateKey };
  const jwk = publicKey.export({ format: "jwk" });
  const der = publicKey.export({ type: "spki", format: "der" }).toString("base64");
  const otherCurve = generateKeyPairSync("ec", { namedCurve: "secp256k1" });
  return [
    ["signed by a key that is not registered", of(own)],
    ["signed by a key of another curve", of({ signWith: otherCurve.privateKey })],
    ["signed by another account's key", of({ signWith: foreign.privateKey })],
    ["of another account's kid", kid(foreign.id)],
    ["without kid", kid(undefined)],
    ["with a kid that is a path", kid("../../dev/null")],
    ["with a kid that is SQL", kid("' or true --")],
    ["with a kid that is a number", kid(1)],
    ["with a kid in capitals", kid(ec.id.toUpperCase())],
    ["with an unknown kid", kid(newId())],
    ["with a key of its own", of({ ...own, header: { jwk } })],
    ["with a certificate of its own", of({ ...own, header: { x5c: [der] } })],
    ["with the address of its key", of({ ...own, header: { jku: `${elsewhere}/keys` } })],
    ["with the address of its certificate", of({ ...own, header: { x5u: `${elsewhere}/x.pem` } })],
  ];
}

function wrongHeaders(parties: JwtParties): Row[] {
  const header = (change: object) => () => jwtOf(parties, { header: change });
  return [
    ["with crit", header({ crit: ["exp"] })],
    ["with crit that it carries", header({ crit: ["urn:x"], "urn:x": true })],
    ["with an unencoded payload", header({ b64: false, crit: ["b64"] })],
    ["of another type", header({ typ: "at+jwt" })],
    ["of a type that is no text", header({ typ: 1 })],
    ["compressed", () => `${unsigned(jwtOf(parties, { header: { zip: "DEF" } }))}AA`],
    ["that is encrypted", header({ alg: "RSA-OAEP", enc: "A128GCM" })],
  ];
}

function wrongClaims(parties: JwtParties): Row[] {
  const { ec, publicUrl, now } = parties;
  const claims = (change: object) => () => jwtOf(parties, { claims: change });
  const whole = (text: string) => () => signJwt({ alg: "ES256", kid: ec.id }, text, ec.privateKey);
  const rest = `"sub":"${ec.clientId}","aud":"${publicUrl}","iat":${now},"exp":${now + 60}}`;
  return [
    ["for another service", claims({ aud: "https://other.example" })],
    ["for a part of the service's name", claims({ aud: publicUrl.slice(0, -2) })],
    ["for nobody", claims({ aud: undefined })],
    ["for an empty list", claims({ aud: [] })],
    ["of another iss", claims({ iss: "someone" })],
    ["without iss", claims({ iss: undefined })],
    ["of another sub", claims({ sub: "someone" })],
    ["without sub", claims({ sub: undefined })],
    ["whose claims are a list", whole("[]")],
    ["whose claims are no JSON", whole("{")],
    ["that names two issuers", whole(`{"iss":"someone","iss":"${ec.clientId}",${rest}`)],
    [
      "that names two in another spelling",
      whole(`{"iss":"someone","\\u0069ss":"${ec.clientId}",${rest}`),
    ],
  ];
}

function wrongTimes(parties: JwtParties): Row[] {
  const { now, slackSeconds } = parties;
  const ahead = now + 61 + slackSeconds;
  const claims = (change: object) => () => jwtOf(parties, { claims: change });
  return [
    ["without exp", claims({ exp: undefined })],
    ["whose exp is text", claims({ exp: String(now + 60) })],
    ["without iat", claims({ iat: undefined })],
    ["whose iat is text", claims({ iat: String(now) })],
    ["that lives a year", claims({ exp: now + 365 * 86_400 })],
    ["that lives a second too long", claims({ exp: now + 3601 })],
    ["that lives too long by an early iat", claims({ iat: now - 3000, exp: now + 3000 })],
    ["expired beyond the skew", claims({ iat: now - 600, exp: now - 60 })],
    ["issued ahead beyond the skew", claims({ iat: ahead, exp: ahead + 600 })],
    ["not before a time ahead", claims({ nbf: ahead })],
  ];
}

function wrongForms(parties: JwtParties): Row[] {
  return [
    ["of five parts", () => `${jwtOf(parties)}.AA.AA`],
    ["of four parts", () => `${jwtOf(parties)}.`],
    [
      "of ten thousand characters",
      () => jwtOf(parties, { claims: { padding: "x".repeat(7_000) } }),
    ],
    ["that is no JWT", () => "abc"],
    ["that is dots", () => ".."],
    ["of two tokens' parts", () => `${jwtOf(parties)}${jwtOf(parties)}`],
  ];
}
