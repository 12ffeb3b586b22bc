import { useState } from "react";
import { useLanguage, useText } from "../../../text/language.tsx";
import { clockText, numberText } from "../../../text/numbers.ts";
import { asideDialogText } from "../../../text/aside-dialogs.ts";
import { excerptOf, type Hunk, type HunkPart } from "./hunks.ts";

/** The number of words of a part that are shown at first. */
const wordsMax = 150;

/**
 * A place that changed. Removed words are struck out, added words are underlined, and moved words
 * have their old and new times.
 */
export function ChangedPlace({ hunk: { at, parts } }: { readonly hunk: Hunk }) {
  return (
    <li className="changed-place" data-place tabIndex={-1}>
      <span className="figures quiet">{at === undefined ? "" : clockText(at)}</span>
      <p>
        {parts.map((part, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- their order never changes
          <Part key={index} part={part} />
        ))}
      </p>
    </li>
  );
}

function Part({ part }: { readonly part: HunkPart }) {
  const { kind, moved } = part;
  switch (kind) {
    case "kept":
      return <span>{part.text}</span>;
    case "added":
      return <Excerpt part={part} as="ins" />;
    case "removed":
      return <Excerpt part={part} as="del" />;
    case "retimed":
      return (
        <>
          <Excerpt part={part} as="span" />
          {moved && <Moved from={moved.from} to={moved.to} />}
        </>
      );
    default:
      return kind satisfies never;
  }
}

/** A text that may be as long as the transcript. At first, only its beginning is shown. */
function Excerpt({
  part,
  as: Tag,
}: {
  readonly part: HunkPart;
  readonly as: "ins" | "del" | "span";
}) {
  const t = useText();
  const [isWhole, setIsWhole] = useState(false);
  const excerpt = isWhole ? undefined : excerptOf(part.text, wordsMax);
  // The space after the last word is not part of the change.
  const text = excerpt ?? part.text.trimEnd();
  return (
    <>
      <Tag className={part.kind}>{text}</Tag>
      {excerpt !== undefined && (
        <button type="button" className="changed-place-more" onClick={() => setIsWhole(true)}>
          {t(asideDialogText.wholeText)(part.count)}
        </button>
      )}{" "}
    </>
  );
}

function Moved({ from, to }: { readonly from: number; readonly to: number }) {
  const { language } = useLanguage();
  return (
    <span className="moved figures">
      {numberText(language, from, 2)} → {numberText(language, to, 2)} s{" "}
    </span>
  );
}
