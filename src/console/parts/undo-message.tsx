import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { currentIdentity } from "../api/session.ts";
import { commonText } from "../text/common.ts";
import { useText } from "../text/language.tsx";
import { problemOf } from "../text/problems.ts";
import { Button } from "./button.tsx";
import { SaidDetail } from "./said-text.tsx";

/** How long an action can be undone, while the message has neither pointer nor keyboard focus. */
const undoSeconds = 15;

/**
 * A message about what was done, with buttons that take it back and close the message. It closes
 * itself after a while, and when someone else is signed in.
 */
export function UndoMessage({
  text,
  undo,
  notify,
  onClose,
}: {
  readonly text: string;
  readonly undo: () => Promise<unknown>;
  readonly notify: (text: string) => void;
  readonly onClose: () => void;
}) {
  const t = useText();
  const queries = useQueryClient();
  const [owner] = useState(() => currentIdentity(queries));
  const note = useRef<HTMLElement>(null);
  const close = () => {
    // The focus would be lost with the button that has it.
    if (note.current?.contains(document.activeElement)) {
      document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true });
    }
    onClose();
  };
  const back = useMutation({
    mutationFn: undo,
    onSuccess: () => {
      close();
      notify(t(commonText.undone));
    },
  });
  const isSame = () => currentIdentity(queries) === owner;
  const tick = useEffectEvent((left: number): number => {
    const isUsed = note.current?.matches(":hover") || note.current?.querySelector(":focus-visible");
    if (isSame() && (isUsed || back.isPending)) return undoSeconds;
    if (!isSame() || left === 0) close();
    return left - 1;
  });
  useEffect(() => {
    let left = undoSeconds;
    const timer = setInterval(() => (left = tick(left)), 1_000);
    return () => clearInterval(timer);
  }, []);
  const problem = back.error && problemOf(back.error);
  return (
    <section className="toast undoable" ref={note} aria-label={t(commonText.undo)}>
      <p dir="auto">{text}</p>
      {problem && (
        <p role="alert">
          {t(problem.sentence)} {t(problem.next)}
          <SaidDetail detail={problem.detail} />
        </p>
      )}
      <div className="toast-actions">
        <Button isPending={back.isPending} onPress={() => (isSame() ? back.mutate() : onClose())}>
          {t(commonText.undo)}
        </Button>
        <Button onPress={close}>{t(commonText.close)}</Button>
      </div>
    </section>
  );
}
