import { useMutation, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { Link, useLocation } from "wouter";
import { stopStoring } from "../api/unsaved-work.ts";
import { identityOf, sessionQuery, signOut, switchAccount, type Session } from "../api/session.ts";
import { Button } from "../parts/button.tsx";
import { Choice } from "../parts/choice.tsx";
import { loadChunk, reportLoadProblem } from "../parts/load-problems.ts";
import { ProblemNote } from "../parts/problem-note.tsx";
import { commonText } from "../text/common.ts";
import { useText } from "../text/language.tsx";
import type { Unsaved } from "./find-unsaved.ts";

const SignOutDialog = lazy(async () => {
  const { SignOutDialog } = await import("./sign-out-dialog.tsx");
  return { default: SignOutDialog };
});

/**
 * The account menu: the name of the account, a choice among the user's other accounts, and the
 * sign-out button.
 */
export function AccountMenu({ session }: { readonly session: Session }) {
  const t = useText();
  const [here] = useLocation();
  const queries = useQueryClient();
  const leave = useMutation({
    mutationFn: async () => {
      const goOn = stopStoring();
      try {
        return await signOut();
      } catch (error) {
        goOn();
        throw error;
      }
    },
    // A new page is loaded, so that no data of the old account stays in memory.
    onSuccess: leavePage,
  });
  const owner = identityOf(session);
  const [asked, setAsked] = useState<Unsaved>();
  const check = useMutation({
    mutationFn: async () => {
      const { findUnsaved } = await loadChunk(() => import("./find-unsaved.ts"));
      return await findUnsaved(owner);
    },
    onSuccess: (found) => (found ? setAsked(found) : leave.mutate()),
    onError: () => {
      const takeBack = reportLoadProblem(() => {
        takeBack();
        check.mutate();
      });
    },
  });
  const change = useMutation({
    mutationFn: switchAccount,
    onSuccess: (next) => queries.setQueryData(sessionQuery.queryKey, next),
  });
  const { account, accounts, displayName } = session;
  return (
    <div className="account-menu">
      {accounts.length > 1 ? (
        <Choice
          label={t(commonText.account)}
          isLabelSeen={false}
          value={account.name}
          options={accounts.map(({ name, displayName: text }) => ({ value: name, text }))}
          onChange={change.mutate}
          isDisabled={change.isPending}
        />
      ) : (
        <span className="account-name">{account.displayName}</span>
      )}
      <Link to="/account" aria-current={here === "/account" ? "page" : undefined}>
        {displayName} <span className="account-word">· {t(commonText.account)}</span>
      </Link>
      <Button
        look="quiet"
        onPress={() => check.mutate()}
        isPending={check.isPending || leave.isPending}
      >
        {t(commonText.signOut)}
      </Button>
      {asked && (
        <Suspense>
          <SignOutDialog
            owner={owner}
            unsaved={asked}
            isPending={leave.isPending}
            onClose={() => {
              setAsked(undefined);
              focusEditedText();
            }}
            onLeave={leave.mutate}
          />
        </Suspense>
      )}
      {(leave.error ?? change.error) && <ProblemNote error={leave.error ?? change.error} />}
    </div>
  );
}

/**
 * Lets someone who was asked about unsaved changes go on typing where the caret is. Otherwise the
 * button would have the focus.
 */
function focusEditedText(): void {
  // A dialog holds the focus until it is gone.
  requestAnimationFrame(() => {
    const text = document.querySelector<HTMLElement>("[data-region=text][contenteditable=true]");
    text?.focus({ preventScroll: true });
  });
}

/** Loads the page again, without the browser's question about unsaved changes. */
function leavePage(): void {
  addEventListener("beforeunload", (event) => event.stopImmediatePropagation(), { capture: true });
  location.assign("/console/");
}
