import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Activity, lazy, Suspense, useEffect, useLayoutEffect, useState } from "react";
import { setExpectedUser, whenSessionChanged } from "./api/call-api.ts";
import { identityOf, isSignedIn, sessionQuery, type Session } from "./api/session.ts";
import { Frame } from "./frame/frame.tsx";
import { Waiting } from "./frame/waiting.tsx";
import { ProblemNote } from "./parts/problem-note.tsx";
import { useLink } from "./sign-in/link.ts";
import { commonText } from "./text/common.ts";
import { useText } from "./text/language.tsx";

const SignInPage = lazy(async () => {
  const { SignInPage } = await import("./sign-in/sign-in-page.tsx");
  return { default: SignInPage };
});

/**
 * The console: the sign-in page, or the pages of the signed-in user. When a session ends, its pages
 * are only hidden, so that typed text is still there when the same user signs in again.
 */
export function Console() {
  const t = useText();
  const queries = useQueryClient();
  const link = useLink();
  const session = useQuery({ ...sessionQuery, enabled: !link.isEntering });
  const [last, setLast] = useState<Session>();
  useEffect(() => {
    whenSessionChanged(() => void queries.invalidateQueries({ queryKey: sessionQuery.queryKey }));
  }, [queries]);
  const { data } = session;
  const isIn = data !== undefined && isSignedIn(data);
  if (isIn && data !== last) setLast(data);
  const shown = isIn ? data : last;
  const owner = shown && identityOf(shown);
  // This is a layout effect, because it has to run before any page makes a call.
  useLayoutEffect(() => setExpectedUser(owner), [owner]);
  if (!data) {
    return (
      <Waiting>
        {session.error && !link.isEntering ? (
          <ProblemNote error={session.error} onRetry={() => void session.refetch()} />
        ) : (
          t(commonText.loading)
        )}
      </Waiting>
    );
  }
  return (
    <>
      {shown && (
        <Activity mode={isIn ? "visible" : "hidden"}>
          <Frame key={owner} session={shown} link={link} />
        </Activity>
      )}
      {!isIn && (
        <Suspense fallback={<Waiting>{t(commonText.loading)}</Waiting>}>
          <SignInPage {...data} link={link} hasEnded={last !== undefined} />
        </Suspense>
      )}
    </>
  );
}
