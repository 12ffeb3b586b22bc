import { useMutation } from "@tanstack/react-query";
import { Link } from "wouter";
import { closeDrafts } from "../api/open-drafts.ts";
import { Button } from "../parts/button.tsx";
import { DialogBox } from "../parts/dialog-box.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { commonText } from "../text/common.ts";
import { useText } from "../text/language.tsx";
import { saveProblems } from "../text/transcript-saving.ts";
import { signOutText } from "../text/sign-out.ts";
import { dropLeftDrafts, keepLeftDrafts } from "../transcript/edit/saving/left-drafts.ts";

/** Asks what becomes of the texts that a user has not saved, before the user signs out. */
export function SignOutDialog({
  owner,
  names,
  isPending,
  onClose,
  onLeave,
}: {
  /** The user (identityOf). */
  readonly owner: string;
  /** The names of the transcripts with unsaved texts. */
  readonly names: readonly string[];
  readonly isPending: boolean;
  readonly onClose: () => void;
  /** Signs out. */
  readonly onLeave: () => void;
}) {
  const t = useText();
  const leave = useMutation({
    mutationFn: async (isKept: boolean) => {
      if (isKept) await keepLeftDrafts(owner);
      closeDrafts();
      if (!isKept) await dropLeftDrafts(owner, names);
    },
    onSuccess: onLeave,
  });
  const isBusy = isPending || leave.isPending;
  return (
    <DialogBox title={t(signOutText.title)} isOpen onClose={onClose}>
      <p>{t(signOutText.question)(names.length)}</p>
      <ul>
        {names.map((name, at) => (
          <li key={name}>
            <Link to={`/${name}`} onClick={onClose}>
              {t(signOutText.open)(at + 1)}
            </Link>
          </li>
        ))}
      </ul>
      <p>{t(signOutText.choice)}</p>
      {leave.error && <ProblemNote error={leave.error} own={saveProblems} />}
      <div className="dialog-actions">
        <Button onPress={onClose}>{t(commonText.cancel)}</Button>
        <Button look="danger" isDisabled={isBusy} onPress={() => leave.mutate(false)}>
          {t(signOutText.discard)}
        </Button>
        <Button look="primary" isPending={isBusy} onPress={() => leave.mutate(true)}>
          {t(signOutText.keep)}
        </Button>
      </div>
    </DialogBox>
  );
}
