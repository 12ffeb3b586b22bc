import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useLocation } from "wouter";
import { settingsQuery } from "../api/console-settings.ts";
import { isOnIn, useSingleKeys } from "../api/use-single-keys.ts";
import { useSession } from "../api/use-session.ts";
import { Button } from "../parts/button.tsx";
import { loadLater } from "../parts/load-later.tsx";
import { areSingleKeysOn, isPlain, isUsedByTarget } from "../parts/single-keys.ts";
import { commonText } from "../text/common.ts";
import { useText } from "../text/language.tsx";
import { useUploads } from "../upload/uploads.tsx";
import { focusOnArrival } from "./page-focus.ts";
import { isPageLetter, letterOf, type PageCommand, pageLetters } from "./page-letters.ts";
import { mayOpen } from "./page-scopes.ts";

const Palette = loadLater(() => import("../commands/palette.tsx").then(({ Palette }) => Palette));
const ShortcutList = loadLater(() =>
  import("../commands/shortcut-list.tsx").then(({ ShortcutList }) => ShortcutList),
);

const singleKeys: Readonly<Record<string, PageCommand>> = { "/": "search", "?": "shortcuts" };

/**
 * The keys of every page, with the button that opens the command palette. Keys that the page itself
 * uses belong to the page, and single keys do nothing while a field or a text has the focus.
 */
export function PageKeys() {
  const t = useText();
  const [open, setOpen] = useState<"palette" | "shortcuts">();
  const single = useSingleKeys();
  const run = usePageCommands(setOpen);
  useKeys(run);
  const close = (): void => setOpen(undefined);
  return (
    <>
      <Button look="quiet" aria-keyshortcuts="Control+K" onPress={() => setOpen("palette")}>
        {t(commonText.commands)} <kbd aria-hidden="true">{isMac() ? "⌘ K" : "Ctrl K"}</kbd>
      </Button>
      {open === "palette" && <Palette onRun={run} onClose={close} />}
      {open === "shortcuts" && <ShortcutList single={single} onClose={close} />}
    </>
  );
}

function isMac(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.platform);
}

/** Returns a function that runs a command, or opens the page at a path. */
function usePageCommands(
  setOpen: (open: "palette" | "shortcuts") => void,
): (command: PageCommand) => void {
  const [here, goTo] = useLocation();
  const { scopes } = useSession();
  const { change } = useUploads();
  return (command) => {
    switch (command) {
      case "palette":
      case "shortcuts":
        return setOpen(command);
      case "new":
        if (!scopes.includes("transcripts.write")) return;
        change({ isOpen: true });
        return goTo("/jobs");
      case "search":
        focusOnArrival("main input[type=search]", here === "/transcripts");
        return goTo("/transcripts");
      case "/docs":
        // It is not a page of the console.
        return location.assign(command);
      default:
        if (mayOpen(command, scopes)) goTo(command);
    }
  };
}

/** Runs the commands of keys. */
function useKeys(run: (command: PageCommand) => void): void {
  const queries = useQueryClient();
  const latest = useRef(run);
  useEffect(() => {
    latest.current = run;
  });
  useEffect(() => {
    /** Whether G was pressed last. */
    let isGoing = false;
    const stopGoing = (): void => {
      isGoing = false;
    };
    const runSingle = (command: PageCommand): void => {
      if (queries.getQueryData(settingsQuery.queryKey)) {
        latest.current(command);
        return;
      }
      // The user may have turned single keys off in another browser.
      void queries
        .ensureQueryData(settingsQuery)
        .then(isOnIn, areSingleKeysOn)
        .then((isOn) => isOn && latest.current(command));
    };
    const onKey = (event: KeyboardEvent): void => {
      const command = event.defaultPrevented ? undefined : commandOf(event);
      if (command === undefined) return;
      event.preventDefault();
      if (command === "palette") latest.current(command);
      else if (command === "go") isGoing = true;
      else runSingle(command);
    };
    const onCapture = (event: KeyboardEvent): void => {
      if (isGoing && event.key !== "Shift") {
        isGoing = false;
        const letter = letterOf(event);
        if (isPlain(event) && isPageLetter(letter) && !isUsedByTarget(event)) {
          event.preventDefault();
          event.stopPropagation();
          runSingle(pageLetters[letter]);
          return;
        }
      }
      // Added last each time, so that the page's own keys come first.
      removeEventListener("keydown", onKey);
      addEventListener("keydown", onKey, { once: true });
    };
    addEventListener("keydown", onCapture, { capture: true });
    addEventListener("pointerdown", stopGoing);
    addEventListener("blur", stopGoing);
    return () => {
      removeEventListener("keydown", onCapture, { capture: true });
      removeEventListener("keydown", onKey);
      removeEventListener("pointerdown", stopGoing);
      removeEventListener("blur", stopGoing);
    };
  }, [queries]);
}

/**
 * Returns the command of a key; "go" waits for the letter of a page. Dialogs have their own keys.
 */
function commandOf(event: KeyboardEvent): PageCommand | "go" | undefined {
  const command = event.repeat ? undefined : keyCommandOf(event);
  // Searching a long text for a dialog takes more than a millisecond, so most keys do not.
  if (command === undefined || document.querySelector("[role=dialog], [role=alertdialog]")) {
    return undefined;
  }
  return command;
}

function keyCommandOf(event: KeyboardEvent): PageCommand | "go" | undefined {
  const { ctrlKey, metaKey, altKey, shiftKey } = event;
  const isCommand = isMac() ? metaKey && !ctrlKey : ctrlKey && !metaKey;
  if (isCommand && !altKey && !shiftKey && letterOf(event) === "k") return "palette";
  if (!isPlain(event) || isUsedByTarget(event) || !areSingleKeysOn()) return undefined;
  const letter = letterOf(event);
  if (letter === "g") return "go";
  return letter === "n" ? "new" : singleKeys[event.key];
}
