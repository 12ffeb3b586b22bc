/**
 * The cookie of a browser that is signed in to the console. Browsers store a cookie with this
 * prefix only from https or from this machine (localhost, 127.0.0.1), for one host and all of its
 * paths. No neighboring host can set it.
 */
const sessionCookie = "__Host-hlust";
/**
 * The cookie used during sign-in at the provider. The cookie is Lax, because the browser comes back
 * from another site.
 */
const signInCookie = "__Host-hlust-sign-in";
const signInSecondsMax = 600;

/**
 * Returns the secret of the session. Returns undefined if there is no cookie, or if there are
 * several, because it would be unclear which one counts.
 */
export function sessionCookieOf(header: string | undefined): string | undefined {
  return cookieOf(header, sessionCookie);
}

export function setSessionCookie(secret: string, expiresAt: Date): string {
  return `${sessionCookie}=${secret}; Path=/; Expires=${expiresAt.toUTCString()}; Secure; HttpOnly; SameSite=Strict`;
}

export const clearSessionCookie = `${sessionCookie}=; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=Strict`;

/** The data for a sign-in that a browser brings back from the provider. */
export interface AwaySignIn {
  readonly secret: string;
  /** The console path that is opened after the sign-in. */
  readonly to: string;
  /**
   * The secret of the browser's session before the sign-in, because a Strict cookie is not sent
   * from another site. "" if there was no session.
   */
  readonly before: string;
}

export function signInCookieOf(header: string | undefined): AwaySignIn | undefined {
  const [, secret = "", to = "", before = ""] =
    /^([\w-]{43})\.([\w-]*)\.([\w-]*)$/.exec(cookieOf(header, signInCookie) ?? "") ?? [];
  if (secret === "") return undefined;
  return { secret, to: Buffer.from(to, "base64url").toString(), before };
}

export function setSignInCookie({ secret, to, before }: AwaySignIn): string {
  const value = `${secret}.${Buffer.from(to).toString("base64url")}.${before}`;
  return `${signInCookie}=${value}; Path=/; Max-Age=${signInSecondsMax}; Secure; HttpOnly; SameSite=Lax`;
}

export const clearSignInCookie = `${signInCookie}=; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=Lax`;

function cookieOf(header: string | undefined, name: string): string | undefined {
  const values = (header ?? "").split(";").flatMap((pair) => {
    const at = pair.indexOf("=");
    return at !== -1 && pair.slice(0, at).trim() === name ? [pair.slice(at + 1).trim()] : [];
  });
  return values.length === 1 && values[0] !== "" ? values[0] : undefined;
}
