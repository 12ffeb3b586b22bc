import { createHmac, randomBytes } from "node:crypto";
import * as client from "openid-client";
import { ServiceError } from "../std/service-error.ts";
import type { Person } from "./find-member.ts";

/** The provider that members sign in at. */
export interface OpenIdSettings {
  /** Its issuer identifier, as a URL. */
  readonly issuer: string;
  readonly clientId: string;
  /** undefined: the provider takes the client for a public one. */
  readonly clientSecret: string | undefined;
}

/** Signing in with a provider of OpenID Connect: the code flow, with PKCE, state and nonce. */
export interface OpenId {
  /**
   * Where the browser is sent, and what it must bring back with it, in a cookie that only it has.
   */
  begin(redirectUri: string): Promise<{ readonly url: URL; readonly secret: string }>;
  /** Who has come back; `url` is the redirect URI with what the provider has added. */
  finish(url: URL, secret: string): Promise<Person>;
}

/** What a provider says of itself is asked for anew after this. */
const knownMsMax = 3_600_000;
/** A provider that does not answer is given up after this. */
const waitSecondsMax = 10;
const scope = "openid email profile";

/**
 * Nothing is asked of the provider before the first person signs in; one that is away is asked
 * again the next time.
 */
export function createOpenId(config: OpenIdSettings, now: () => number = Date.now): OpenId {
  let known: { readonly at: number; readonly found: Promise<client.Configuration> } | undefined;

  async function provider(): Promise<client.Configuration> {
    if (!known || now() - known.at >= knownMsMax) known = { at: now(), found: discover(config) };
    try {
      return await known.found;
    } catch (error) {
      known = undefined;
      throw new ServiceError("unavailable", "the provider cannot be reached", {
        reason: "PROVIDER_AWAY",
        cause: error,
      });
    }
  }

  return {
    async begin(redirectUri) {
      const secret = randomBytes(32).toString("base64url");
      const { state, nonce, verifier } = checksOf(secret);
      const url = client.buildAuthorizationUrl(await provider(), {
        redirect_uri: redirectUri,
        scope,
        state,
        nonce,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
      });
      return { url, secret };
    },

    async finish(url, secret) {
      const found = await provider();
      const { state, nonce, verifier } = checksOf(secret);
      const answer = await client.authorizationCodeGrant(found, url, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      const claims = answer.claims();
      if (!claims) throw new Error("the provider answered no ID token");
      const { iss: issuer, sub: subject } = claims;
      // Many providers tell the address only when they are asked for it.
      const facts =
        claims["email"] === undefined && found.serverMetadata().userinfo_endpoint !== undefined
          ? await client.fetchUserInfo(found, answer.access_token, subject)
          : claims;
      const { email } = facts;
      return {
        issuer,
        subject,
        email: typeof email === "string" ? email : "",
        emailVerified: facts["email_verified"] === true,
      };
    },
  };
}

async function discover(config: OpenIdSettings): Promise<client.Configuration> {
  const { issuer, clientId, clientSecret } = config;
  const insecure = issuer.startsWith("http:") ? [client.allowInsecureRequests] : [];
  return await client.discovery(
    new URL(issuer),
    clientId,
    undefined,
    clientSecret === undefined ? client.None() : secretAs(clientSecret),
    { execute: [...insecure, client.enableNonRepudiationChecks], timeout: waitSecondsMax },
  );
}

/**
 * In the header, unless the provider takes it only in the body (OpenID Connect Discovery, section
 * 3).
 */
function secretAs(clientSecret: string): client.ClientAuth {
  const [basic, post] = [
    client.ClientSecretBasic(clientSecret),
    client.ClientSecretPost(clientSecret),
  ];
  return (server, ...rest) => {
    const taken = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    (taken.includes("client_secret_basic") ? basic : post)(server, ...rest);
  };
}

/**
 * All three follow from the secret, and it from none of them: nothing is kept here while the
 * browser is away.
 */
function checksOf(secret: string): { state: string; nonce: string; verifier: string } {
  const derive = (name: string) => createHmac("sha256", secret).update(name).digest("base64url");
  return { state: derive("state"), nonce: derive("nonce"), verifier: derive("verifier") };
}
