import { useMutation, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { Link } from "wouter";
import { openDrafts } from "../api/open-drafts.ts";
import { stopStoring, unsavedIds } from "../api/unsaved-work.ts";
import { draftNamesHere } from "../transcript/edit/saving/draft-database.ts";
import { identityOf, sessionQuery, signOut, switchAccount, type Session } from "../api/session.ts";
import { storedRecordings } from "../live/recording-store.ts";
import { Button } from "../parts/button.tsx";
import { Choice } from "../parts/choice.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { commonText } from "../text/common.ts";
import { useText } from "../text/language.tsx";
import type { Unsaved } from "./sign-out-dialog.tsx";

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
    mutationFn: () => findUnsaved(owner),
    onSuccess: (found) => (found ? setAsked(found) : leave.mutate()),
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
      <Link to="/account">{displayName}</Link>
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
            onClose={() => setAsked(undefined)}
            onLeave={leave.mutate}
          />
        </Suspense>
      )}
      {(leave.error ?? change.error) && <ProblemNote error={leave.error ?? change.error} />}
    </div>
  );
}

/** Returns what signing out would end, or undefined if there is nothing. */
async function findUnsaved(owner: string): Promise<Unsaved | undefined> {
  const edited = openDrafts(owner).map(({ name }) => name);
  const drafts = [...new Set([...edited, ...(await draftNamesHere(owner))])];
  const stored = await storedRecordings(owner).catch(() => []);
  const open = await unsavedIds(owner, "recording");
  const recordings = new Set([...stored.map(({ id }) => id), ...open]).size;
  const uploads = (await unsavedIds(owner, "upload")).length;
  const isAny = drafts.length + recordings + uploads > 0;
  return isAny ? { drafts, recordings, uploads } : undefined;
}

/** Loads the page again, without the browser's question about unsaved changes. */
function leavePage(): void {
  addEventListener("beforeunload", (event) => event.stopImmediatePropagation(), { capture: true });
  location.assign("/console/");
}
