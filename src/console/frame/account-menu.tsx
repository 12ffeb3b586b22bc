import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "wouter";
import { sessionQuery, signOut, switchAccount, type Session } from "../api/session.ts";
import { Button } from "../parts/button.tsx";
import { Choice } from "../parts/choice.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { commonText } from "../text/common.ts";
import { useText } from "../text/language.tsx";

/**
 * The account menu: the name of the account, a choice among the user's other accounts, and the
 * sign-out button.
 */
export function AccountMenu({ session }: { readonly session: Session }) {
  const t = useText();
  const queries = useQueryClient();
  const leave = useMutation({
    mutationFn: signOut,
    // A new page is loaded, so that no data of the old account stays in memory.
    onSuccess: () => location.assign("/console/"),
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
      <Button look="quiet" onPress={() => leave.mutate()} isPending={leave.isPending}>
        {t(commonText.signOut)}
      </Button>
      {(leave.error ?? change.error) && <ProblemNote error={leave.error ?? change.error} />}
    </div>
  );
}
