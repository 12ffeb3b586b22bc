import { ApiError } from "../api/api-error.ts";
import { isSignedIn, readSession, signIn, type Session } from "../api/session.ts";

/**
 * Signs in, and checks that the browser has stored the cookie. Throws ApiError with a reason of
 * signIn(), with LINK_REFUSED for a link that is used or expired, or with COOKIE_NOT_KEPT.
 */
export async function enter(by: Parameters<typeof signIn>[0]): Promise<Session> {
  try {
    await signIn(by);
  } catch (error) {
    const isRefused = error instanceof ApiError && error.reason === "SIGN_IN_REFUSED";
    if (!isRefused || "apiKey" in by) throw error;
    throw new ApiError("the link is refused", { status: error.status, reason: "LINK_REFUSED" });
  }
  const session = await readSession();
  if (isSignedIn(session)) return session;
  throw new ApiError("the browser has not kept the cookie", {
    status: 401,
    reason: "COOKIE_NOT_KEPT",
  });
}
