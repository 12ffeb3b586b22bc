import { useState } from "react";
import { Button } from "../../../parts/button.tsx";
import { findingText as texts } from "../../../text/edit-finding.ts";
import { useText } from "../../../text/language.tsx";
import { clockText } from "../../../text/numbers.ts";
import type { Playback } from "../../playback.ts";
import type { Editor } from "../editor/editor.ts";
import { type Hit, sentenceOf } from "./hits.ts";
import type { Find } from "./use-find.ts";

/** How many hits are listed at first, and how many more each time. */
const listedAtOnce = 50;
/** How long before a hit its sound begins, in seconds. */
const leadSeconds = 1;

/** Lists the hits, each with its sentence, its sound, and a tick. */
export function FindHits({
  editor,
  playback,
  find,
}: {
  readonly editor: Editor;
  readonly playback: Playback | undefined;
  readonly find: Find;
}) {
  const t = useText();
  const [listed, setListed] = useState(listedAtOnce);
  const { hits, ticked } = find;
  if (hits.length === 0) return null;
  const tickedKeys = new Set(ticked.map(({ key }) => key));
  return (
    <ul className="find-hits" aria-label={t(texts.hits)}>
      {hits.slice(0, listed).map((hit, at) => (
        <HitRow
          key={`${hit.index} ${hit.from}`}
          hit={hit}
          seconds={editor.places.timeAt(editor.state.doc, {
            paragraph: hit.index,
            offset: hit.from,
          })}
          isShown={at === find.at}
          isTicked={tickedKeys.has(hit.key)}
          find={find}
          playback={playback}
        />
      ))}
      {hits.length > listed && (
        <li>
          <Button look="quiet" onPress={() => setListed(listed + listedAtOnce)}>
            {t(texts.more)}
          </Button>
        </li>
      )}
    </ul>
  );
}

function HitRow({
  hit,
  seconds,
  isShown,
  isTicked,
  find,
  playback,
}: {
  readonly hit: Hit;
  readonly seconds: number;
  readonly isShown: boolean;
  readonly isTicked: boolean;
  readonly find: Find;
  readonly playback: Playback | undefined;
}) {
  const t = useText();
  const time = clockText(seconds);
  const [before, found, after] = sentenceOf(hit);
  return (
    <li className="find-row">
      <input
        type="checkbox"
        aria-label={t(texts.tick)(time)}
        checked={isTicked}
        onChange={({ target }) => find.tick(hit, target.checked)}
      />
      <button
        type="button"
        className="find-hit"
        aria-current={isShown ? "true" : undefined}
        onClick={() => find.show(hit)}
      >
        {before}
        <mark>{found}</mark>
        {after}
      </button>
      {playback && (
        <Button
          look="quiet"
          aria-label={t(texts.play)(time)}
          onPress={() => {
            playback.seek(Math.max(0, seconds - leadSeconds));
            playback.play();
          }}
        >
          {time}
        </Button>
      )}
    </li>
  );
}
