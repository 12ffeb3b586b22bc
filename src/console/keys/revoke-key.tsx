import { useMutation, useQueryClient } from "@tanstack/react-query";
import { callApi } from "../api/call-api.ts";
import { useSession } from "../api/use-session.ts";
import { useNow } from "../text/use-now.ts";
import { useNotify } from "../parts/announcer.tsx";
import { DangerActions } from "../parts/danger-actions.tsx";
import { DialogBox } from "../parts/dialog-box.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { when } from "../text/dates.ts";
import { keyProblems, keysText } from "../text/keys.ts";
import { useLanguage, useText } from "../text/language.tsx";
import type { Key } from "./key.ts";

/** A dialog that asks for confirmation before a key is revoked. */
export function RevokeKey({
  revoked,
  onClose,
  onRevoked,
}: {
  readonly revoked: Key;
  readonly onClose: () => void;
  readonly onRevoked: () => void;
}) {
  const t = useText();
  const { language } = useLanguage();
  const queries = useQueryClient();
  const notify = useNotify();
  const now = useNow();
  const { actor } = useSession();
  const { name, displayName, label, lastUseTime } = revoked;
  const title = displayName || label;
  const revoke = useMutation({
    mutationFn: () => callApi(`/v1/${name}`, { method: "DELETE" }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ["keys"] });
      notify(t(keysText.revoked)(title), null);
      onRevoked();
    },
  });
  return (
    <DialogBox
      title={t(keysText.revokeTitle)(title)}
      isOpen
      onClose={onClose}
      isLocked={revoke.isPending}
    >
      <p>
        {lastUseTime === undefined
          ? t(keysText.revokeUnused)
          : t(keysText.revokeUsed)(when(language, new Date(lastUseTime), now))}{" "}
        {t(keysText.revokeNext)}
      </p>
      {actor === name && <p className="failed">{t(keysText.revokeOwn)}</p>}
      {revoke.error && <ProblemNote error={revoke.error} own={keyProblems} />}
      <DangerActions
        text={t(keysText.revoke)}
        isPending={revoke.isPending}
        onConfirm={() => revoke.mutate()}
        onClose={onClose}
      />
    </DialogBox>
  );
}
