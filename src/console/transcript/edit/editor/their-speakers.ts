import { Plugin } from "prosemirror-state";
import { mergedSpeakers } from "../model/merged-speakers.ts";
import { type Speakers, speakersOf } from "./schema.ts";

/** The speakers of a text and of a version that others have saved. */
export interface JoinedSpeakers {
  /** Those of the version on which both are based. */
  readonly base: Speakers;
  readonly theirs: Speakers;
  /** Those of the text from now on. */
  readonly merged: Speakers;
}

/**
 * Remembers which changes of speakers others have made, so that undoing one's own does not undo
 * theirs: a step of the history replaces all speakers.
 */
export class TheirSpeakers {
  readonly #joined: JoinedSpeakers[] = [];
  /** How many versions of others are in these speakers. */
  readonly #counts = new WeakMap<Speakers, number>();

  join(joined: JoinedSpeakers): void {
    if (joined.base === joined.theirs) return;
    this.#joined.push(joined);
    this.note(joined.merged);
  }

  /** Notes speakers that are set now. Earlier ones that come back stay as they were noted. */
  note(speakers: Speakers): void {
    if (!this.#counts.has(speakers)) this.#counts.set(speakers, this.#joined.length);
  }

  /** Returns speakers with the changes that others have made after they were set. */
  now(speakers: Speakers): Speakers {
    const missing = this.#joined.slice(this.#counts.get(speakers) ?? 0);
    return missing.reduce<Speakers>(
      (mine, { base, theirs }) => mergedSpeakers({ base, mine, theirs }),
      speakers,
    );
  }
}

/** Keeps the changes that others have made to speakers when an earlier state comes back. */
export function keepSpeakers(theirs: TheirSpeakers): Plugin {
  return new Plugin({
    state: {
      init: (_config, { doc }) => theirs.note(speakersOf(doc)),
      apply: (_tr, _value, _before, { doc }) => theirs.note(speakersOf(doc)),
    },
    appendTransaction(_transactions, before, { doc, tr }) {
      const speakers = speakersOf(doc);
      if (speakers === speakersOf(before.doc)) return null;
      const now = theirs.now(speakers);
      return now === speakers ? null : tr.setDocAttribute("speakers", now);
    },
  });
}
