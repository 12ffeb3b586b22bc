import type { EngineWord, Hypothesis } from "../engines/protocol/engine.ts";
import type { Recognition } from "../engines/protocol/recognizer.ts";
import { spreadWords } from "../engines/protocol/spread-words.ts";
import { LiveWriter } from "../writing/live-writer.ts";
import type { WritingOptions, WrittenWord } from "../writing/write-words.ts";

/** A word of a result, as it is written. */
export interface ResultWord extends EngineWord {
  /** The spoken words that it stands for, if they differ by more than capitals and marks. */
  readonly spoken?: string;
}

export interface WrittenHypothesis extends Hypothesis {
  readonly words: readonly ResultWord[];
}

export interface WrittenRecognition extends Recognition {
  readonly alternatives: readonly WrittenHypothesis[];
}

/** Writes the results of one call, in order, as its configuration requests. */
export class ResultWriter {
  readonly #writer: LiveWriter;
  readonly #isOff: boolean;
  /** The end of the last final result. */
  #endMs = 0;

  constructor(options: WritingOptions) {
    this.#writer = new LiveWriter(options);
    this.#isOff = !options.formats && !options.punctuation && !options.masksProfanity;
  }

  /** Returns a result with its texts and words written; alternatives stay distinct. */
  write(recognition: Recognition): WrittenRecognition {
    const { isFinal, audioEndMs } = recognition;
    const span = { startMs: this.#endMs, endMs: Math.max(this.#endMs, audioEndMs) };
    const [recognized, ...others] = recognition.alternatives;
    if (!recognized) return recognition;
    if (isFinal) this.#endMs = span.endMs;
    const best = withTimes(recognized, span);
    if (this.#isOff) return { ...recognition, alternatives: [best, ...others] };
    const alternatives = others.map((each) =>
      written(each, (words) => this.#writer.alternative(words)),
    );
    const first = written(best, (words) =>
      isFinal ? this.#writer.final(words) : this.#writer.interim(words),
    );
    const all = [first, ...alternatives];
    const distinct = all.filter(
      ({ text }, index) => all.findIndex((other) => other.text === text) === index,
    );
    return { ...recognition, alternatives: distinct };
  }
}

/** Returns a reading whose words have times, if only estimated ones. */
function withTimes(hypothesis: Hypothesis, span: Parameters<typeof spreadWords>[1]): Hypothesis {
  const { text, words } = hypothesis;
  return words.length > 0 ? hypothesis : { ...hypothesis, words: spreadWords(text, span) };
}

function written(
  hypothesis: Hypothesis,
  write: (words: readonly EngineWord[]) => readonly WrittenWord[],
): WrittenHypothesis {
  const { text, words } = hypothesis;
  const isTimed = words.map((word) => word.text).join(" ") === text;
  const untimed = () => text.split(" ").map((each) => ({ text: each, startMs: 0, endMs: 0 }));
  const found = write(isTimed ? words : untimed());
  return {
    ...hypothesis,
    text: found.map((word) => word.text).join(" "),
    words: isTimed ? found.map(resultWord) : words,
  };
}

function resultWord(written: WrittenWord): ResultWord {
  const { text, startMs, endMs, confidence, spokenForm, estimatedTimes } = written;
  return {
    text,
    startMs,
    endMs,
    ...(confidence !== undefined && { confidence }),
    ...(spokenForm !== undefined && { spoken: spokenForm }),
    ...(estimatedTimes && { estimatedTimes }),
  };
}
