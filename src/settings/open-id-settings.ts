import type { OpenIdSettings } from "../auth/open-id.ts";
import { isLoopbackHost } from "../std/loopback.ts";
import { ConfigError, httpUrl, ifSet, type ReadSetting, type Setting } from "../std/setting.ts";

/** The settings of OpenID Connect. */
export const openIdSettings = {
  issuer: {
    name: "HLUST_OIDC_ISSUER",
    meaning: "Issuer URL of the OpenID Connect provider with which members sign in to the console",
    fallback: "sign-in with API keys only",
    parse: ifSet(issuerUrl),
  },
  clientId: {
    name: "HLUST_OIDC_CLIENT_ID",
    meaning:
      "Client id of the service at the provider; its redirect URI is HLUST_PUBLIC_URL with /console/sign-in/callback",
    fallback: "none",
    parse: (text) => text,
  },
  clientSecret: {
    name: "HLUST_OIDC_CLIENT_SECRET",
    meaning: "Secret of the client",
    fallback: "none: a public client",
    secret: true,
    parse: (text) => text,
  },
} satisfies Record<string, Setting<string | undefined>>;

/**
 * Reads the settings as a whole. Returns undefined if there is no provider. Invalid settings are
 * added to `problems`.
 */
export function readOpenId(read: ReadSetting, problems: string[]): OpenIdSettings | undefined {
  const issuer = read(openIdSettings.issuer);
  const clientId = read(openIdSettings.clientId);
  const clientSecret = read(openIdSettings.clientSecret);
  if ((issuer === undefined) !== (clientId === undefined)) {
    const [one, other] = [openIdSettings.issuer.name, openIdSettings.clientId.name];
    problems.push(`${one} and ${other} must be set together`);
  } else if (issuer === undefined && clientSecret !== undefined) {
    problems.push(
      `${openIdSettings.clientSecret.name} is set, but ${openIdSettings.issuer.name} is not`,
    );
  }
  if (issuer === undefined || clientId === undefined) return undefined;
  return { issuer, clientId, clientSecret };
}

/** Returns the URL unchanged, since every character of the URL identifies the provider. */
function issuerUrl(text: string, name: string): string {
  const { protocol, hostname } = new URL(httpUrl(text, name));
  if (protocol === "http:" && !isLoopbackHost(hostname)) {
    throw new ConfigError(`${name} must be a URL with https://, not ${JSON.stringify(text)}`);
  }
  return text;
}
