import { Fragment } from "react";
import { useSession } from "../api/use-session.ts";
import { commandsText } from "../text/commands.ts";
import { useText } from "../text/language.tsx";
import { pagesFor } from "./page-list.ts";

/** The keys that work on every page, and what they do. */
export function PageKeyList() {
  const t = useText();
  const { scopes } = useSession();
  const keys = [
    { keys: ["Ctrl K", "⌘ K"], text: t(commandsText.palette) },
    { keys: ["/"], text: t(commandsText.search) },
    ...(scopes.includes("transcripts.write")
      ? [{ keys: ["N"], text: t(commandsText.create) }]
      : []),
    ...pagesFor(scopes).flatMap(({ letter, text }) =>
      letter === undefined ? [] : [{ keys: [`G ${letter.toUpperCase()}`], text: t(text) }],
    ),
    { keys: ["?"], text: t(commandsText.shortcuts) },
  ];
  return (
    <dl className="shortcut-sheet">
      {keys.map(({ keys, text }) => (
        <div key={keys[0]}>
          <dt>
            {keys.map((key) => (
              <Fragment key={key}>
                <kbd>{key}</kbd>{" "}
              </Fragment>
            ))}
          </dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  );
}
