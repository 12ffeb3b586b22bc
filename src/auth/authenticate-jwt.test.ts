import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { openTestDatabase } from "../../test/open-test-database.ts";
import type { Database } from "../database/database.ts";
import { Speech } from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import { newId } from "../std/ids.ts";
import { createLog } from "../std/log.ts";
import {
  addAccount,
  addClientKey,
  base64url,
  newKeyPair,
  refusal,
  signJwt,
  type TestClientKey,
} from "../../test/auth-fixture.ts";
import { createAuthenticator, type Authenticator } from "./authenticate.ts";

const publicUrl = "https://hlust.example";
/** Now, in seconds: the clock of these tests stands still. */
const now = 1_800_000_000;

let database: Database;
let authenticator: Authenticator;
let accountId: string;
let rsa: TestClientKey;
let ec: TestClientKey;
let ed: TestClientKey;
/** Of another account. */
let foreign: TestClientKey;

before(async () => {
  database = await openTestDatabase();
  const { db } = database;
  const log = createLog("silent");
  authenticator = createAuthenticator({
    db,
    publicUrl: () => publicUrl,
    now: () => now * 1000,
    log,
  });
  accountId = await addAccount(db);
  rsa = await addClientKey(db, accountId, "RS256");
  ec = await addClientKey(db, accountId, "ES256");
  ed = await addClientKey(db, accountId, "EdDSA");
  foreign = await addClientKey(db, await addAccount(db), "ES256");
});
after(() => database[Symbol.asyncDispose]());

const authenticate = (token: string) =>
  authenticator.authenticate(
    {
      headers: new Headers({ authorization: `Bearer ${token}` }),
      url: "/v2beta1/speech:recognize",
    },
    Speech.method.recognize,
  );

interface Changes {
  readonly key?: () => TestClientKey;
  readonly header?: object;
  readonly claims?: object;
  readonly signWith?: () => Parameters<typeof signJwt>[2];
}

/** A token in order but for the changes; undefined takes a member away. */
function token({ key = () => ec, header, claims, signWith }: Changes = {}): string {
  const { id, clientId, privateKey } = key();
  const alg = privateKey.asymmetricKeyType;
  return signJwt(
    {
      alg: alg === "rsa" ? "RS256" : alg === "ec" ? "ES256" : "EdDSA",
      kid: id,
      typ: "JWT",
      ...header,
    },
    { iss: clientId, sub: clientId, aud: publicUrl, iat: now, exp: now + 3600, ...claims },
    signWith?.() ?? privateKey,
  );
}

const publicPem = (key: TestClientKey) =>
  key.publicKey.export({ type: "spki", format: "pem" }).toString();
const withoutSignature = (text: string) => text.replace(/[^.]*$/, "");
const withSignature = (text: string, signature: Buffer) =>
  withoutSignature(text) + signature.toString("base64url");

describe("authenticate() takes a JWT", () => {
  const rows: [string, () => string][] = [
    ["signed by RS256", () => token({ key: () => rsa })],
    ["signed by ES256", () => token({ key: () => ec })],
    ["signed by EdDSA", () => token({ key: () => ed })],
    ["without typ", () => token({ header: { typ: undefined } })],
    [
      "whose aud is a list with the service in it",
      () => token({ claims: { aud: ["https://x", publicUrl] } }),
    ],
    ["whose aud ends in a slash", () => token({ claims: { aud: `${publicUrl}/` } })],
    ["expired within the skew", () => token({ claims: { iat: now - 600, exp: now - 59 } })],
    ["issued ahead within the skew", () => token({ claims: { iat: now + 60, exp: now + 600 } })],
    ["not before now, within the skew", () => token({ claims: { nbf: now + 60 } })],
    ["issued an hour ago", () => token({ claims: { iat: now - 3600, exp: now } })],
    ["with other claims", () => token({ claims: { jti: "1", scope: "account" } })],
    [
      "that points elsewhere for its key",
      () => token({ header: { jku: "https://evil.example/keys" } }),
    ],
  ];
  for (const [name, make] of rows) {
    it(name, async () => {
      const made = make();
      const caller = await authenticate(made);
      assert.equal(caller.accountId, accountId);
      assert.deepEqual([...caller.scopes], ["speech"], "the scopes are the key's");
      assert.deepEqual(await authenticate(made), caller, "the second time as the first");
    });
  }
});

describe("authenticate() refuses a JWT", () => {
  const none = (alg: string) => () => withoutSignature(token({ header: { alg } }));
  const header = (change: object) => () => token({ header: change });
  const claims = (change: object) => () => token({ claims: change });
  const rows: [string, () => string][] = [
    ["of the algorithm none", none("none")],
    ["of the algorithm None", none("None")],
    ["of the algorithm nOnE", none("nOnE")],
    ["of no algorithm", header({ alg: undefined })],
    [
      "signed by HS256 with the public key",
      () => {
        const signWith = () => publicPem(rsa);
        return token({ key: () => rsa, header: { alg: "HS256" }, signWith });
      },
    ],
    ["signed by HS256 with nothing", () => token({ header: { alg: "HS256" }, signWith: () => "" })],
    ["of the algorithm PS256", () => token({ key: () => rsa, header: { alg: "PS256" } })],
    ["of the algorithm RS512", () => token({ key: () => rsa, header: { alg: "RS512" } })],
    [
      "of another key's algorithm",
      () => token({ header: { alg: "EdDSA" }, signWith: () => ed.privateKey }),
    ],
    ["with its signature taken away", () => withoutSignature(token())],
    ["with its signature and dot taken away", () => withoutSignature(token()).slice(0, -1)],
    ["with a signature of zeros", () => withSignature(token(), Buffer.alloc(64))],
    ["with half a signature", () => token().slice(0, -43)],
    [
      "signed by a key that is not registered",
      () => token({ signWith: () => newKeyPair("ES256").privateKey }),
    ],
    ["signed by another account's key", () => token({ signWith: () => foreign.privateKey })],
    ["of another account's kid", () => token({ header: { kid: foreign.id } })],
    ["without kid", header({ kid: undefined })],
    ["with a kid that is a path", header({ kid: "../../dev/null" })],
    ["with a kid that is SQL", header({ kid: "' or true --" })],
    ["with a kid that is a number", header({ kid: 1 })],
    ["with an unknown kid", () => token({ header: { kid: newId() } })],
    [
      "with a key of its own",
      () => {
        const { privateKey, publicKey } = newKeyPair("ES256");
        const jwk = publicKey.export({ format: "jwk" });
        return token({ header: { jwk }, signWith: () => privateKey });
      },
    ],
    ["with crit", header({ crit: ["exp"] })],
    ["with crit that it carries", header({ crit: ["urn:x"], "urn:x": true })],
    ["with an unencoded payload", header({ b64: false, crit: ["b64"] })],
    ["of another type", header({ typ: "at+jwt" })],
    ["of a type that is no text", header({ typ: 1 })],
    ["compressed", () => withoutSignature(token({ header: { zip: "DEF" } })) + "AA"],
    ["for another service", claims({ aud: "https://other.example" })],
    ["for a part of the service's name", claims({ aud: "https://hlust" })],
    ["for nobody", claims({ aud: undefined })],
    ["for an empty list", claims({ aud: [] })],
    ["of another iss", claims({ iss: "someone" })],
    ["without iss", claims({ iss: undefined })],
    ["of another sub", claims({ sub: "someone" })],
    ["without sub", claims({ sub: undefined })],
    ["without exp", claims({ exp: undefined })],
    ["whose exp is text", claims({ exp: String(now + 60) })],
    ["without iat", claims({ iat: undefined })],
    ["whose iat is text", claims({ iat: String(now) })],
    ["that lives a year", claims({ exp: now + 365 * 86_400 })],
    ["that lives a second too long", claims({ exp: now + 3601 })],
    ["that lives too long by an early iat", claims({ iat: now - 3000, exp: now + 3000 })],
    ["expired beyond the skew", claims({ iat: now - 600, exp: now - 60 })],
    ["issued ahead beyond the skew", claims({ iat: now + 61, exp: now + 600 })],
    ["not before a time ahead", claims({ nbf: now + 61 })],
    ["whose claims are a list", () => signJwt({ alg: "ES256", kid: ec.id }, "[]", ec.privateKey)],
    ["whose claims are no JSON", () => signJwt({ alg: "ES256", kid: ec.id }, "{", ec.privateKey)],
    ["of five parts", () => `${token()}.AA.AA`],
    ["of a megabyte", () => token({ claims: { padding: "x".repeat(1_000_000) } })],
    [
      "with changed claims",
      () => {
        const [head, , signature] = token().split(".");
        return `${head}.${base64url(JSON.stringify({ iss: ec.clientId, sub: ec.clientId }))}.${signature}`;
      },
    ],
    ["that is no JWT", () => "abc"],
    ["that is dots", () => ".."],
  ];
  for (const [name, make] of rows) {
    it(name, async () => {
      const { code, reason, message } = await refusal(authenticate(make()));
      assert.deepEqual([code, reason], ["unauthenticated", "TOKEN_INVALID"]);
      assert.equal(
        message,
        (await refusal(authenticate("hlust_x"))).message,
        "one message for all",
      );
    });
  }

  it("once its time is over, also when it was taken before", async () => {
    let ms = now * 1000;
    const { db } = database;
    const log = createLog("silent");
    const parts = { db, publicUrl: () => publicUrl, now: () => ms, log };
    const request = {
      headers: new Headers({ authorization: `Bearer ${token({ claims: { exp: now + 10 } })}` }),
      url: "/",
    };
    const own = createAuthenticator(parts);
    await own.authenticate(request, Speech.method.recognize);
    ms += 69_999;
    await own.authenticate(request, Speech.method.recognize);
    ms += 1;
    await refusal(own.authenticate(request, Speech.method.recognize));
  });
});
