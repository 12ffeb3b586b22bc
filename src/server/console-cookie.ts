/**
 * The cookie of a browser that is signed in to the console. Browsers store a cookie with this
 * prefix only from https or from this machine (localhost, 127.0.0.1), for one host and all of its
 * paths: no neighboring host can set one.
 */
const sessionCookie = "__Host-hlust";
/**
 * The cookie during the sign-in at the provider; Lax, because the browser comes back from another
 * site.
 */
const signInCookie = "__Host-hlust-sign-in";
const signInSecondsMax = 600;

/**
 * The secret of the session; undefined without a cookie, or with several, since it would be unclear
 * which one counts.
 */
export function sessionCookieOf(header: string | undefined): string | undefined {
  return cookieOf(header, sessionCookie);
}

export function setSessionCookie(secret: string, expiresAt: Date): string {
  return `${sessionCookie}=${secret}; Path=/; Expires=${expiresAt.toUTCString()}; Secure; HttpOnly; SameSite=Strict`;
}

export const clearSessionCookie = `${sessionCookie}=; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=Strict`;

/** The data of a sign-in that a browser brings back from the provider. */
export interface AwaySignIn {
  readonly secret: string;
  /** The path of the console that is opened afterwards. */
  readonly to: string;
  /**
   * The secret of its session before the sign-in, since a Strict cookie is not sent from another
   * site. "" without a session.
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
