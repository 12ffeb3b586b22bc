import { createHmac, randomBytes } from "node:crypto";
import * as client from "openid-client";
import { ServiceError } from "../std/service-error.ts";
import type { Person } from "./find-member.ts";

/** The provider with which members sign in. */
export interface OpenIdSettings {
  /** The issuer identifier of the provider, as a URL. */
  readonly issuer: string;
  readonly clientId: string;
  /** The client secret; undefined for a public client. */
  readonly clientSecret: string | undefined;
}

/**
 * Signs people in with an OpenID Connect provider: the authorization code flow, with PKCE, state
 * and nonce.
 */
export interface OpenId {
  /**
   * Returns the URL to send the browser to, and the secret that the browser must bring back in a
   * cookie.
   */
  begin(redirectUri: string): Promise<{ readonly url: URL; readonly secret: string }>;
  /**
   * Returns the person who came back. `url` is the redirect URI with the parameters that the
   * provider has added.
   */
  finish(url: URL, secret: string): Promise<Person>;
}

/** How long the provider's metadata is used before it is fetched again. */
const knownMsMax = 3_600_000;
/** How long to wait for the provider. */
const waitSecondsMax = 10;
const scope = "openid email profile";

/**
 * Creates the sign-in with the provider. The provider is not contacted before the first person
 * signs in; if it is unavailable, it is contacted again at the next sign-in.
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
      if (!claims) throw new Error("the provider sent no ID token");
      const { iss: issuer, sub: subject } = claims;
      // Many providers return the address only at their userinfo endpoint.
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
 * Sends the secret in the header, unless the provider accepts it only in the body (OpenID Connect
 * Discovery, section 3).
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
 * Derives all three values from the secret, which cannot be derived from them. Nothing is stored
 * here while the browser is at the provider.
 */
function checksOf(secret: string): { state: string; nonce: string; verifier: string } {
  const derive = (name: string) => createHmac("sha256", secret).update(name).digest("base64url");
  return { state: derive("state"), nonce: derive("nonce"), verifier: derive("verifier") };
}
