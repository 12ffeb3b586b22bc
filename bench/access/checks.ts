// Measures the CPU time of only the check, in this process. The time of all threads counts, because
// signatures are not checked on the main thread.
import { sign, verify } from "node:crypto";
import { createAuthenticator, type Authenticator } from "../../src/auth/authenticate.ts";
import { createRefusedAttempts } from "../../src/auth/refused-attempts.ts";
import { Transcripts } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { createLog } from "../../src/std/log.ts";
import {
  addAccount,
  addApiKey,
  addClientKey,
  signJwt,
  type TestClientKey,
} from "../../test/fixtures/auth-fixture.ts";
import { cpuMs } from "../../test/fixtures/cpu-time.ts";
import { openTestDatabase } from "../../test/fixtures/open-test-database.ts";
import { testOrigin } from "../../test/fixtures/test-caller.ts";
import type { Figure } from "./figure.ts";

const rounds = 8;
const callsARound = 5_000;
const tokensARound = 400;
const publicUrl = "https://hlust.example";

/** Measures the CPU time in us of checking the key or JWT of a call: the best of eight rounds. */
export async function measureChecks(): Promise<Figure[]> {
  await using database = await openTestDatabase();
  const { db } = database;
  const accountId = await addAccount(db);
  const authenticator = createAuthenticator({
    db,
    publicUrl: () => publicUrl,
    attempts: createRefusedAttempts(() => 60),
    log: createLog("error"),
  });
  const { token } = await addApiKey(db, accountId, ["transcripts.read"]);
  const figures = [
    figure("API key", 30, await bestOf(() => timesOf(authenticator, repeated(token))), ""),
  ];
  for (const algorithm of ["RS256", "ES256", "EdDSA"] as const) {
    const key = await addClientKey(db, accountId, algorithm, ["transcripts.read"]);
    const fresh = () => Array.from({ length: tokensARound }, () => jwtOf(key, algorithm));
    const first = await bestOf(() => timesOf(authenticator, fresh()));
    const signature = Math.min(...Array.from({ length: rounds }, () => verifyTimes(key)));
    const note = `${(first / signature).toFixed(2)} of the signature alone, ${signature.toFixed(0)} us`;
    figures.push(figure(`JWT, ${algorithm}, first time`, 300, first, note));
    const again = await bestOf(() => timesOf(authenticator, repeated(jwtOf(key, algorithm))));
    figures.push(figure(`JWT, ${algorithm}, again`, 30, again, ""));
  }
  return figures;
}

function figure(name: string, max: number, value: number, note: string): Figure {
  return { name, max, value, unit: "us", note };
}

async function bestOf(measure: () => Promise<number>): Promise<number> {
  let best = Infinity;
  for (let round = 0; round < rounds; round += 1) best = Math.min(best, await measure());
  return best;
}

const repeated = (token: string) => Array.from({ length: callsARound }, () => token);

/**
 * Returns the CPU time in us of a check, including the creation of the call facts that it needs.
 */
async function timesOf(authenticator: Authenticator, tokens: readonly string[]): Promise<number> {
  const began = cpuMs();
  for (const token of tokens) {
    const headers = new Map([["authorization", `Bearer ${token}`]]);
    const facts = {
      headers: { get: (name: string) => headers.get(name) ?? null },
      url: "/v1alpha1/transcripts",
      origin: testOrigin,
    };
    await authenticator.authenticate(facts, Transcripts.method.listTranscripts);
  }
  return ((cpuMs() - began) * 1000) / tokens.length;
}

/**
 * Returns the CPU time in us of verifying only a signature, with Node's own crypto, on this thread.
 */
function verifyTimes({ privateKey, publicKey }: TestClientKey): number {
  const digest = privateKey.asymmetricKeyType === "ed25519" ? undefined : "sha256";
  const signed = Array.from({ length: tokensARound }, (_, at) => {
    const text = Buffer.from(`${at}`.padEnd(300));
    return { text, signature: sign(digest, text, privateKey) };
  });
  const began = cpuMs();
  for (const { text, signature } of signed) {
    if (!verify(digest, text, publicKey, signature)) throw new Error("a signature is not valid");
  }
  return ((cpuMs() - began) * 1000) / signed.length;
}

let made = 0;

function jwtOf({ id, clientId, privateKey }: TestClientKey, alg: string): string {
  made += 1;
  const iat = Math.floor(Date.now() / 1000);
  const claims = { iss: clientId, sub: clientId, aud: publicUrl, iat, exp: iat + 600 };
  return signJwt({ alg, kid: id, typ: "JWT" }, { ...claims, jti: `${made}` }, privateKey);
}
